"""Bringing notices to those who are to be told. Each receiver has a task of its own, so that one that cannot be reached
holds up no other, and nothing of the engine. What it could not bring stays in the store, and is brought later.

A notice counts as delivered once its receiver has taken it. Where that is not known it is told again, and says so: one
that is told twice is better than one that never arrived.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo

from nightcrew.core.chat.message import Message, Span
from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, PortError, Unavailable
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.target import Target
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.telling import plan_telling, render_notice, render_together
from nightcrew.engine.bus import Bus
from nightcrew.engine.subscription import BEGUN
from nightcrew.ports.clock import Clock
from nightcrew.ports.notifier import Notifier
from nightcrew.ports.store import Store

TELL_WITHIN_S = 60.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 900.0
DENIED_PAUSE_S = 3600.0
LOOK_EVERY_S = 1.0
MOST_PENDING = 500
STALE_AFTER = timedelta(hours=1)
"""What is not urgent and waited so long for its receiver is not told one by one any more."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """One receiver with the way to it. Two that are equal are the same."""

    target: Target
    notifier: Notifier = field(compare=False)
    zone: tzinfo
    mark: str = ""
    """What of the way to it is in force: with another mark it is another receiver."""


@dataclass(slots=True)
class Courier:
    """`wanted` gives the receivers of the moment by name; `report` is told in words what keeps one from being told."""

    store: Store
    clock: Clock
    bus: Bus
    wanted: Callable[[], Mapping[str, Receiver]]
    report: Callable[[str], None]
    first_pause_s: float = FIRST_PAUSE_S
    problems: dict[str, str] = field(default_factory=dict)
    _rounds: dict[str, tuple[Receiver, asyncio.Task[None]]] = field(default_factory=dict)

    async def run(self) -> None:
        """Keep one round for each receiver, until cancelled."""
        self._rounds.clear()  # those of a run before have ended with it
        async with asyncio.TaskGroup() as group:
            while True:
                wanted = self.wanted()
                for name, (receiver, task) in list(self._rounds.items()):
                    if wanted.get(name) != receiver:
                        task.cancel()
                        del self._rounds[name]
                        self.problems.pop(name, None)
                for name, receiver in wanted.items():
                    if name not in self._rounds:
                        task = group.create_task(self._round(receiver), name=f"courier:{name}")
                        self._rounds[name] = (receiver, task)
                await asyncio.sleep(LOOK_EVERY_S)

    async def _round(self, receiver: Receiver) -> None:
        name, pause_s = receiver.target.name, self.first_pause_s
        after = await self._begun(name)
        again: set[int] = set()
        while True:
            news = self.bus.news
            pending = await self.store.load_notices(undelivered_to=name, after=after, limit=MOST_PENDING)
            now = self.clock.now().astimezone(receiver.zone)
            plan = plan_telling(pending, receiver.target, now=now)
            await self._delivered(plan.skip, name)
            try:
                if plan.together or self._is_stale(plan.single, now):
                    await self._tell(receiver, plan.together or plan.single, again)
                else:
                    for notice in plan.single:
                        await self._tell(receiver, (notice,), again)
            except Unavailable as error:
                pause_s = await self._rest(name, error, pause_s, named=error.retry_at)
            except OutcomeUnknown as error:
                pause_s = await self._rest(name, error, pause_s)
            except Denied as error:
                await self._rest(name, error, DENIED_PAUSE_S)
            else:
                pause_s = self.first_pause_s
                if self.problems.pop(name, None) is not None:
                    self.report(f"{name} is told again")
                if len(pending) < MOST_PENDING or not (plan.skip or plan.single or plan.together):
                    await self._wait(news, plan.until)

    async def _tell(self, receiver: Receiver, notices: Sequence[Notice], again: set[int]) -> None:
        """Tell, and note that. What the receiver does not take for what it is, is reported and left."""
        name = receiver.target.name
        message = render_notice(notices[0]) if len(notices) == 1 else render_together(notices)
        ids = {notice.id for notice in notices}
        if ids & again:
            message = _marked(message)
        try:
            async with asyncio.timeout(TELL_WITHIN_S):
                await receiver.notifier.tell(message, notices)
        except Invalid as error:
            self.report(f"{name} did not take a notice, which is left: {error}")
        except TimeoutError:
            again |= ids
            raise OutcomeUnknown("it did not answer in time") from None
        except (Unavailable, Denied):
            raise
        except OutcomeUnknown:
            again |= ids
            raise
        except Exception as error:  # whatever one way does, the others are told
            again |= ids
            raise OutcomeUnknown(f"{type(error).__name__}: {one_line(str(error), 200)}") from error
        again -= ids
        await self._delivered(notices, name)

    async def _delivered(self, notices: Sequence[Notice], name: str) -> None:
        if notices:
            ids = [notice.id for notice in notices]
            await self.store.record_notices_delivered(ids, receiver=name, at=self.clock.now())

    async def _begun(self, name: str) -> int:
        """The newest notice that there was when this receiver was new: it is not told of what was before."""
        kept = await self.store.find_value(BEGUN + name)
        if kept:
            return int(kept)
        newest = await self.store.load_notices(limit=1, newest=True)
        first = newest[-1].id if newest else 0
        await self.store.save_value(BEGUN + name, str(first))
        return first

    async def _rest(self, name: str, error: PortError, pause_s: float, *, named: datetime | None = None) -> float:
        """Wait before the next try; the pause to come after that."""
        if self.problems.get(name) != str(error):
            self.problems[name] = str(error)
            self.report(f"{name} cannot be told: {error}")
        asked_s = 0.0 if named is None else (named - self.clock.now()).total_seconds()
        await asyncio.sleep(max(pause_s, asked_s) if named is None else max(asked_s, 0.1))
        return min(pause_s * 2, LONGEST_PAUSE_S)

    async def _wait(self, news: asyncio.Event, until: datetime | None) -> None:
        """Until there may be more, or what waits is due."""
        pause_s = None if until is None else max((until - self.clock.now()).total_seconds(), 0.0)
        try:
            async with asyncio.timeout(min(pause_s, 60.0) if pause_s is not None else None):
                await news.wait()
        except TimeoutError:
            return

    def _is_stale(self, notices: Sequence[Notice], now: datetime) -> bool:
        late = [one for one in notices if one.priority is not Priority.URGENT and now - one.at > STALE_AFTER]
        return len(notices) > 1 and bool(late)


def _marked(message: Message) -> Message:
    return replace(message, spans=(Span("(perhaps told before) "), *message.spans))
