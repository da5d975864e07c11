"""The store port over one SQLite file. Each method is a line: which noun's function, and whether it reads or writes."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from aiosqlite import Connection

from nightcrew.core.command import SettledCommand
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Edge
from nightcrew.core.model.board import Card
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.reaction import ReactionKey
from nightcrew.core.model.route import Route
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Beside, Change, Draft, Effect, InternalChange, Validator
from nightcrew.store import card as cards_
from nightcrew.store import command as commands
from nightcrew.store import cooldown as cooldowns
from nightcrew.store import effect as effects
from nightcrew.store import event as events
from nightcrew.store import history, unknown
from nightcrew.store import internal as internals
from nightcrew.store import memory as memories
from nightcrew.store import notice as notices
from nightcrew.store import reaction as reactions
from nightcrew.store import route as routes
from nightcrew.store import run as runs
from nightcrew.store import task as tasks
from nightcrew.store import validator as validators_
from nightcrew.store import value as values
from nightcrew.store import verdict as verdicts
from nightcrew.store.build import BuildRows
from nightcrew.store.database import LOCK_TIMEOUT_S, connection_for_writing
from nightcrew.store.migrate import check, upgrade
from nightcrew.store.migration import Migration
from nightcrew.store.reaction_table import ReactionTables
from nightcrew.store.reader import reading
from nightcrew.store.saying_table import SayingTable
from nightcrew.store.sqlite_inquiry import SqliteInquiries
from nightcrew.store.sqlite_job import SqliteJobs
from nightcrew.store.writer import writing


class SqliteStore(ReactionTables, BuildRows, SayingTable, SqliteJobs, SqliteInquiries):
    """Implements `nightcrew.ports.store.Store`; what is said there of a method holds here. Open it with `open` or
    `open_read_only`."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
        migrations: Sequence[Migration] | None = None,
    ) -> AsyncIterator["SqliteStore"]:
        """The store for as long as the body runs. Makes the database if there is none and upgrades an older one,
        after a backup. At the end, writes that were begun or queued are finished before it closes.

        Raises what `migrate.upgrade` raises. Only one process may have a home's store open for writing; keeping that
        is the service's business, and SQLite's locks keep the rows whole even so.
        """
        await asyncio.to_thread(upgrade, path, now=clock.now(), migrations=migrations, lock_timeout_s=lock_timeout_s)
        async with (
            connection_for_writing(path, lock_timeout_s=lock_timeout_s) as connection,
            reading(path, lock_timeout_s=lock_timeout_s) as reader,
            writing(connection, path=path) as writer,
        ):
            yield cls(path, reader=reader, writer=writer)

    @classmethod
    @asynccontextmanager
    async def open_read_only(
        cls,
        path: Path,
        *,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
        migrations: Sequence[Migration] | None = None,
    ) -> AsyncIterator["SqliteStore"]:
        """The store for reading, whether or not the service runs. Makes and changes no table and no row (SQLite may
        leave its empty side files). Missing if there is no database, ConfigError if its schema is older or newer
        than this program; methods that write raise Denied."""
        await asyncio.to_thread(check, path, migrations=migrations, lock_timeout_s=lock_timeout_s)
        async with reading(path, lock_timeout_s=lock_timeout_s) as reader:
            yield cls(path, reader=reader, writer=None)

    # tasks

    async def load_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[Task, ...]:
        """Tasks that are done while `moving_to` is still set are given without `include_done` too: their labels are
        unfinished work."""
        return await self._read(lambda db: tasks.load_tasks(db, project=project, include_done=include_done))

    async def find_task(self, key: TaskKey) -> Task | None:
        return await self._read(lambda db: tasks.find_task(db, key))

    async def record_task(self, task: Task, *, event: Event) -> bool:
        return await self._write(lambda db: tasks.record_task(db, task, event=event))

    async def record_internal(self, project: str, draft: Draft, *, beside: Beside | None = None) -> TaskKey:
        return await self._write(lambda db: internals.record_internal(db, project, draft, beside=beside))

    async def change_internal(
        self, key: TaskKey, change: InternalChange, *, event: Event | None = None
    ) -> InternalTask:
        return await self._write(lambda db: internals.change_internal(db, key, change, event=event))

    async def find_internal(self, key: TaskKey) -> InternalTask | None:
        return await self._read(lambda db: internals.find_internal(db, key))

    async def load_internals(self) -> Mapping[TaskKey, InternalTask]:
        return await self._read(internals.load_internals)

    async def update_task(self, key: TaskKey, change: Change, *, event: Event | None = None) -> Task:
        """`updated_at` becomes the latest of what is stored, what `change` says and `event.at`: it never goes back."""
        return await self._write(lambda db: tasks.update_task(db, key, change, event=event))

    async def change_status(
        self,
        key: TaskKey,
        edge: Edge,
        *,
        event: Event,
        change: Change | None = None,
        labels_follow: bool = True,
        command: SettledCommand | None = None,
        sent: tuple[ReactionKey, ...] = (),
        notice: Notice | None = None,
    ) -> None:
        """Missing if there is no such task; Bug if the table of transitions has no such edge. Without
        `labels_follow`, `moving_to` is cleared: a person's labels are right already."""

        async def body(db: Connection) -> None:
            for reaction in sent:
                reset_at = (await tasks.get_task(db, key)).reset_at
                await reactions.record_sent(db, key, reaction, at=event.at, reset_at=reset_at)
            await tasks.change_status(
                db, key, edge, event=event, change=change, labels_follow=labels_follow, command=command
            )
            if notice is not None:
                await notices.record_notice(db, notice)

        await self._write(body)

    async def settle_status(self, key: TaskKey) -> None:
        await self._write(lambda db: tasks.settle_status(db, key))

    # cards

    async def save_cards(self, cards: Sequence[Card], *, happened: Sequence[Event] = ()) -> None:
        async def body(db: Connection) -> None:
            for card in cards:
                await tasks.get_task(db, card.task)
            await cards_.save_cards(db, cards)
            for event in happened:
                await events.record_event(db, event)

        await self._write(body)

    async def load_cards(self) -> tuple[Card, ...]:
        return await self._read(cards_.load_cards)

    # commands

    async def record_command(self, command: SettledCommand, *, event: Event) -> None:
        await self._write(lambda db: commands.record_command(db, command, event=event))

    async def load_commands(self, *, limit: int = 5000) -> tuple[SettledCommand, ...]:
        return await self._read(lambda db: commands.load_commands(db, limit=limit))

    # runs

    async def record_run(self, run: Run, *, event: Event) -> bool:
        return await self._write(lambda db: runs.record_run(db, run, event=event))

    async def save_run(self, run: Run, *, event: Event | None = None, notice: Notice | None = None) -> None:
        """Missing if there is no such run; Conflict if it has ended and `run` says that it is open."""

        async def body(db: Connection) -> None:
            await runs.save_run(db, run, event=event)
            if notice is not None:
                await notices.record_notice(db, notice)

        await self._write(body)

    async def load_memories(self, *, project: str | None = None, limit: int = 500) -> tuple[Memory, ...]:
        return await self._read(lambda db: memories.load_memories(db, project=project, limit=limit))

    async def forget_memory(self, run: RunId) -> None:
        await self._write(lambda db: memories.forget_memory(db, run))

    async def find_run(self, run: RunId) -> Run | None:
        return await self._read(lambda db: runs.find_run(db, run))

    async def load_runs(
        self, *, task: TaskKey | None = None, open_only: bool = False, limit: int = 1000
    ) -> tuple[Run, ...]:
        return await self._read(lambda db: runs.load_runs(db, task=task, open_only=open_only, limit=limit))

    async def cut_history(self, *, before: datetime, only_count: bool = False) -> int:
        if only_count:
            return await self._read(lambda db: history.count_history(db, before=before))
        return await self._write(lambda db: history.cut_history(db, before=before))

    async def count_runs(self) -> Mapping[tuple[str, str, str], int]:
        return await self._read(runs.count_runs)

    # routes and verdicts

    async def record_route(self, key: TaskKey, route: Route, *, at: datetime) -> None:
        """Also makes it the task's `route`; Missing if there is no such task."""
        await self._write(lambda db: routes.record_route(db, key, route, at=at))

    async def record_verdict(self, verdict: Verdict, *, event: Event) -> bool:
        return await self._write(lambda db: verdicts.record_verdict(db, verdict, event=event))

    async def mark_verdict_posted(self, run: RunId, *, head_sha: Sha, review_id: int, event: Event) -> None:
        await self._write(
            lambda db: verdicts.mark_verdict_posted(db, run, head_sha=head_sha, review_id=review_id, event=event)
        )

    async def retarget_verdict(self, run: RunId, *, head_sha: Sha, base_ref: str, event: Event) -> None:
        await self._write(
            lambda db: verdicts.retarget_verdict(db, run, head_sha=head_sha, base_ref=base_ref, event=event)
        )

    async def load_verdicts(self, *, task: TaskKey | None = None) -> tuple[Verdict, ...]:
        return await self._read(lambda db: verdicts.load_verdicts(db, task=task))

    async def load_review_ids(self, key: TaskKey) -> frozenset[int]:
        return await self._read(lambda db: verdicts.load_review_ids(db, key))

    # cooldowns

    async def load_cooldowns(self) -> tuple[Cooldown, ...]:
        return await self._read(cooldowns.load_cooldowns)

    async def save_cooldown(
        self, cooldown: Cooldown, *, event: Event | None = None, notice: Notice | None = None
    ) -> None:
        await self._write(lambda db: cooldowns.save_cooldown(db, cooldown, event=event, notice=notice))

    async def clear_cooldowns(
        self, *, agent: str, model: str | None, event: Event, kind: FailureKind | None = None
    ) -> int:
        return await self._write(
            lambda db: cooldowns.clear_cooldowns(db, agent=agent, model=model, event=event, kind=kind)
        )

    async def record_unknown_failure(self, failure: UnknownFailure) -> None:
        await self._write(lambda db: unknown.record_unknown_failure(db, failure))

    async def load_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        return await self._read(unknown.load_unknown_failures)

    # events and the journal

    async def record_event(self, event: Event) -> int:
        return await self._write(lambda db: events.record_event(db, event))

    async def load_events(
        self, *, task: TaskKey | None = None, after: int = 0, limit: int = 500, newest: bool = False
    ) -> tuple[Event, ...]:
        """Oldest first, also with `newest`, which takes the last `limit` instead of the first."""
        return await self._read(lambda db: events.load_events(db, task=task, after=after, limit=limit, newest=newest))

    async def record_intent(
        self, *, key: str, kind: str, task: TaskKey | None, run: RunId | None, detail: str, at: datetime
    ) -> int:
        return await self._write(
            lambda db: effects.record_intent(db, key=key, kind=kind, task=task, run=run, detail=detail, at=at)
        )

    async def settle_effect(self, effect: int, *, state: str, detail: str, at: datetime) -> None:
        await self._write(lambda db: effects.settle_effect(db, effect, state=state, detail=detail, at=at))

    async def load_effects(self, *, open_only: bool = False, task: TaskKey | None = None) -> tuple[Effect, ...]:
        return await self._read(lambda db: effects.load_effects(db, open_only=open_only, task=task))

    async def load_lost_effects(self, *kinds: str) -> Mapping[TaskKey, datetime]:
        return await self._read(lambda db: effects.load_lost_effects(db, kinds))

    # values and validators

    async def find_value(self, name: str) -> str | None:
        return await self._read(lambda db: values.find_value(db, name))

    async def save_value(self, name: str, value: str) -> None:
        await self._write(lambda db: values.save_value(db, name, value))

    async def load_values(self, prefix: str) -> Mapping[str, str]:
        return await self._read(lambda db: values.load_values(db, prefix))

    async def find_validator(self, *, url: str, principal: str) -> Validator | None:
        row = await self._read(lambda db: validators_.find_row(db, url=url, principal=principal))
        return None if row is None else await asyncio.to_thread(validators_.unpack, row)

    async def save_validators(self, validators: Sequence[Validator]) -> None:
        packed = await asyncio.to_thread(validators_.pack, validators)
        await self._write(lambda db: validators_.save_validators(db, packed))
