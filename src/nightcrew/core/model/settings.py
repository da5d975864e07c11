"""Everything a person can set, as one frozen value with a generation number. Reading files is not done here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from nightcrew.core.failures import FailureKind
from nightcrew.core.model.board import BoardSettings
from nightcrew.core.model.chat import ChatSettings
from nightcrew.core.model.cooldown import COOLDOWN_RULES, CooldownRule
from nightcrew.core.model.delegation import DelegationSettings
from nightcrew.core.model.forge import ForgeSettings, WebhookSettings
from nightcrew.core.model.git import GitSettings
from nightcrew.core.model.inquiry import AskSettings
from nightcrew.core.model.job import JobSettings
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.model.reaction import ReactionSettings
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.skill import SkillSettings
from nightcrew.core.model.target import NoticeSettings
from nightcrew.core.model.upkeep import UpkeepSettings


class ReviewAllow(Enum):
    """Who may review: another agent, or (an explicit choice) the same agent with another model."""

    OTHER_AGENT = "other_agent"
    OTHER_MODEL = "other_model"


class RouterMode(Enum):
    MODEL = "model"
    ROUND_ROBIN = "round_robin"


class Intake(Enum):
    LABEL = "label"
    ALL = "all"


class SandboxKind(Enum):
    """Means of the operating system that bound what a run sees; `auto` is what this one has, if it works."""

    AUTO = "auto"
    BWRAP = "bwrap"
    SEATBELT = "seatbelt"
    NONE = "none"


class Network(Enum):
    """`open`: the machine's own network, loopback included. `vendor`: only the hosts of the model, by a proxy. `none`:
    only a loopback of the sandbox's own."""

    OPEN = "open"
    VENDOR = "vendor"
    NONE = "none"


class ClaimMode(Enum):
    """Whether tasks are claimed for this machine, so that several may look after one repository."""

    AUTO = "auto"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class CheckCommand:
    """An engine check: a command run in a clean checkout of the merge result, reported as `nightcrew/<name>`."""

    name: str
    argv: tuple[str, ...]
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class SetupCommand:
    """A command that makes a fresh workspace usable."""

    argv: tuple[str, ...]
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """One agent a person has: the adapter that drives its CLI, its models per complexity (first usable one wins; an
    empty table means the CLI's own default), and limits. `options` go to the adapter unread; `env` maps variable
    names to secret references (`env:NAME`, `file:PATH`) or plain values, resolved only when a run starts. `sandbox`
    None is that of all; `sandbox_read` are absolute paths that it may read besides; `hosts` are reached besides the
    model's where `network` is `vendor`."""

    name: str
    adapter: str
    command: tuple[str, ...] = ()
    models: Mapping[Complexity, tuple[str, ...]] = field(default_factory=dict)
    review_models: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    max_runs: int = 2
    silence_s: float = 900.0
    """How long a run may print nothing before it is ended as hung; 0: for ever."""
    enabled: bool = True
    can_review: bool = True
    can_author: bool = True
    sandbox: SandboxKind | None = None
    sandbox_read: tuple[str, ...] = ()
    network: Network = Network.OPEN
    hosts: tuple[str, ...] = ()


class RepositoryJobs(Enum):
    """Which jobs a repository may bring along in its own files: none, those that ask for tasks, or commands as well."""

    OFF = "off"
    TASKS = "tasks"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    cycles: int = 2
    allow: ReviewAllow = ReviewAllow.OTHER_AGENT
    attempts: int = 3


@dataclass(frozen=True, slots=True)
class CommitSettings:
    """How commits are written: the author is the agent; trailers are added as given, `sign_off` adds Signed-off-by."""

    email: str = "{agent}@nightcrew.invalid"
    trailers: tuple[str, ...] = ()
    sign_off: bool = False


@dataclass(frozen=True, slots=True)
class PromptBudget:
    """Characters that each part of a prompt may take."""

    issue: int = 24_000
    comments: int = 24_000
    documents: int = 16_000
    tree: int = 8_000
    findings: int = 16_000
    checks: int = 16_000
    attempts: int = 12_000
    memory: int = 6_000
    skills: int = 24_000


@dataclass(frozen=True, slots=True)
class Budget:
    """What a task may use over all its roles until a person resets it; None: not limited. Tokens and cost are known
    only where a CLI tells them, and what is not told is not counted."""

    runs: int | None = None
    wall_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class ParentMode(Enum):
    """What becomes of an issue whose sub-issues are all closed: it is worked on itself, or closed."""

    RUN = "run"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class DependencySettings:
    parent: ParentMode = ParentMode.RUN


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """One repository that Nightcrew looks after."""

    slug: str
    forge: str = "github"
    base_ref: str | None = None
    intake: Intake = Intake.LABEL
    intake_label: str = "nightcrew"
    max_runs: int = 3
    attempts: int = 3
    budget: Budget = Budget()
    cycles_cooldown_s: float = 3600.0
    """How long the author of a pull request may be cooled before its changes go to another agent."""
    claim: ClaimMode = ClaimMode.AUTO
    claim_expiry_s: float = 1800.0
    """How long a machine's claim on a task lasts without being renewed."""
    merge: MergeSettings = MergeSettings()
    review: ReviewSettings = ReviewSettings()
    reactions: ReactionSettings = ReactionSettings()
    dependencies: DependencySettings = DependencySettings()
    delegation: DelegationSettings = DelegationSettings()
    board: BoardSettings = BoardSettings()
    commit: CommitSettings = CommitSettings()
    prompt: PromptBudget = PromptBudget()
    checks: tuple[CheckCommand, ...] = ()
    setup: tuple[SetupCommand, ...] = ()
    copy_files: tuple[str, ...] = ()
    source: str = ""
    """The checkout that `copy_files` come from; it is only read."""
    sandbox_read: tuple[str, ...] = ()
    """Absolute paths that setup commands, checks and agents of the project may read besides."""
    network: Network = Network.OPEN
    """Of setup commands and checks: `open` or `none`."""
    instructions: str = ""
    agent_settings: bool = False
    """Whether agents' CLIs may load the settings that the repository has for them, as they are on the base."""
    jobs: tuple[JobSettings, ...] = ()
    repository_jobs: RepositoryJobs = RepositoryJobs.TASKS
    skills: SkillSettings = SkillSettings()
    scan_allow: tuple[str, ...] = ()
    """Paths in which what only looks like a secret may be pushed."""


@dataclass(frozen=True, slots=True)
class RouterSettings:
    mode: RouterMode = RouterMode.ROUND_ROBIN
    agent: str = ""
    model: str = ""
    timeout_s: float = 90.0


@dataclass(frozen=True, slots=True)
class Limits:
    """`timeouts_s` is the hard deadline of a run by complexity; `review_timeout_s` that of a reviewer."""

    max_runs: int = 4
    timeouts_s: Mapping[Complexity, float] = field(
        default_factory=lambda: {
            Complexity.SIMPLE: 1800.0,
            Complexity.MEDIUM: 3600.0,
            Complexity.COMPLEX: 7200.0,
        }
    )
    review_timeout_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it. Two settings with the same `generation` are the same."""

    projects: Mapping[str, ProjectSettings] = field(default_factory=dict)
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    forges: Mapping[str, ForgeSettings] = field(default_factory=dict)
    router: RouterSettings = RouterSettings()
    limits: Limits = Limits()
    cooldowns: Mapping[FailureKind, CooldownRule] = field(default_factory=lambda: COOLDOWN_RULES)
    interval_s: float = 45.0
    """Between two looks at a project, ordinarily."""
    interval_min_s: float = 10.0
    """The shortest: between two looks at the checks of a pull request in flight."""
    interval_max_s: float = 180.0
    """The longest: between two looks at a project in which nothing happens."""
    probe_above: int = 50
    """With more projects on a forge than this, it is first asked which of them may have news."""
    sandbox: SandboxKind = SandboxKind.AUTO
    webhook: WebhookSettings = WebhookSettings()
    git: GitSettings = GitSettings()
    telegram: ChatSettings = ChatSettings()
    discord: ChatSettings = ChatSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    notices: NoticeSettings = NoticeSettings()
    ask: AskSettings = AskSettings()
    generation: int = 1
