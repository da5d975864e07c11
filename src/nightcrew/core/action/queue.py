"""Effects of the merge queue (see `core.step.queue`). They are about a base, not about one task."""

from dataclasses import dataclass

from nightcrew.core.action.project import OfProject
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.build import Build, BuildState, Head
from nightcrew.core.model.merge import MergeMethod


@dataclass(frozen=True, slots=True)
class MakeBuild(OfProject):
    """Merge the heads, in order, into the base as it is, write that down, and push it to the base's scratch branch
    to have it tested. Those that conflict are left out."""

    project: str
    base_ref: str
    heads: tuple[Head, ...]
    method: MergeMethod
    why: str

    @property
    def key(self) -> str:
        return f"build:{self.project}:{self.base_ref}"

    @property
    def place(self) -> tuple[str, str]:
        return (self.project, self.base_ref)


@dataclass(frozen=True, slots=True)
class _AboutBuild:
    build: Build

    @property
    def task(self) -> TaskKey:
        """No task: the queue of a base."""
        return TaskKey(self.build.project, 0)

    @property
    def place(self) -> tuple[str, str]:
        return self.build.place


@dataclass(frozen=True, slots=True)
class OfferBuild(_AboutBuild):
    """A build is written down, and its scratch branch is not there: push it."""

    why: str

    @property
    def key(self) -> str:
        return f"offer:{self.build.id}"


@dataclass(frozen=True, slots=True)
class CheckBuild(_AboutBuild):
    """Run the project's engine checks on exactly the build and post their statuses on it."""

    names: tuple[str, ...]
    why: str

    @property
    def key(self) -> str:
        return f"check_build:{self.build.id}"


@dataclass(frozen=True, slots=True)
class LandBuild(_AboutBuild):
    """Move the base forward to exactly what was tested, if every member may still be merged and the base is where the
    build began; or only write down that it is there already."""

    why: str

    @property
    def key(self) -> str:
        return f"land:{self.build.id}"


@dataclass(frozen=True, slots=True)
class EndBuild(_AboutBuild):
    """End a build that does not land: take its scratch branch away, and write down why."""

    state: BuildState
    why: str

    @property
    def key(self) -> str:
        return f"end_build:{self.build.id}"


@dataclass(frozen=True, slots=True)
class CloseLanded:
    """What a pull request changes is on its base as another commit, so that the forge does not see it as merged: say
    so there, and close it."""

    task: TaskKey
    pull: int
    head_sha: Sha
    sha: Sha
    base_ref: str
    why: str

    @property
    def key(self) -> str:
        return f"close_landed:{self.task}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class EnqueuePull:
    """Put a pull request into the forge's own merge queue, pinned to `head_sha`. The evidence is the gate."""

    task: TaskKey
    pull: int
    head_sha: Sha
    why: str

    @property
    def key(self) -> str:
        return f"enqueue:{self.task}:{self.head_sha}"


@dataclass(frozen=True, slots=True)
class DequeuePull:
    """Take a pull request out of the forge's own merge queue: it may not be merged any more as it is."""

    task: TaskKey
    pull: int
    why: str

    @property
    def key(self) -> str:
        return f"dequeue:{self.task}:{self.pull}"


QueueAction = MakeBuild | OfferBuild | CheckBuild | LandBuild | EndBuild
"""Those about a base. There is never more than one of them at a time for it, but that checks run beside others."""
