"""The closed union of effects to make. Each names its task, the evidence it rests on, and why, in words.

`act` compares the evidence with the world again before anything that cannot be undone. The `key` of an action is the
same for the same effect, so that asking twice is asking once.
"""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.claim_action import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.reaction import ReactionKey
from nightcrew.core.model.route import Route
from nightcrew.core.model.run import Role, StopCause
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
    attempts and cycles anew (a person asked for it); `vouch` says that they ask for the issue's text as it is now.
    `command` is recorded as settled with the row, `sent` as what is sent to the agent by it."""

    task: TaskKey
    source: Status
    target: Status
    evidence: Evidence
    why: str
    block: Block | None = None
    reset: bool = False
    vouch: bool = False
    command: SettledCommand | None = None
    sent: tuple[ReactionKey, ...] = ()

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
class StartRun:
    """Start an author, reviewer or router: run row, label, workspace, session, in this order. `head_sha` is the SHA to
    review; `attempt` counts the runs of this role for this task; `resumes` is the session of its CLI that it goes on
    with, empty for a fresh one."""

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


@dataclass(frozen=True, slots=True)
class PublishWork:
    """Push the task's branch at `head_sha` and have its pull request open, then move to `needs_review`."""

    task: TaskKey
    run: RunId
    head_sha: Sha
    why: str

    @property
    def key(self) -> str:
        return f"publish:{self.task}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class PostVerdict:
    """Put a recorded verdict on the forge: a review comment on the pull request and the status `nightcrew/review`."""

    task: TaskKey
    run: RunId
    pull: int
    head_sha: Sha
    why: str

    @property
    def key(self) -> str:
        return f"verdict:{self.run}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class RunChecks:
    """Run the project's engine checks on the merge of `head_sha` into `base_sha` and post their statuses."""

    task: TaskKey
    pull: int
    head_sha: Sha
    base_sha: Sha
    names: tuple[str, ...]
    why: str

    @property
    def key(self) -> str:
        return f"checks:{self.task}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class MergePull:
    """Merge the pull request, pinned to `head_sha`. The evidence is the gate, which `act` evaluates again."""

    task: TaskKey
    pull: int
    head_sha: Sha
    base_ref: str
    why: str

    @property
    def key(self) -> str:
        return f"merge:{self.task}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class UpdateBranch:
    """Bring the base into the branch of the pull request at `head_sha`: by the engine where that is clean, else by the
    author, to whom the task goes back from `source`."""

    task: TaskKey
    source: Status
    pull: int
    head_sha: Sha
    base_ref: str
    why: str

    @property
    def key(self) -> str:
        return f"update:{self.task}:{self.head_sha}"


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
class TellPerson:
    """Keep the one comment on the issue true: `words` is the whole text that should stand there. `on_pull` is what
    should stand on the pull request beside it, where something there stands in the way of the merge."""

    task: TaskKey
    words: str
    on_pull: str
    why: str

    @property
    def key(self) -> str:
        return f"tell:{self.task}"


@dataclass(frozen=True, slots=True)
class AnswerCommand:
    """Settle a command that moves nothing: put `label` on the issue in the place of others of its kind (`agent:`,
    `model:`), if it has one, and record what came of it. `vouch` as with `MoveStatus`."""

    task: TaskKey
    command: SettledCommand
    why: str
    label: str = ""
    vouch: bool = False

    @property
    def key(self) -> str:
        return f"answer:{self.task}:{self.command.comment}:{self.command.place}"


@dataclass(frozen=True, slots=True)
class PassComments:
    """Keep until when the comments of a project were read and every command in them settled."""

    project: str
    until_at: datetime
    why: str

    @property
    def task(self) -> TaskKey:
        """No task: the project itself."""
        return TaskKey(self.project, 0)

    @property
    def key(self) -> str:
        return f"pass:{self.project}"


@dataclass(frozen=True, slots=True)
class AnswerFeedback:
    """Answer on the pull request what people said and a run was given: in its threads, and by asking again for a
    review."""

    task: TaskKey
    run: RunId
    pull: int
    why: str

    @property
    def key(self) -> str:
        return f"answer_feedback:{self.run}"


@dataclass(frozen=True, slots=True)
class NoteReaction:
    """Keep that an event was seen at a head, so that its deadline runs; with `words`, tell a person by a comment of its
    own on the pull request, which the forge notifies people of."""

    task: TaskKey
    reaction: ReactionKey
    words: str
    why: str

    @property
    def key(self) -> str:
        kind, sha = self.reaction.kind.value, self.reaction.head_sha
        return f"note:{self.task}:{kind}:{sha}:{'told' if self.words else 'seen'}"


Action = (
    AdoptIssue
    | MoveStatus
    | SettleLabels
    | AcceptPerson
    | RecordRoute
    | StartRun
    | ResumeStart
    | CollectRun
    | StopRun
    | PublishWork
    | PostVerdict
    | RunChecks
    | MergePull
    | UpdateBranch
    | FinishTask
    | TellPerson
    | ClaimTask
    | RenewClaim
    | ReleaseClaim
    | AnswerCommand
    | PassComments
    | NoteReaction
    | AnswerFeedback
)


@dataclass(frozen=True, slots=True)
class Done:
    """The effect was made and seen."""

    what: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The effect was not made: the evidence no longer holds, or the other side said no."""

    why: str


@dataclass(frozen=True, slots=True)
class OutcomeOpen:
    """Whether the effect was made is not known. The next observation decides; it is never retried blindly."""

    why: str


ActionOutcome = Done | Refused | OutcomeOpen
