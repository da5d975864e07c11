"""The values that deciding about one task hands around: what all tasks share, and the step that comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightcrew.core.actions import Action, MoveStatus
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.build import Head
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.task import Block, Task
from nightcrew.core.model.world import ProjectWorld, TaskView, World
from nightcrew.core.policy.eligible import Slots
from nightcrew.core.policy.equipping import why_unequipped
from nightcrew.core.policy.filling import is_full
from nightcrew.core.reason import Wait


@dataclass(frozen=True, slots=True)
class Allowance:
    """What all tasks share, as far as it is left: run slots, the agent that round robin chose last, the bases
    (project and branch) on which a merge is under way, the tasks that wait for themselves, each with the way round, and
    whose turn it is to be brought up to date with a base and merged."""

    slots: Slots
    last_agent: str = ""
    merging: frozenset[tuple[str, str]] = frozenset()
    circles: Mapping[TaskKey, tuple[TaskKey, ...]] = field(default_factory=dict)
    turns: Mapping[tuple[str, str], "Turn"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is on a base: its pull request, and until when it keeps that while its checks run."""

    place: tuple[str, str]
    pull: int
    until_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A pull request in the merge queue, at the head that was approved. While something about it is not known or not
    finished it is not `is_ready`, and keeps its place."""

    head: Head
    base_ref: str
    is_ready: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """What one task does next: actions, or why it waits (with actions beside it, where they do not end the wait).
    `entry` is its place in the merge queue, which acts for it; `turn` what it takes of the turns on a base."""

    actions: tuple[Action, ...] = ()
    wait: Wait | None = None
    entry: Entry | None = None
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One task to decide about: an open issue whose labels agree with the record."""

    world: World
    project: ProjectWorld
    view: TaskView
    issue: Issue
    allowance: Allowance

    @property
    def task(self) -> Task:
        return self.view.task

    @property
    def settings(self) -> ProjectSettings:
        return self.project.settings

    @property
    def paused(self) -> Wait | None:
        """Why no new work starts, if it is paused."""
        if self.world.draining:
            return Wait("draining", "Nightcrew is about to end and takes no new work", "It goes on at the next start.")
        if self.world.paused:
            return Wait("paused", "Nightcrew is paused", "Resume it with `nightcrew resume`.")
        if self.project.paused:
            slug = self.settings.slug
            return Wait("paused", f"{slug} is paused", f"Resume it with `nightcrew resume {slug}`.")
        least_mb = self.world.settings.upkeep.least_free_mb
        if is_full(self.world.free_bytes, least_mb=least_mb, was_full=self.world.was_full):
            # How much is free is left out: it changes all the time, and the words are a comment on the issue.
            what = f"the disk is nearly full: less than {least_mb} MB are free"
            return Wait("disk_full", what, "It goes on by itself once there is room; `nightcrew prune` makes some.")
        return None

    @property
    def held_up(self) -> Wait | None:
        """Why no new task starts: it is paused, or what the forge still allows is kept for those at work."""
        return self.paused or (self.project.short if self.task.pull is None else None)

    @property
    def unequipped(self) -> Wait | None:
        """What its author has to wait for, as it would lack a skill."""
        return why_unequipped(self.settings.skills, self.project.skills, Role.AUTHOR, self.issue.labels)

    @property
    def unvouched(self) -> Wait | None:
        """Why no agent may be shown the issue, if its text is not what someone with write access asked for."""
        vouched = self.view.vouched
        if isinstance(vouched, Unknown):
            words = f"whether its author has write access is not known ({vouched.why})"
            return Wait("vouch_unknown", words, "It is looked up again.")
        if vouched.value:
            return None
        return Wait(
            "not_vouched",
            "its title or text was changed after someone with write access had asked for it, and its author has none",
            "Read it; then comment /retry to have it done as it stands now.",
        )


def act_on(*actions: Action) -> Stage:
    return Stage(tuple(actions))


def wait_for(code: str, words: str, next_step: str = "It is looked at again.") -> Stage:
    return Stage(wait=Wait(code, words, next_step))


def move(task: Task, target: Status, evidence: Evidence, why: str) -> Stage:
    return act_on(MoveStatus(task.key, task.status, target, evidence, why))


def block(task: Task, reason: Block) -> Stage:
    """Move to `blocked` with a reason for a person."""
    return act_on(MoveStatus(task.key, task.status, Status.BLOCKED, Evidence.NEEDS_PERSON, reason.words, block=reason))
