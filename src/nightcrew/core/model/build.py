"""What the merge queue builds: the base with pull requests merged into it, to be tested as it would land."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, Required


class BuildState(Enum):
    """`testing` until it ends: `landed` on the base; `red`, its checks failed; `stuck`, they did not answer in time (or
    the forge does not run them); `dropped`, it is not wanted any more, whatever they say."""

    TESTING = "testing"
    LANDED = "landed"
    RED = "red"
    STUCK = "stuck"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Head:
    """A pull request to build, at the head that was approved."""

    task: TaskKey
    pull: int
    sha: Sha


@dataclass(frozen=True, slots=True)
class Member:
    """One pull request of a build: the task's number, the approved head that is merged, and the commit that the base
    would be at with it and those before it."""

    number: int
    pull: int
    head_sha: Sha
    sha: Sha


@dataclass(frozen=True, slots=True)
class Build:
    """A row of the store. The members stand in the order in which they are merged, each on top of the one before;
    `left_out` are the pull requests that conflict with those. `id` is 0 until it is recorded."""

    project: str
    base_ref: str
    base_sha: Sha
    method: MergeMethod
    members: tuple[Member, ...]
    made_at: datetime
    left_out: tuple[int, ...] = ()
    state: BuildState = BuildState.TESTING
    why: str = ""
    ended_at: datetime | None = None
    id: int = 0

    @property
    def sha(self) -> Sha:
        """What is tested, and what the base is moved to."""
        return self.members[-1].sha

    @property
    def place(self) -> tuple[str, str]:
        """What there is one open build of."""
        return (self.project, self.base_ref)

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        return tuple(TaskKey(self.project, member.number) for member in self.members)

    def find(self, *, number: int, pull: int, head_sha: Sha | None = None) -> Member | None:
        """The member of a task and its pull request, at that head where one is given."""
        found = (member for member in self.members if (member.number, member.pull) == (number, pull))
        return next((member for member in found if head_sha in (None, member.head_sha)), None)


@dataclass(frozen=True, slots=True)
class BuildView:
    """An open build as observed in one pass. `scratch` is where its branch is on the forge; `base_sha` where the base
    is, and `has_landed` whether that contains the build."""

    build: Build
    checks: Observed[tuple[Check, ...]]
    required: Observed[Required]
    base_sha: Observed[Sha]
    scratch: Observed[Sha | None]
    has_landed: Observed[bool]
    base_checks: Observed[tuple[Check, ...]] = Known(())
    """Those of `base_sha`; only looked for where a check of the build failed."""
