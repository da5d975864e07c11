"""What IS, as one pass saw it: everything `decide` may look at. Each outside part is known or unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightcrew.core.actions import Action
from nightcrew.core.command import GivenCommand, SettledCommand
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.model.board import BoardView
from nightcrew.core.model.build import Build, BuildView
from nightcrew.core.model.claim import NO_CLAIMS, ClaimView
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.dependency import Dependency
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.job import JobView
from nightcrew.core.model.landing import LandingView
from nightcrew.core.model.pull import Pull, PullView
from nightcrew.core.model.reaction import Reaction
from nightcrew.core.model.rerun import Rerun
from nightcrew.core.model.run import Role, Run, RunView
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.skill import SkillStock
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.reason import Wait


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task. `runs` are all its runs, oldest first; `live` those not yet collected, with what is seen of them.
    `issue` is Unknown when it could not be read, Known(None) when it is gone (deleted or transferred). `pull` is
    Known(None) when the task has none. `verdicts` oldest first. `answered` is true when a person with write access
    commented after the task was blocked with a question. `claim` tells which machine has it. `commands` are those in
    comments that are not settled, oldest first; `last_command` is the newest that was answered. `vouched` is whether
    the issue's text is what someone with write access asked for, or its author's own who has it; `reopened_by_writer`
    is looked for only where the task is done and its issue open. `reactions` is what is on record of them; `delivered`
    names what people said that a run was given. `needs` is what it waits for before it starts, only looked for while
    it may start or waits for one of them. `internal` is set where no issue stands for the task; `issue` is then made of
    the store. `reruns` are the checks that ran again. `parent` is the pull request that its own stands on, Known(None)
    where it stands on none.
    `builds` are those of the merge queue that it was in and that have ended, oldest first. `labels_may_change`
    is whether a change of its labels whose answer was lost may still land."""

    task: Task
    issue: Observed[Issue | None]
    pull: Observed[PullView | None] = Known(None)
    runs: tuple[Run, ...] = ()
    live: tuple[RunView, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    answered: bool = False
    claim: Observed[ClaimView] = Known(NO_CLAIMS)
    commands: tuple[GivenCommand, ...] = ()
    last_command: SettledCommand | None = None
    vouched: Observed[bool] = Known(True)
    reopened_by_writer: Observed[bool] = Known(True)
    reactions: tuple[Reaction, ...] = ()
    delivered: frozenset[str] = frozenset()
    needs: Observed[tuple[Dependency, ...]] = Known(())
    internal: InternalTask | None = None
    reruns: tuple[Rerun, ...] = ()
    parent: Observed[Pull | None] = Known(None)
    builds: tuple[Build, ...] = ()
    sayings: tuple[Saying, ...] = ()
    """What people said to its agent, as far as it is not settled, oldest first."""
    last_saying: Saying | None = None
    """The newest that is settled."""
    labels_may_change: bool = False

    def runs_of(self, role: Role) -> tuple[Run, ...]:
        """All runs of a role, oldest first."""
        return tuple(run for run in self.runs if run.role is role)

    def counted(self, role: Role) -> tuple[Run, ...]:
        """The runs of a role since a person last reset the task."""
        since = self.task.reset_at
        return tuple(run for run in self.runs_of(role) if since is None or run.created_at > since)

    def is_counted(self, reaction: Reaction) -> bool:
        """Whether it was sent since a person last reset the task."""
        since = self.task.reset_at
        return reaction.sent_at is not None and (since is None or reaction.sent_at > since)

    @property
    def rounds(self) -> int:
        """How often the work came back for changes since then: by verdicts, and by reactions."""
        sent: dict[tuple[int, Sha], int] = {}
        for row in self.reactions:
            if self.is_counted(row):
                place = (row.key.pull, row.key.head_sha)
                sent[place] = max(sent.get(place, 0), row.sent)
        return self.task.cycles + sum(sent.values())

    def last(self, role: Role) -> Run | None:
        runs = self.runs_of(role)
        return runs[-1] if runs else None

    def verdict_for(self, sha: Sha) -> Verdict | None:
        """The newest verdict for exactly this SHA."""
        return next((verdict for verdict in reversed(self.verdicts) if verdict.head_sha == sha), None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An open issue that is not a task yet but asks to be one. `asked_by_writer`: whether the one who asked (the
    actor of the label event, or the author with `intake: all`) has write access. `is_left`: its claim is this
    machine's, or a dead one's, so that work on it is gone on with."""

    issue: Issue
    asked_by_writer: Observed[bool]
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class CommentSpan:
    """Until when comments were read (by the forge's times), and the time that is kept, from which on they are read
    after a restart; None if none is kept yet."""

    read_until: datetime
    kept_until: datetime | None


@dataclass(frozen=True, slots=True)
class Completion:
    """All tasks of a project are done or blocked: when the last one changed, how many are done, which are blocked.
    `last_run` is the last that was made for any of them, by which one such moment is told from the next."""

    done_at: datetime
    last_run: RunId
    done: int
    blocked: tuple[TaskKey, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectWorld:
    """One project. `base_ref` is the default branch as the forge names it (or as configured). `comments` is None while
    they could not be read. `short` says that the forge's limit runs out, so that no new task starts. `is_removed`: it
    is not configured any more, and is here for its runs that are still open; its issues are not looked at. `board` is
    None where none is linked. `builds` are what the merge queue has under test."""

    settings: ProjectSettings
    base_ref: Observed[str]
    tasks: tuple[TaskView, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    paused: bool = False
    comments: CommentSpan | None = None
    short: Wait | None = None
    is_removed: bool = False
    requests: tuple[GivenCommand, ...] = ()
    """What comments ask for about pull requests, oldest first."""
    board: BoardView | None = None
    builds: tuple[BuildView, ...] = ()
    landings: tuple[LandingView, ...] = ()
    """Merges after which the base is watched."""
    jobs: tuple[JobView, ...] = ()
    alarm: str = ""
    """What was said last of a base that is red by itself; empty if none is known to be."""
    completed: Completion | None = None
    """None while anything is open that is not blocked."""
    told_complete: str = ""
    """The last run after which a person was told so."""
    left_sayings: tuple[Saying, ...] = ()
    """What was said to agents of tasks that are done, and is not settled."""
    skills: SkillStock = SkillStock()


@dataclass(frozen=True, slots=True)
class World:
    """The whole observation. `agents` says for each configured agent whether its CLI was found (Known(True)), is not
    there (Known(False)) or could not be looked for. `in_flight` are the actions under way; `deferred` says for the
    key of an action that was refused a while ago why, and until when it is left alone. `last_agent` is the author that
    round robin chose last. `free_models` are what `opencode:free` stands for, by agent, as last listed. `draining`:
    the service takes no new work, and ends when no run lives any more. `free_bytes` is the room on the disk of the
    home, None if it cannot be told; `was_full` whether there was too little at the look before."""

    now: datetime
    settings: Settings
    projects: Mapping[str, ProjectWorld] = field(default_factory=dict)
    agents: Mapping[str, Observed[bool]] = field(default_factory=dict)
    cooldowns: tuple[Cooldown, ...] = ()
    in_flight: tuple[Action, ...] = ()
    deferred: Mapping[str, Wait] = field(default_factory=dict)
    last_agent: str = ""
    paused: bool = False
    free_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    draining: bool = False
    free_bytes: int | None = None
    was_full: bool = False
