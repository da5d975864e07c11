"""The part of the SQLite store that keeps jobs. Each method is a line, as in `sqlite`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from aiosqlite import Connection

from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRecord, JobRun
from nightcrew.ports.job_store import DraftTask
from nightcrew.store import job as jobs

T = TypeVar("T")


class SqliteJobs(ABC):
    """Implements `nightcrew.ports.job_store.JobStore`."""

    @abstractmethod
    async def _read(self, question: Callable[[Connection], Awaitable[T]]) -> T: ...

    @abstractmethod
    async def _write(self, body: Callable[[Connection], Awaitable[T]]) -> T: ...

    async def note_job(self, project: str, name: str, *, mark: str, at: datetime) -> None:
        await self._write(lambda db: jobs.note_job(db, project, name, mark=mark, at=at))

    async def switch_job(self, project: str, name: str, *, enabled: bool, event: Event) -> None:
        await self._write(lambda db: jobs.switch_job(db, project, name, enabled=enabled, event=event))

    async def load_job_records(self) -> tuple[JobRecord, ...]:
        return await self._read(jobs.load_job_records)

    async def record_job_run(self, run: JobRun, *, event: Event, draft: DraftTask | None = None) -> JobRun | None:
        return await self._write(lambda db: jobs.record_job_run(db, run, event=event, draft=draft))

    async def save_job_run(self, run: JobRun, *, event: Event, draft: DraftTask | None = None) -> None:
        await self._write(lambda db: jobs.save_job_run(db, run, event=event, draft=draft))

    async def find_job_run(self, project: str, name: str, due_at: datetime) -> JobRun | None:
        return await self._read(lambda db: jobs.find_job_run(db, project, name, due_at))

    async def load_job_runs(
        self, *, project: str | None = None, name: str | None = None, each: int = 30, started: bool = False
    ) -> tuple[JobRun, ...]:
        return await self._read(
            lambda db: jobs.load_job_runs(db, project=project, name=name, each=each, started=started)
        )
