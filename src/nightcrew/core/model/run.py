"""One execution of one agent for one task."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.failures import Failure
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.report import Report, Usage


class Role(Enum):
    """What the agent is there for. An ASSISTANT answers a person's question (`model.inquiry`); it works for no task,
    and what it does is no row among the runs."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    ROUTER = "router"
    ASSISTANT = "assistant"


TASK_ROLES = (Role.AUTHOR, Role.REVIEWER, Role.ROUTER)
"""Those that work for a task."""


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


class StopCause(Enum):
    """Why Nightcrew ends a session: its work is not wanted any more (mostly a person's hand), it is past its deadline,
    it has been silent for too long, it does nothing but repeat that a limit is reached, or a person has something to
    say to it that is not to wait."""

    UNWANTED = "unwanted"
    OVERDUE = "overdue"
    SILENT = "silent"
    LIMITED = "limited"
    SAID = "said"


@dataclass(frozen=True, slots=True)
class Stop:
    """Nightcrew's own word that a session is ended, written down before it is done."""

    cause: StopCause
    why: str


class InterruptionKind(Enum):
    """STOPPED: ended since its work was not wanted any more. LOST: its session was ended from outside, as by a reboot.
    NOT_RESUMED: it was to go on with an earlier session, which its CLI could not find."""

    STOPPED = "stopped"
    LOST = "lost"
    NOT_RESUMED = "not_resumed"


@dataclass(frozen=True, slots=True)
class Interruption:
    """A run ended before its agent had ended its work, and the agent is not to blame."""

    kind: InterruptionKind
    why: str


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: a report, a failure, or an interruption. `head_sha` is HEAD of the workspace afterwards (authors
    only) and `has_commits` whether it moved away from where the run began. `agent_session` is the CLI's own session,
    and `can_resume` whether a later run can go on with it; `answered` that the model has answered in it."""

    report: Report | None
    failure: Failure | None
    usage: Usage = Usage()
    head_sha: Sha | None = None
    has_commits: bool = False
    agent_session: str = ""
    interruption: Interruption | None = None
    can_resume: bool = False
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `head_sha` is where it began (author) or what it reviews (reviewer); `session` the tmux session's
    name; `folder` the run folder, relative to Nightcrew's home; `attempt` counts the runs of this role from 1;
    `resumes` the CLI's own session that it goes on with, empty for a fresh one; `began_s` the monotonic clock when it
    was started (which all processes share until the next boot); `stop` that Nightcrew ends it, and why; `hears` that
    it is a turn for what a person said to its agent, which uses up no attempt."""

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
    resumes: str = ""
    began_s: float | None = None
    stop: Stop | None = None
    hears: bool = False

    @property
    def is_open(self) -> bool:
        return self.state is not RunState.ENDED


@dataclass(frozen=True, slots=True)
class RunView:
    """A run that has not been collected, with what is seen of it: the session, and whether its result is written.
    `running_s` and `silent_s` are how long it has run and printed nothing, while the machine was awake; `at_work` that
    its last words say that a tool of it is running; `limit` the line about a limit that it does nothing but repeat;
    `answered_in` the CLI's session in which the model has answered, only looked for while a message depends on it."""

    run: Run
    session: Probe
    has_result: bool
    output_bytes: int = 0
    running_s: float = 0.0
    silent_s: float = 0.0
    at_work: bool = False
    limit: str = ""
    answered_in: str = ""
