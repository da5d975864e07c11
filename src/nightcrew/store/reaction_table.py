"""The part of the store port that is about reactions: what was sent, what ran again, what people are to be told.

Mixed into the store, which says how it reads and writes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.reaction import Reaction, ReactionKey
from nightcrew.core.model.rerun import Flake, Rerun, RerunState
from nightcrew.store import event as events
from nightcrew.store import notice as notices
from nightcrew.store import reaction as reactions
from nightcrew.store import rerun as reruns
from nightcrew.store import task as tasks
from nightcrew.store.connected import Connected


class ReactionTables(Connected):
    """What is said in `nightcrew.ports.store.Store` of a method holds here."""

    # reactions

    async def note_reaction(
        self, task: TaskKey, key: ReactionKey, *, is_told: bool, event: Event, notice: Notice | None = None
    ) -> None:
        async def body(db: Connection) -> None:
            await tasks.get_task(db, task)
            await reactions.note_reaction(db, task, key, at=event.at, is_told=is_told)
            await events.record_event(db, event)
            if notice is not None:
                await notices.record_notice(db, notice)

        await self._write(body)

    async def load_reactions(self) -> Mapping[TaskKey, tuple[Reaction, ...]]:
        return await self._read(reactions.load_reactions)

    async def record_delivery(self, task: TaskKey, run: RunId, things: tuple[str, ...], *, at: datetime) -> bool:
        return await self._write(lambda db: reactions.record_delivery(db, task, run, things, at=at))

    async def record_answer(self, task: TaskKey, run: RunId, thing: str, *, event: Event) -> None:
        async def body(db: Connection) -> None:
            await reactions.record_thing(db, task, run, thing, at=event.at)
            await events.record_event(db, event)

        await self._write(body)

    async def load_deliveries(self) -> Mapping[TaskKey, frozenset[str]]:
        return await self._read(reactions.load_deliveries)

    # re-runs of checks

    async def record_reruns(self, task: TaskKey, rows: Sequence[Rerun], *, event: Event) -> None:
        async def body(db: Connection) -> None:
            await tasks.get_task(db, task)
            await reruns.record_reruns(db, task, rows)
            await events.record_event(db, event)

        await self._write(body)

    async def settle_reruns(
        self, task: TaskKey, rows: Sequence[Rerun], *, state: RerunState, why: str, event: Event
    ) -> None:
        async def body(db: Connection) -> None:
            await reruns.settle_reruns(db, task, rows, state=state, why=why, at=event.at)
            await events.record_event(db, event)

        await self._write(body)

    async def load_reruns(self) -> Mapping[TaskKey, tuple[Rerun, ...]]:
        return await self._read(reruns.load_reruns)

    async def load_flakes(self, *, project: str | None = None, limit: int = 200) -> tuple[Flake, ...]:
        return await self._read(lambda db: reruns.load_flakes(db, project=project, limit=limit))

    # notices

    async def record_notice(self, notice: Notice, *, event: Event | None = None) -> bool:
        async def body(db: Connection) -> bool:
            is_new = await notices.record_notice(db, notice)
            if is_new and event is not None:
                await events.record_event(db, event)
            return is_new

        return await self._write(body)

    async def has_notice(self, mark: str) -> bool:
        return await self._read(lambda db: notices.has_notice(db, mark))

    async def load_notices(
        self, *, undelivered_to: str | None = None, after: int = 0, limit: int = 200, newest: bool = False
    ) -> tuple[Notice, ...]:
        return await self._read(
            lambda db: notices.load_notices(
                db, receiver=undelivered_to, after=after, limit=max(limit, 0), newest=newest
            )
        )

    async def load_addressed(self) -> frozenset[str]:
        return await self._read(notices.load_addressed)

    async def record_notices_delivered(self, ids: Sequence[int], *, receiver: str, at: datetime) -> None:
        await self._write(lambda db: notices.record_notices_delivered(db, ids, receiver=receiver, at=at))
