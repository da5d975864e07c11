"""The actions about jobs."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.action.project import OfProject
from nightcrew.core.model.job import JobSettings


@dataclass(frozen=True, slots=True)
class NoteJob(OfProject):
    """Keep since when a job has its schedule: it is not due for what was before."""

    project: str
    job: JobSettings
    mark: str
    why: str

    @property
    def key(self) -> str:
        return f"note_job:{self.project}:{self.job.name}"


@dataclass(frozen=True, slots=True)
class StartJob(OfProject):
    """Do what a job does at one due time: once, whoever asks how often. `skip` says why it is only written down."""

    project: str
    job: JobSettings
    due_at: datetime
    why: str
    is_late: bool = False
    by_hand: bool = False
    skip: str = ""

    @property
    def key(self) -> str:
        return f"job:{self.project}:{self.job.name}:{self.due_at.isoformat()}"
