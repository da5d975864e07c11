"""The one writer: a task that owns the writing connection and runs transactions one after another, each whole.

A caller never awaits the connection, only the answer to what it queued. So a caller that is cancelled between two
statements cannot leave a transaction open for the next one to fall into: what has begun is finished, and what has
not begun when its caller goes away is not begun. A transaction is an async function because aiosqlite gives its
thread one statement at a time; nothing but statements of that one connection may be awaited in it.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from aiosqlite import Connection

from nightcrew.core.errors import Invalid, Unavailable
from nightcrew.store.error import translate
from nightcrew.store.statement import ask

T = TypeVar("T")

Body = Callable[[Connection], Awaitable[T]]
"""The statements of one transaction. What it raises undoes it."""


@dataclass(frozen=True, slots=True)
class _Job:
    body: Body[Any]
    answer: asyncio.Future[Any]


class Writer:
    """Hands transactions to the task that runs them. Made by `writing`."""

    def __init__(self, connection: Connection, *, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._is_open = True
        self.writes = 0
        """How many transactions were committed that changed something."""

    async def transact(self, body: Body[T]) -> T:
        """Run `body` as one transaction that holds the write lock from its first statement, and return its answer.

        It is committed when this returns. Cancelled before its turn, it does not run; cancelled later, it runs to
        its end all the same. Raises what `body` raises, after undoing it, and Unavailable for a locked or full disk.
        """
        if not self._is_open:
            raise Unavailable(f"{self._path} is closed")
        job = _Job(body, asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        answer: T = await job.answer
        return answer

    def stop(self) -> None:
        """Take no more; what is queued is still run."""
        if self._is_open:
            self._is_open = False
            self._jobs.put_nowait(None)

    async def run(self) -> None:
        """Run what is queued until `stop`. Cancelled, it leaves at once; closing the connection undoes what is open."""
        try:
            while (job := await self._jobs.get()) is not None:
                if not job.answer.done():
                    await self._run_one(job)
        finally:
            self._is_open = False
            while not self._jobs.empty():
                left = self._jobs.get_nowait()
                if left is not None:
                    left.answer.cancel()

    async def _run_one(self, job: _Job) -> None:
        try:
            answer = await self._transact(job.body)
        except asyncio.CancelledError:
            job.answer.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to the caller, who gets every error as its own
            if not job.answer.done():
                job.answer.set_exception(self._explain(error))
        else:
            if not job.answer.done():
                job.answer.set_result(answer)

    async def _transact(self, body: Body[T]) -> T:
        # IMMEDIATE: a transaction that reads first and writes later could otherwise find that another writer came
        # between, and SQLite refuses that at once, without waiting for the busy timeout.
        await ask(self._connection, "BEGIN IMMEDIATE")
        changes = self._connection.total_changes
        try:
            answer = await body(self._connection)
            await ask(self._connection, "COMMIT")
        except Exception:
            # A full disk or a broken one may have undone the transaction already.
            if self._connection.in_transaction:
                await ask(self._connection, "ROLLBACK")
            raise
        # Only after the commit: whoever saw the count before and reads the old rows will find that it has moved.
        self.writes += self._connection.total_changes != changes
        return answer

    def _explain(self, error: Exception) -> Exception:
        if isinstance(error, sqlite3.Error):
            explained = translate(error, path=self._path)
        elif isinstance(error, OverflowError):
            explained = Invalid("a number too large to be kept (64 bits)")
        else:
            return error
        explained.__cause__ = error
        return explained


@asynccontextmanager
async def writing(connection: Connection, *, path: Path) -> AsyncIterator[Writer]:
    """A writer for as long as the body runs; at its end everything queued is finished first.

    An error of the body passes through as it is, not wrapped in a group as a TaskGroup around the body would do.
    """
    writer = Writer(connection, path=path)
    group = asyncio.TaskGroup()
    await group.__aenter__()
    group.create_task(writer.run())
    try:
        yield writer
    finally:
        writer.stop()
        await group.__aexit__(None, None, None)
