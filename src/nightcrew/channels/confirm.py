"""Orders that wait for a person's second word, in memory: after a restart they are asked for again."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightcrew.core.chat.order import Order

CONFIRM_FOR = timedelta(minutes=5)
_MOST = 500


@dataclass(frozen=True, slots=True)
class Pending:
    order: Order
    person: str
    place: str
    until_at: datetime


@dataclass(slots=True)
class Confirmations:
    """What waits, by a token that only its buttons know."""

    _pending: dict[str, Pending] = field(default_factory=dict)

    def ask(self, token: str, order: Order, *, person: str, place: str, now: datetime) -> None:
        """Keep an order until its person confirms it."""
        self._pending = {key: kept for key, kept in self._pending.items() if kept.until_at > now}
        while len(self._pending) >= _MOST:
            self._pending.pop(next(iter(self._pending)))
        self._pending[token] = Pending(order, person, place, now + CONFIRM_FOR)

    def take(self, token: str, *, person: str, place: str, now: datetime) -> Order | None:
        """The order, once, for the person who gave it, where it was given; None if it is too late or not theirs."""
        kept = self._pending.get(token)
        if kept is None or kept.person != person or kept.place != place:
            return None
        del self._pending[token]
        return kept.order if kept.until_at > now else None
