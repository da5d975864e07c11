"""The unit of work, as stored: what Nightcrew knows of an issue that it works on."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import Delegated
from nightcrew.core.model.holdup import Holdup
from nightcrew.core.model.landing import Landing
from nightcrew.core.model.route import Route


@dataclass(frozen=True, slots=True)
class Block:
    """Why a task is blocked: a stable code, words for a person, and whether a comment by a person answers it."""

    code: str
    words: str
    answerable: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BaseConflict:
    """The branch does not merge with `base_sha` by itself, and its author is to resolve it; the paths in conflict."""

    base_sha: Sha
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """What a task stands on: another pull request, and the branch of that."""

    pull: int
    branch: str


@dataclass(frozen=True, slots=True)
class Task:
    """A row of the store. `status` is the last one recorded, `moving_to` a status whose labels are not yet both right.
    `attempts` counts author runs since the last `reset_at`, `cycles` the reviews that asked for changes.
    `started_from` is the base SHA that the branch began at; `pull` the number of its pull request; `approved_sha` a
    person's word for exactly that head. `tried` are agents whose run of this task failed, the last one last. `told`
    is what the comment on the issue (`comment_id`) says. `adopted_at` is the issue's own time when it became a task:
    what was said before is not about it. `vouched` is the mark of the text that someone with write access asked for.
    `moving_over` are the statuses that moves whose labels are not yet right (`moving_to`) went through: their labels
    are Nightcrew's own, any other is a person's. Since the last reset, `updates` times the engine brought the base into
    the branch, and `conflicts` times its author had to; `conflict` is the one that the author has now. `waived`: a
    person said that it is to start whatever it depends on. `stack` is the pull request that its own stands on and is
    sent to (`base_ref` is that branch), until that one is merged. `holdups` are what holds up the merge of its present
    head; `landing` is its last merge, and what became of the base by that. `done_after` is the last run from before the
    task was last merged: who wrote before is no author of what comes after. `delegated` is what its
    authors proposed to hand over to sub-tasks, and what became of that."""

    key: TaskKey
    title: str
    status: Status
    created_at: datetime
    updated_at: datetime
    priority: int = 50
    moving_to: Status | None = None
    route: Route | None = None
    block: Block | None = None
    branch: str = ""
    base_ref: str = ""
    started_from: Sha | None = None
    pull: int | None = None
    attempts: int = 0
    cycles: int = 0
    tried: tuple[str, ...] = ()
    approved_sha: Sha | None = None
    merge_sha: Sha | None = None
    comment_id: int | None = None
    told: str = ""
    reset_at: datetime | None = None
    adopted_at: datetime | None = None
    vouched: str = ""
    moving_over: tuple[Status, ...] = ()
    updates: int = 0
    conflicts: int = 0
    conflict: BaseConflict | None = None
    waived: bool = False
    stack: Stack | None = None
    holdups: tuple[Holdup, ...] = ()
    done_after: str = ""
    landing: Landing | None = None
    delegated: Delegated | None = None

    @property
    def is_claimed(self) -> bool:
        """Whether it is somebody's pull request that Nightcrew looks after: issues and pull requests share numbers."""
        return self.pull == self.key.number

    @property
    def has_issue(self) -> bool:
        """Whether an issue stands for it: not for an internal task, nor for a pull request that was claimed."""
        return not (self.key.is_internal or self.is_claimed)

    @property
    def passed_over(self) -> tuple[Status, ...]:
        """What a move away from here goes over, with the moves before it that are not finished."""
        return tuple(dict.fromkeys((*self.moving_over, self.status)))
