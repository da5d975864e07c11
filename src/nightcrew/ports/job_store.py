"""Where jobs are kept; part of the store."""

from datetime import datetime
from typing import Protocol

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.job import JobRecord, JobRun
from nightcrew.core.model.task import Task

JobDraft = tuple[Task, InternalTask, Event]
"""The internal task that a run of a job asks for."""


class DraftTask(Protocol):
    """Makes it once its key is known."""

    def __call__(self, key: TaskKey) -> JobDraft: ...


class JobStore(Protocol):
    """What `ports.store.Store` says of its methods holds here."""

    async def note_job(self, project: str, name: str, *, mark: str, at: datetime) -> None:
        """The job has the schedule `mark` since `at`. Whether a person switched it on or off stays."""
        ...

    async def switch_job(self, project: str, name: str, *, enabled: bool, event: Event) -> None:
        """A person switched it on or off. One that was not noted before is, with no schedule yet."""
        ...

    async def load_job_records(self) -> tuple[JobRecord, ...]: ...

    async def record_job_run(self, run: JobRun, *, event: Event, draft: DraftTask | None = None) -> JobRun | None:
        """Insert the row of a due time, with the task that it asks for, in one transaction; the row as it stands then.
        None, and nothing written, if there is one for that time."""
        ...

    async def save_job_run(self, run: JobRun, *, event: Event, draft: DraftTask | None = None) -> None:
        """Replace what came of it, with a task that it asks for, in one transaction. Missing if there is no such
        row."""
        ...

    async def find_job_run(self, project: str, name: str, due_at: datetime) -> JobRun | None: ...

    async def load_job_runs(
        self, *, project: str | None = None, name: str | None = None, each: int = 30, started: bool = False
    ) -> tuple[JobRun, ...]:
        """Of each job the last `each` that were recorded, the newest due time first; with `started` only those that
        were not skipped, of which the last is kept for ever."""
        ...
