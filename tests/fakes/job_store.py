"""The part of the store in memory that keeps jobs."""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime

from nightcrew.core.errors import Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRecord, JobRun, JobState
from nightcrew.ports.job_store import DraftTask


class MemoryJobs(ABC):
    """Implements `nightcrew.ports.job_store.JobStore`."""

    writes: int
    jobs: dict[tuple[str, str], JobRecord]
    job_runs: dict[tuple[str, str, datetime], JobRun]

    @abstractmethod
    def _check(self) -> None: ...

    @abstractmethod
    def _append(self, event: Event) -> int: ...

    @abstractmethod
    def _add_internal(self, project: str, draft: DraftTask) -> TaskKey: ...

    async def note_job(self, project: str, name: str, *, mark: str, at: datetime) -> None:
        self._check()
        known = self.jobs.get((project, name))
        self.jobs[project, name] = JobRecord(project, name, mark, at, known.enabled if known else None)
        self.writes += 1

    async def switch_job(self, project: str, name: str, *, enabled: bool, event: Event) -> None:
        self._check()
        known = self.jobs.get((project, name)) or JobRecord(project, name, "", event.at)
        self._append(event)
        self.jobs[project, name] = replace(known, enabled=enabled)

    async def load_job_records(self) -> tuple[JobRecord, ...]:
        self._check()
        return tuple(record for _, record in sorted(self.jobs.items()))

    async def record_job_run(self, run: JobRun, *, event: Event, draft: DraftTask | None = None) -> JobRun | None:
        self._check()
        key = (run.project, run.job, run.due_at)
        if key in self.job_runs:
            return None
        self._append(event)
        task = run.task if draft is None else self._add_internal(run.project, draft)
        self.job_runs[key] = replace(run, task=task)
        return self.job_runs[key]

    async def save_job_run(self, run: JobRun, *, event: Event, draft: DraftTask | None = None) -> None:
        self._check()
        if (run.project, run.job, run.due_at) not in self.job_runs:
            raise Missing(f"{run.job} of {run.project} has no run of {run.due_at}")
        self._append(event)
        task = run.task if draft is None else self._add_internal(run.project, draft)
        self.job_runs[run.project, run.job, run.due_at] = replace(run, task=task)

    async def find_job_run(self, project: str, name: str, due_at: datetime) -> JobRun | None:
        self._check()
        return self.job_runs.get((project, name, due_at))

    async def load_job_runs(
        self, *, project: str | None = None, name: str | None = None, each: int = 30, started: bool = False
    ) -> tuple[JobRun, ...]:
        self._check()
        by_job: dict[tuple[str, str], list[JobRun]] = {}
        for run in self.job_runs.values():
            if (
                project in (None, run.project)
                and name in (None, run.job)
                and not (started and run.state is JobState.SKIPPED)
            ):
                by_job.setdefault((run.project, run.job), []).append(run)
        found = [run for runs in by_job.values() for run in runs[-each:]]
        return tuple(
            sorted(sorted(found, key=lambda run: (run.project, run.job)), key=lambda run: run.due_at, reverse=True)
        )
