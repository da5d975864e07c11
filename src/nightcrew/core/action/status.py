"""The actions that change what a task is: its status, its labels, its route."""

from dataclasses import dataclass

from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.delegation import Delegated
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.reaction import ReactionKey
from nightcrew.core.model.route import Route
from nightcrew.core.model.task import Block


@dataclass(frozen=True, slots=True)
class AdoptIssue:
    """Make a task of an issue: the row, and `status:new` on the issue. `status` other than NEW: the issue was worked on
    before, by this machine (whose store was lost) or by one that is gone; its label stays, and its work is found."""

    task: TaskKey
    issue: Issue
    priority: int
    why: str
    status: Status = Status.NEW

    @property
    def key(self) -> str:
        return f"adopt:{self.task}"


@dataclass(frozen=True, slots=True)
class MoveStatus:
    """Change the status: row and event, then the labels. `block` is set with BLOCKED. `reset` starts the counting of
    attempts and cycles anew (a person asked for it); `vouch` says that they ask for the issue's text as it is now,
    `waive` that they want it started whatever it depends on.
    `command` is recorded as settled with the row, `sent` as what is sent to the agent by it, `delegated` as what the
    task hands over."""

    task: TaskKey
    source: Status
    target: Status
    evidence: Evidence
    why: str
    block: Block | None = None
    reset: bool = False
    vouch: bool = False
    waive: bool = False
    command: SettledCommand | None = None
    sent: tuple[ReactionKey, ...] = ()
    delegated: Delegated | None = None

    @property
    def key(self) -> str:
        return f"move:{self.task}:{self.source.value}:{self.target.value}"


@dataclass(frozen=True, slots=True)
class SettleLabels:
    """Finish a move that was cut short: make the labels on the issue say exactly `status`."""

    task: TaskKey
    status: Status
    why: str

    @property
    def key(self) -> str:
        return f"settle:{self.task}:{self.status.value}"


@dataclass(frozen=True, slots=True)
class AcceptPerson:
    """A person set another status label: take it over into the store. The labels are already theirs."""

    task: TaskKey
    source: Status
    target: Status
    why: str

    @property
    def key(self) -> str:
        return f"accept:{self.task}:{self.source.value}:{self.target.value}"


@dataclass(frozen=True, slots=True)
class RecordRoute:
    """Write down the route, and move `new` to `routed` (or keep `routed` with another route)."""

    task: TaskKey
    source: Status
    route: Route
    why: str

    @property
    def key(self) -> str:
        return f"route:{self.task}:{self.route.agent}:{self.route.model}"


@dataclass(frozen=True, slots=True)
class FinishTask:
    """Close out: the merge is on the base (or the issue is closed). Close the issue, remove branch and workspace
    (salvaging what is unsaved), and move to `done`. `merged` tells the two apart. `as_seen`: the forge says so already,
    by another machine's doing; only what is here is ended. `command` as with `MoveStatus`."""

    task: TaskKey
    source: Status
    merged: bool
    why: str
    as_seen: bool = False
    command: SettledCommand | None = None

    @property
    def key(self) -> str:
        return f"finish:{self.task}"


@dataclass(frozen=True, slots=True)
class FileSubTasks:
    """Make issues (of an internal task: internal tasks) of the sub-tasks that it may hand over, each once."""

    task: TaskKey
    why: str

    @property
    def key(self) -> str:
        return f"delegate:{self.task}"
