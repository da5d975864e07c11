"""What may be asked about jobs; part of the service port."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nightcrew.core.model.job import JobRun, JobSettings
from nightcrew.ports.answer import Answer


@dataclass(frozen=True, slots=True)
class JobSummary:
    """A job as it is now: `next_at` are its next times, none where it is off; `held` says why its last task keeps it
    from starting; `last` is its newest due time on record."""

    project: str
    settings: JobSettings
    is_on: bool
    next_at: tuple[datetime, ...] = ()
    held: str = ""
    last: JobRun | None = None


@dataclass(frozen=True, slots=True)
class JobDetail:
    """With its last runs, the newest due time first, and the end of what its command printed last."""

    summary: JobSummary
    runs: tuple[JobRun, ...] = ()
    output: str = ""


class JobService(Protocol):
    """Errors as in `ports.service.Service`."""

    async def list_jobs(self, *, project: str | None = None) -> tuple[JobSummary, ...]:
        """Those that are configured, and while the service runs those of the repositories' own files as well."""
        ...

    async def get_job(self, project: str, name: str, *, limit: int = 20) -> JobDetail: ...

    async def render_report(self, *, days: int = 1, project: str | None = None) -> str:
        """What shipped, what failed and why, and where tasks waited in the last days, as Markdown."""
        ...

    async def run_job(self, project: str, name: str) -> Answer:
        """Have it start now, besides its times. Conflict while its last task lives."""
        ...

    async def switch_job(self, project: str, name: str, *, enabled: bool) -> Answer:
        """Switch it on or off, over what its settings say."""
        ...
