"""The actions about runs: start, resume, collect, stop."""

from dataclasses import dataclass

from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.reaction import ReactionKey
from nightcrew.core.model.run import Role, StopCause
from nightcrew.core.model.task import Stack


@dataclass(frozen=True, slots=True)
class StartRun:
    """Start an author, reviewer or router: run row, label, workspace, session, in this order. `head_sha` is the SHA to
    review; `attempt` counts the runs of this role for this task; `resumes` is the session of its CLI that it goes on
    with, empty for a fresh one; `stack` is what an author's work begins at, where that is not the base; `hears` that it
    is a turn for what a person said to its agent. An author takes every message that waits."""

    task: TaskKey
    source: Status
    role: Role
    agent: str
    model: str
    attempt: int
    deadline_s: float
    why: str
    head_sha: Sha | None = None
    generation: int = 0
    resumes: str = ""
    stack: Stack | None = None
    hears: bool = False

    @property
    def key(self) -> str:
        return f"start:{self.task}:{self.role.value}:{self.attempt}"


@dataclass(frozen=True, slots=True)
class ResumeStart:
    """A run row exists as intent but its session was never seen: finish starting it, or find that it ran."""

    task: TaskKey
    run: RunId
    why: str

    @property
    def key(self) -> str:
        return f"resume:{self.run}"


@dataclass(frozen=True, slots=True)
class NoteRun:
    """Tell a person something about a run, once: by a notice, with the row that says so."""

    task: TaskKey
    reaction: ReactionKey
    words: str
    why: str

    @property
    def key(self) -> str:
        return f"note:{self.task}:{self.reaction.kind.value}:{self.reaction.run}"


@dataclass(frozen=True, slots=True)
class CollectRun:
    """A run has ended: read what it left, commit its leftovers, and record the outcome. `lost` means that the session
    is dead and no result was written."""

    task: TaskKey
    run: RunId
    lost: bool
    why: str

    @property
    def key(self) -> str:
        return f"collect:{self.run}"


@dataclass(frozen=True, slots=True)
class StopRun:
    """End a run's session. What it left is collected afterwards, and `cause` says what that means for the agent."""

    task: TaskKey
    run: RunId
    why: str
    cause: StopCause = StopCause.UNWANTED

    @property
    def key(self) -> str:
        return f"stop:{self.run}"
