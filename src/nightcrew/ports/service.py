"""What chat, web, API and CLI may ask of Nightcrew. All of them speak this port; none writes state by itself."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.delegation import Delegated
from nightcrew.core.model.diagnosis import Diagnosis
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import NO_PINS, InternalTask, Pins, TaskKind
from nightcrew.core.model.landing import Landing
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.quota import TokenStanding
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.run import Run
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.settings import Budget
from nightcrew.core.model.task import Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.policy.budgeting import Spent
from nightcrew.core.reason import Wait
from nightcrew.ports.answer import Answer
from nightcrew.ports.inquiry_service import InquiryService
from nightcrew.ports.job_service import JobService
from nightcrew.ports.measure import Health, Measure
from nightcrew.ports.skill_service import SkillService

__all__ = [
    "AgentStatus",
    "Answer",
    "BoardStatus",
    "LogPiece",
    "ProjectStatus",
    "RunDetail",
    "Service",
    "ServiceStatus",
    "TaskDetail",
    "TaskSummary",
    "WebhookStatus",
    "Word",
]


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """A task with the reason for which it is where it is. `sentence` is that reason in one sentence for a person:
    why, what happens next, and when. `open_run` is the run that works on it now. `url` is the issue's page,
    `pull_url` that of its pull request; empty where there is none."""

    task: Task
    wait: Wait | None
    sentence: str
    open_run: Run | None = None
    url: str = ""
    pull_url: str = ""


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """Everything about one task. Events newest last, at most 200. `spent` is what its runs used since a person last
    reset it, `budget` what they may use; `internal` what it is where no issue stands for it; `landing` its last
    merge; `delegated` what it hands over to sub-tasks."""

    summary: TaskSummary
    runs: tuple[Run, ...]
    verdicts: tuple[Verdict, ...]
    events: tuple[Event, ...]
    workspace: str = ""
    spent: Spent = Spent()
    budget: Budget = Budget()
    internal: InternalTask | None = None
    landing: Landing | None = None
    sayings: tuple[Saying, ...] = ()
    """What people said to its agent: the last twenty, oldest first."""
    delegated: Delegated | None = None


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    slug: str
    forge: str
    base_ref: str
    paused: bool
    tasks: Mapping[str, int]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """`available` None: could not be looked for. `free_models` is what `opencode:free` stands for, where it is used."""

    name: str
    adapter: str
    available: bool | None
    running: int
    max_runs: int
    cooldowns: tuple[Cooldown, ...] = ()
    free_models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebhookStatus:
    """Where deliveries are listened for (empty: not at the moment, `problem` says why), how many came signed and how
    many were refused since the start, and when the last signed one came."""

    address: str
    taken: int
    refused: int
    last_at: datetime | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """`ticks` counts the passes since start; `problems` are things a person should look at. `running` False: this was
    read from the store while no service was running; `draining` that it ends when no run lives any more."""

    version: str
    running: bool
    paused: bool
    started_at: datetime | None
    last_tick_at: datetime | None
    next_tick_at: datetime | None
    ticks: int
    projects: tuple[ProjectStatus, ...]
    agents: tuple[AgentStatus, ...]
    problems: tuple[str, ...] = ()
    home: str = ""
    pid: int = 0
    draining: bool = False
    tokens: tuple[TokenStanding, ...] = ()
    """What each token of each forge has left, as far as answers told since the start."""
    webhook: WebhookStatus | None = None
    """None: deliveries are not listened for."""


@dataclass(frozen=True, slots=True)
class BoardStatus:
    """The board of a project as last found. `columns` has the column of each status, empty where it has none; `cards`
    is how many tasks are on it, `behind` how many it does not show where they are; `problem` what to do."""

    project: str
    board: str
    field_name: str
    moved_by_hand: str
    title: str = ""
    url: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    cards: int = 0
    behind: int = 0
    looked_at: datetime | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LogPiece:
    """A piece of a run's output, as readable text with terminal codes removed. `next_offset` is where to go on;
    `ended` that the run is over and nothing more will come."""

    text: str
    next_offset: int
    ended: bool


@dataclass(frozen=True, slots=True)
class RunDetail:
    run: Run
    prompt: str
    folder: str
    report: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """What a person says to an agent. `receiver` is the place in a chat that is told what became of it (`telegram:12`);
    `interrupts`: the turn at work is ended for it; `name` makes saying it twice saying it once (empty: it gets one)."""

    text: str
    author: str = ""
    receiver: str = ""
    interrupts: bool = False
    name: str = ""


class Service(JobService, SkillService, InquiryService, Protocol):
    """Errors: Missing (no such task, run, project), Conflict (not possible now, and why), Invalid (bad argument),
    Unavailable (the service is not running, for commands that change something)."""

    async def status(self) -> ServiceStatus: ...

    async def list_tasks(
        self, *, project: str | None = None, include_done: bool = False
    ) -> tuple[TaskSummary, ...]: ...

    async def get_task(self, key: TaskKey) -> TaskDetail: ...

    async def resolve_task(self, text: str) -> TaskKey:
        """Read `owner/repo#42`, `repo#42` or `42`. Missing if there is none, Conflict naming all if there are more."""
        ...

    async def load_diff(self, key: TaskKey) -> str:
        """The task's branch against its base, as a unified diff."""
        ...

    async def add_task(self, project: str, *, title: str, body: str, labels: Sequence[str] = ()) -> Answer:
        """File an issue with the intake label; `data` has `task` and `url`."""
        ...

    async def add_internal_task(
        self, project: str, *, title: str, body: str, kind: TaskKind = TaskKind.CHANGE, pins: Pins = NO_PINS
    ) -> Answer:
        """Record a task that no issue stands for; `data` has `task`. Invalid for a pin that names nothing."""
        ...

    async def publish_task(self, key: TaskKey) -> Answer:
        """Make an issue of an internal task, once; `data` has `task` and `url`. Conflict while it is at work."""
        ...

    async def approve_task(self, key: TaskKey, *, head: str = "") -> Answer:
        """A person's word for the merge of the head as it is now, or for the sub-tasks that its author proposes. With
        `head`, or its beginning, for that head alone: Conflict if the forge shows another."""
        ...

    async def retry_task(self, key: TaskKey) -> Answer:
        """Start anew from `new`, with the counters at zero; work on the branch is kept."""
        ...

    async def revert(self, text: str) -> Answer:
        """Open a pull request that takes a merge back: that of a task, or a pull request. It goes through the same gate
        as any; `data` has the `task` that carries it, and `pull`. Idempotent. Conflict if it is not merged, or what
        landed since stands in the way."""
        ...

    async def stop_task(self, key: TaskKey) -> Answer:
        """End the run at work and block the task; its work is kept."""
        ...

    async def block_task(self, key: TaskKey, *, why: str) -> Answer: ...

    async def unblock_task(self, key: TaskKey) -> Answer: ...

    async def delegate_task(self, key: TaskKey, *, accept: bool) -> Answer:
        """A person's word about the sub-tasks that its author proposes. Conflict if it proposes none."""
        ...

    async def start_task(self, key: TaskKey) -> Answer:
        """Have it start although it depends on issues that are not closed as completed. Conflict once it has."""
        ...

    async def claim_pull(self, pull: str) -> Answer:
        """Look after somebody's pull request (its address, `owner/repo#7`, `repo#7` or `7`) as if it were Nightcrew's
        own; `data` has `task`. Conflict where that cannot be done: it is closed, or in a fork."""
        ...

    async def review_pull(self, pull: str, *, again: bool = False) -> Answer:
        """Have a pull request reviewed at its head, once unless `again`; `data` has `task`. Conflict if it is
        closed."""
        ...

    async def close_task(self, key: TaskKey) -> Answer:
        """Close the issue without merging; a run at work is ended, its work kept."""
        ...

    async def comment_task(self, key: TaskKey, *, text: str) -> Answer:
        """Write a comment on the issue, as the person: it answers a question, and commands in it are obeyed."""
        ...

    async def say_to(self, key: TaskKey, word: Word) -> Answer:
        """Send a message to the task's agent, as the next turn of its own session; `data` has `message` (its name) and
        `state`. Invalid if it is empty or too long; Conflict if the task is done, or nobody is there to hear it."""
        ...

    async def list_runs(self, *, task: TaskKey | None = None, limit: int = 50) -> tuple[Run, ...]: ...

    async def get_run(self, run: RunId) -> RunDetail: ...

    async def read_log(self, run: RunId, *, offset: int = 0, limit: int = 65_536, raw: bool = False) -> LogPiece: ...

    async def list_events(
        self, *, after: int = 0, limit: int = 200, task: TaskKey | None = None
    ) -> tuple[Event, ...]: ...

    def subscribe(self) -> AsyncIterator[Event]:
        """Facts as they happen, in order. The engine reads them from the store: a slow reader gets them late and misses
        none. An implementation that has to leave some out gives one of kind `bus.gap` in their place."""
        ...

    async def set_paused(self, *, paused: bool, project: str | None = None) -> Answer:
        """Paused: no new work starts; what runs goes on, is collected, reviewed and merged."""
        ...

    async def drain(self) -> Answer:
        """Take no new work, and end when no run lives any more."""
        ...

    async def attach_argv(self, key: TaskKey) -> Sequence[str]:
        """The command that attaches a terminal to the task's session. Missing if none lives."""
        ...

    async def list_cooldowns(self) -> tuple[Cooldown, ...]:
        """Those in force, the one that ends first before the others."""
        ...

    async def clear_cooldowns(self, *, agent: str | None, model: str | None = None) -> Answer:
        """Use an agent again, with all its models, or one model of it; `agent` None: all of them. Their counting begins
        anew. Missing if there is no such agent; a model is named as the list names it. Works without a running service
        too."""
        ...

    async def list_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        """What CLIs said of failures that no pattern knows, the newest first."""
        ...

    async def list_flakes(self, *, project: str | None = None) -> tuple[Flake, ...]:
        """Checks and tests that passed when they were run again, the most frequent first."""
        ...

    async def list_notices(self, *, after: int = 0, limit: int = 50) -> tuple[Notice, ...]:
        """The newest of what people were or are to be told, after the one with that id, oldest first."""
        ...

    async def set_subscription(self, receiver: str, *, project: str | None, is_on: bool) -> Answer:
        """Send notices of a project (None: of all) to a place in a chat, such as `telegram:12`, or no more."""
        ...

    async def list_boards(self) -> tuple[BoardStatus, ...]:
        """Those of the projects that have one."""
        ...

    async def sync_board(self, project: str, *, create: bool = False) -> Answer:
        """Have every card in its column now; cards that were taken off the board are put on it again. `create` makes
        the field and the columns that are lacking. Invalid if the project has no board; Conflict with what stands in
        the way."""
        ...

    async def test_notices(self, receiver: str | None) -> Answer:
        """Send a test to one receiver of notices, or to all; `data` says by name what came of it."""
        ...

    async def examine(self, *, fix: bool) -> tuple[Diagnosis, ...]:
        """Sessions, workspaces, labels, branches, and tasks against their issues and pull requests, as they are now.
        `fix` puts right what can be without a person and without losing anything."""
        ...

    async def prune(self, *, dry_run: bool) -> Answer:
        """Take away what is over (docs/service.md); `data` has `count` and `bytes` by kind, with `dry_run` also
        `used`, bytes by part of the home."""
        ...

    async def search_memory(self, text: str, *, project: str | None = None, limit: int = 20) -> tuple[Memory, ...]:
        """What runs learned: the nearest to `text` first, or without a text the newest first."""
        ...

    async def forget_memory(self, run: RunId) -> Answer:
        """Show what that run learned to nobody any more. Missing if there is no such run."""
        ...

    async def wake(self) -> Answer:
        """Look now instead of at the next tick."""
        ...

    async def reload_config(self) -> Answer:
        """Read the configuration now and take up what can be; `data` has `changes` and `needs_restart`, one line a
        key. ConfigError with every problem if it is not taken up: then the last good one stays in force."""
        ...

    async def check_health(self) -> Health:
        """Whether the loop does what it should. Costs nothing, and never fails."""
        ...

    async def measure(self) -> tuple[Measure, ...]:
        """Counts and sizes of now."""
        ...

    async def render_config(self) -> Mapping[str, object]:
        """The settings in force, as plain values; secrets only as references."""
        ...
