"""The actions about a pull request: publish, review, check, merge, update, answer."""

from dataclasses import dataclass

from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.holdup import HoldupKind
from nightcrew.core.model.landing import LandingState
from nightcrew.core.model.reaction import ReactionKey
from nightcrew.core.model.rerun import Rerun


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
class RerunChecks:
    """Have failed checks (by name and source) run once more at `head_sha`, which is written down first."""

    task: TaskKey
    pull: int
    head_sha: Sha
    checks: tuple[tuple[str, str], ...]
    why: str

    @property
    def key(self) -> str:
        return f"rerun:{self.task}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class SettleReruns:
    """Write down how re-runs have ended. One that passed makes its check, and the tests that had failed, flaky."""

    task: TaskKey
    pull: int
    head_sha: Sha
    passed: tuple[Rerun, ...]
    failed: tuple[Rerun, ...]
    why: str

    @property
    def key(self) -> str:
        return f"reran:{self.task}:{self.head_sha}"


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
class RetargetPull:
    """Send the pull request at `head_sha` to `base_ref`, which the one that it stood on was merged into. Where it is
    under review, its own changes are put on that base, without those that it stood on."""

    task: TaskKey
    source: Status
    pull: int
    head_sha: Sha
    base_ref: str
    why: str

    @property
    def key(self) -> str:
        return f"retarget:{self.task}:{self.head_sha}:{self.base_ref}"


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


@dataclass(frozen=True, slots=True)
class FollowBase:
    """The base that the task began at is gone, and its pull request goes to `base_ref` now, which is the project's own:
    the task goes on with that."""

    task: TaskKey
    pull: int
    base_ref: str
    why: str

    @property
    def key(self) -> str:
        return f"base:{self.task}:{self.base_ref}"


@dataclass(frozen=True, slots=True)
class NoteHoldup:
    """Keep since when something holds up the merge of a head, or, with `is_over`, that it does not any more."""

    task: TaskKey
    pull: int
    head_sha: Sha
    kind: HoldupKind
    why: str
    is_over: bool = False

    @property
    def key(self) -> str:
        return f"holdup:{self.task}:{self.kind.value}:{self.head_sha}:{'over' if self.is_over else 'seen'}"


@dataclass(frozen=True, slots=True)
class SettleLanding:
    """What became of the base after the task's merge is known: with `red`, people are told on the pull request, and a
    revert is offered. `checks` are those that failed with it."""

    task: TaskKey
    pull: int
    merge_sha: Sha
    state: LandingState
    checks: tuple[str, ...]
    why: str

    @property
    def key(self) -> str:
        return f"landing:{self.task}:{self.merge_sha}"


@dataclass(frozen=True, slots=True)
class RevertMerge:
    """A person wants a merged pull request taken back, by one that reverts it and goes the same way. `of` is the task
    that it belonged to, if it was one's."""

    project: str
    pull: int
    of: TaskKey | None
    why: str

    @property
    def task(self) -> TaskKey:
        return self.of if self.of is not None else TaskKey(self.project, self.pull)

    @property
    def key(self) -> str:
        return f"revert:{self.project}:{self.pull}"
