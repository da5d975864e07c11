"""Orders that wait for a person's second word. They are kept, so that a restart in between forgets none; each is taken
away before it is carried out, so that none is carried out twice."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightcrew.core.chat.order import Order, Verb
from nightcrew.ports.note import Note

CONFIRM_FOR = timedelta(minutes=5)
MOST = 100
"""How many may wait in one chat service; the oldest give way."""


@dataclass(frozen=True, slots=True)
class Pending:
    """`place` is a place as text. `is_asked`: its person gave it, and was asked whether they are sure; it was only
    offered to them else."""

    order: Order
    person: str
    place: str
    until_at: datetime
    is_asked: bool = True

    def may_be_taken(self, *, person: str, place: str) -> bool:
        return self.person == person and self.place == place


@dataclass(slots=True)
class Confirmations:
    """What waits, by a token that only its buttons know. The note is all there is of it, and nobody else writes it."""

    note: Note
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, token: str, pending: Pending, *, now: datetime) -> None:
        """Keep an order until its person confirms it. Raises what the note raises."""
        async with self._lock:
            waiting = _fresh(parse_pending(await self.note.load()), now)
            kept = dict(list(waiting.items())[-(MOST - 1) :]) | {token: pending}
            await self.note.save(render_pending(kept))

    async def take(self, token: str, *, person: str, place: str, now: datetime) -> Pending | None:
        """The order, once, for the person who gave it, where it was given; None if it is too late or not theirs. It
        waits no more when this returns. Raises what the note raises, and then it is not to be carried out."""
        async with self._lock:
            waiting = parse_pending(await self.note.load())
            kept = _fresh(waiting, now)
            found = kept.get(token)
            if found is not None and found.may_be_taken(person=person, place=place):
                del kept[token]
            else:
                found = None
            if len(kept) < len(waiting):
                await self.note.save(render_pending(kept))
            return found


def _fresh(waiting: dict[str, Pending], now: datetime) -> dict[str, Pending]:
    """Without those that are late, or would wait longer than they were given since the clock was set back."""
    longest = 2 * CONFIRM_FOR
    return {token: kept for token, kept in waiting.items() if now < kept.until_at <= now + longest}


def render_pending(waiting: dict[str, Pending]) -> str:
    """The text of the note, oldest first."""
    return json.dumps(
        {
            token: {
                "verb": pending.order.verb.value,
                "words": pending.order.words,
                "person": pending.person,
                "place": pending.place,
                "until_at": pending.until_at.isoformat(),
                "is_asked": pending.is_asked,
            }
            for token, pending in waiting.items()
        }
    )


def parse_pending(text: str) -> dict[str, Pending]:
    """What a note says. Of what another version wrote, and this one does not understand, nothing waits: it is asked
    for again."""
    try:
        return {
            token: Pending(
                Order(Verb(row["verb"]), row["words"]),
                row["person"],
                row["place"],
                datetime.fromisoformat(row["until_at"]),
                row["is_asked"],
            )
            for token, row in json.loads(text or "{}").items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
