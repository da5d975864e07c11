"""One execution of one agent for one task."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.failures import Failure
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.report import Report, Usage


class Role(Enum):
    """What the agent is there for."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    ROUTER = "router"


class RunState(Enum):
    """STARTING: the row is the intent, nothing may exist yet. RUNNING: the session was started. ENDED: collected."""

    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"


class Probe(Enum):
    """What is known of a session. Unknown is not dead."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: a failure, or a report. `head_sha` is HEAD of the workspace afterwards (authors only) and
    `has_commits` whether it moved away from where the run began."""

    report: Report | None
    failure: Failure | None
    usage: Usage = Usage()
    head_sha: Sha | None = None
    has_commits: bool = False
    agent_session: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `head_sha` is where it began (author) or what it reviews (reviewer); `session` the tmux session's
    name; `folder` the run folder, relative to Nightcrew's home; `attempt` counts the runs of this role from 1."""

    id: RunId
    task: TaskKey
    role: Role
    agent: str
    model: str
    attempt: int
    state: RunState
    session: str
    folder: str
    created_at: datetime
    deadline_s: float
    head_sha: Sha | None = None
    agent_session: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: RunOutcome | None = None

    @property
    def is_open(self) -> bool:
        return self.state is not RunState.ENDED


@dataclass(frozen=True, slots=True)
class RunView:
    """A run that has not been collected, with what is seen of it: the session, and whether its result is written."""

    run: Run
    session: Probe
    has_result: bool
    output_bytes: int = 0
