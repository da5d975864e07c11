"""The keys of config.yml, apart from those of a project. Defaults are those of the core's settings."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, JsonValue

from nightcrew.config.ask import AskKeys
from nightcrew.config.channel import ChannelsKeys
from nightcrew.config.cooldown import CooldownTable
from nightcrew.config.git import GitKeys
from nightcrew.config.notice import NoticesKeys
from nightcrew.config.project import ProjectEntry, ProjectKeys
from nightcrew.config.section import Section
from nightcrew.config.upkeep import UPKEEP, MetricsKeys, RetentionKeys, TracingKeys
from nightcrew.config.value import (
    AgentName,
    Count,
    Duration,
    Folders,
    ForgeName,
    Hosts,
    Listen,
    ModelName,
    Models,
    OneLine,
    TokenReference,
    TokenReferences,
    Truth,
    Url,
    Variable,
    VariableValue,
    Words,
    key,
)
from nightcrew.core.model.forge import ForgeBudget, ForgeSettings, WebhookSettings
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.settings import (
    AgentSettings,
    Limits,
    Network,
    RouterMode,
    RouterSettings,
    SandboxKind,
    Settings,
)

_AGENT = AgentSettings("", "")
_FORGE = ForgeSettings("")
_BUDGET = ForgeBudget()
_ROUTER = RouterSettings()
_LIMITS = Limits()
_WEBHOOK = WebhookSettings()
_DAY_S = 86_400
_RUN: dict[str, Any] = {"ge": 1, "le": _DAY_S}


class AgentKeys(Section):
    """One agent. The name alone (`claude:`) means the adapter of that name with its defaults."""

    adapter: OneLine | None = key("The adapter that drives its CLI; empty: the one named like the agent.", None)
    command: Words = key("Program and first arguments in place of the CLI's own name.", _AGENT.command)
    models: dict[Complexity, Models] = key(
        "Models by complexity (`simple`, `medium`, `complex`): one, or several in order. None: the CLI's own. "
        "`opencode:free` stands for each model that `opencode models` prints with `free` in its name.",
        {},
    )
    review_models: Models = key("Models for reviewing; none: those of the task's complexity.", _AGENT.review_models)
    env: dict[Variable, VariableValue] = key(
        "Variables for its CLI: `env:NAME`, `file:PATH`, or a value that is no secret.", {}
    )
    options: dict[str, JsonValue] = key("What the adapter itself understands.", {})
    max_runs: Count = key("Runs of it at once.", _AGENT.max_runs, ge=1, le=64)
    silence: Duration = key(
        "How long a run may print nothing, with no tool known to be at work, before it is ended as hung; 0: for ever.",
        _AGENT.silence_s,
        ge=0,
        le=_DAY_S,
    )
    enabled: Truth = key("Whether it is used at all.", _AGENT.enabled)
    can_review: Truth = key("Whether it reviews.", _AGENT.can_review)
    can_author: Truth = key("Whether it writes changes.", _AGENT.can_author)
    sandbox: SandboxKind | None = key("The sandbox around it; empty: that of all (see sandbox.md).", _AGENT.sandbox)
    sandbox_read: Folders = key("Files and folders that it may read in its sandbox, besides.", _AGENT.sandbox_read)
    network: Network = key(
        "What it reaches from its sandbox: everything, only the model's hosts (`vendor`), or nothing.", _AGENT.network
    )
    hosts: Hosts = key("Hosts that it reaches, besides the model's, where `network` is `vendor`.", _AGENT.hosts)


class AppKeys(Section):
    """A GitHub App that Nightcrew is on a forge, in the place of a person's token."""

    id: Count = key("The App's id.", reload="restart", ge=1)
    installation: Count = key("The id of its installation (the number at the end of that page's address).",
                              reload="restart", ge=1)  # fmt: skip
    private_key: TokenReference = key(
        "Its private key (PEM), as `file:PATH` or `env:NAME`.", reload="restart", min_length=1
    )


class BudgetShareKeys(Section):
    """What is kept of a token's hourly limit, in percent of it."""

    slow: Count = key(
        "With less than this left, lists are read less often.", _BUDGET.slow, reload="restart", ge=0, le=100
    )
    stop: Count = key(
        "With less than this left, lists are not read; what is at work, merges and commands go on.",
        _BUDGET.stop,
        reload="restart",
        ge=0,
        le=100,
    )
    reserve: Count = key("This much is never used.", _BUDGET.reserve, reload="restart", ge=0, le=50)


class ForgeKeys(Section):
    """One GitHub-compatible server. `github` and `local` need no entry."""

    kind: Literal["github", "local"] = key(
        "`github`, or `local` for the embedded forge.", _FORGE.kind, reload="restart"
    )
    base_url: Url = key(
        "Where its API answers; empty: GitHub's own, or for `local` the one inside the service.", "", reload="restart"
    )
    token: TokenReference = key(
        "The token, as `env:NAME` or `file:PATH`; empty: from the usual places.", _FORGE.token, reload="restart"
    )
    tokens: TokenReferences = key(
        "More tokens, each as `env:NAME` or `file:PATH`; projects are spread over all.", _FORGE.tokens, reload="restart"
    )
    app: AppKeys | None = key("A GitHub App to be, instead of the token's owner.", None, reload="restart")
    budget: BudgetShareKeys = key("What is kept of a token's hourly limit.", BudgetShareKeys())
    write_interval: Duration = key(
        "The least time between two writes.", _FORGE.write_interval_s, reload="restart", ge=0, le=3600
    )


class WebhookKeys(Section):
    """Deliveries of webhooks, which have the service look at once. See webhook.md."""

    listen: Listen = key(
        "Where to listen for them, as `127.0.0.1:PORT` (port 0: a free one); empty: nowhere.", _WEBHOOK.listen
    )
    secret: TokenReference = key(
        "What they are signed with, as `env:NAME` or `file:PATH`; read when it starts to listen. Needed with `listen`.",
        _WEBHOOK.secret,
    )
    allow_remote: Truth = key("Whether `listen` may be an address that other machines reach.", _WEBHOOK.allow_remote)


class RouterKeys(Section):
    """Who gets a task that no label decides."""

    mode: RouterMode = key("`round_robin` takes turns; `model` asks a model how hard the task is.", _ROUTER.mode)
    agent: AgentName | None = key("The agent that is asked in mode `model`.", None)
    model: ModelName | None = key("Its model; empty: the CLI's default.", None)
    timeout: Duration = key("How long to wait for its answer.", _ROUTER.timeout_s, ge=1, le=3600)


class TimeoutKeys(Section):
    """How long an author run may take, by complexity."""

    simple: Duration = key("Of a simple task.", _LIMITS.timeouts_s[Complexity.SIMPLE], **_RUN)
    medium: Duration = key("Of a medium task.", _LIMITS.timeouts_s[Complexity.MEDIUM], **_RUN)
    complex: Duration = key("Of a complex task.", _LIMITS.timeouts_s[Complexity.COMPLEX], **_RUN)


class LimitKeys(Section):
    """Bounds of all projects together."""

    max_runs: Count = key("Runs at once in all.", _LIMITS.max_runs, ge=1, le=256)
    timeouts: TimeoutKeys = key("How long an author run may take, by complexity.", TimeoutKeys())
    review_timeout: Duration = key("How long a reviewer run may take.", _LIMITS.review_timeout_s, **_RUN)


def _nothing_is_none(value: object) -> object:
    return [] if value is None else value


def _nothing_is_empty(value: object) -> object:
    return {} if value is None else value


class ConfigFile(Section):
    """config.yml."""

    projects: Annotated[tuple[ProjectEntry, ...], BeforeValidator(_nothing_is_none)] = key(
        "The repositories to look after.", ()
    )
    defaults: ProjectKeys = key("What holds for each project that does not say otherwise.", ProjectKeys())
    agents: Annotated[dict[AgentName, AgentKeys], BeforeValidator(_nothing_is_empty)] = key(
        "The coding CLIs to use, by name.", {}
    )
    forges: Annotated[dict[ForgeName, ForgeKeys], BeforeValidator(_nothing_is_empty)] = key(
        "The servers, by name. One that a project uses stays as it was opened until a restart.", {}
    )
    git: GitKeys = key("Commits that Nightcrew makes itself.", GitKeys())
    webhook: WebhookKeys = key("Deliveries of webhooks, which have the service look at once.", WebhookKeys())
    channels: ChannelsKeys = key("The chats that Nightcrew is talked to in.", ChannelsKeys())
    notices: NoticesKeys = key("Who is told what happened, and what waits for them.", NoticesKeys())
    router: RouterKeys = key("Who gets a task that no label decides.", RouterKeys())
    limits: LimitKeys = key("Bounds of all projects together.", LimitKeys())
    ask: AskKeys = key("Questions that people ask.", AskKeys())
    sandbox: SandboxKind = key(
        "The sandbox around agents, setup commands and checks; `auto`: that of this system, if it works.",
        Settings().sandbox,
    )
    cooldowns: CooldownTable = key("How long agents and models rest, by kind of failure.", CooldownTable())
    interval: Duration = key("Time between two looks at a project.", Settings().interval_s, ge=0.1, le=3600)
    interval_min: Duration = key(
        "The same for pull requests whose checks run: at first this, then the longer the longer they take, up to "
        "`interval`.",
        Settings().interval_min_s,
        ge=1,
        le=3600,
    )
    interval_max: Duration = key(
        "The most that it is stretched to for a project in which nothing happens: up to twice `interval` after an "
        "hour, this where a webhook tells of news.",
        Settings().interval_max_s,
        ge=1,
        le=3600,
    )
    probe_above: Count = key(
        "With more projects than this on a forge, it is first asked (GraphQL, 50 a request) which may have news.",
        Settings().probe_above,
        ge=0,
        le=100_000,
    )
    metrics: MetricsKeys = key("Measures and health over TCP.", MetricsKeys())
    tracing: TracingKeys = key("Traces by OpenTelemetry.", TracingKeys())
    retention: RetentionKeys = key("How long what is over is kept.", RetentionKeys())
    least_free_mb: Count = key(
        "With less room on the disk (in millions of bytes) nothing new is started.",
        UPKEEP.least_free_mb,
        ge=0,
        le=10**9,
    )
    prevent_sleep: Truth = key("Keep the machine awake while agents are at work.", UPKEEP.prevent_sleep)
