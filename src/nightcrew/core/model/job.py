"""Scheduled work: what a job is, and what is on record of it. When schedules fire is in `core.cron`."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.pin import NO_PINS, Pins, TaskKind


class CatchUp(Enum):
    """What becomes of a time that was missed: `once` has the last of them made up for, `skip` none."""

    ONCE = "once"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class DailyReview:
    """The built-in job: a report of the last day. `comment`: an agent is asked to comment on it; `issues`: how many
    issues it may file about what came again and again."""

    comment: bool = False
    issues: int = 0


@dataclass(frozen=True, slots=True)
class JobSettings:
    """One job. It runs a command (`run`), writes the `review`, or asks for a task whose text is `prompt`, an issue if
    it is `external`. `path` is the file of the repository that it comes from; empty: it is its owner's."""

    name: str
    schedule: str
    zone: str = "UTC"
    enabled: bool = True
    title: str = ""
    prompt: str = ""
    kind: TaskKind = TaskKind.CHANGE
    external: bool = False
    pins: Pins = NO_PINS
    run: tuple[str, ...] = ()
    review: DailyReview | None = None
    timeout_s: float = 600.0
    catch_up: CatchUp = CatchUp.ONCE
    path: str = ""

    @property
    def work(self) -> str:
        """What it does, in a word."""
        if self.run:
            return "command"
        if self.review is not None:
            return "review"
        return "issue" if self.external else self.kind.value


class JobState(Enum):
    """BEGUN: it is under way, or was when the service ended. DONE: the command ended well, or the task is there. LOST:
    the service ended while its command ran; it is not run again."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class JobRun:
    """One due time of a job, of which there is one row, written before anything is done. `task` is what it asked for;
    `words` say what came of it; `log` is where its output is kept, from the home. Times are aware UTC."""

    project: str
    job: str
    due_at: datetime
    began_at: datetime
    state: JobState
    is_late: bool = False
    by_hand: bool = False
    task: TaskKey | None = None
    words: str = ""
    exit_code: int | None = None
    log: str = ""
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What is kept of a job itself: since when it has had this schedule (`mark`), and whether a person switched it on
    or off (None: as its settings say)."""

    project: str
    name: str
    mark: str
    since_at: datetime
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as a look finds it: its last runs, the newest due time first, why its last task keeps it (empty: it does
    not), and when a person asked last for a start."""

    settings: JobSettings
    record: JobRecord | None = None
    runs: tuple[JobRun, ...] = ()
    held: str = ""
    wanted_at: datetime | None = None

    @property
    def is_on(self) -> bool:
        said = self.record.enabled if self.record is not None else None
        return self.settings.enabled if said is None else said
