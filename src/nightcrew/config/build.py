"""From validated keys to the core's settings. Nothing is checked here: what arrives is right."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from nightcrew.config.ask import build_ask
from nightcrew.config.board import build_board
from nightcrew.config.channel import build_chat
from nightcrew.config.cooldown import build_cooldowns
from nightcrew.config.delegation import build_delegation
from nightcrew.config.file import AgentKeys, ConfigFile, ForgeKeys
from nightcrew.config.git import build_git
from nightcrew.config.job import build_jobs
from nightcrew.config.notice import build_notices
from nightcrew.config.project import ProjectEntry
from nightcrew.config.reaction import ReactionKeys
from nightcrew.config.section import Section
from nightcrew.config.skill import build_skills
from nightcrew.config.upkeep import build_upkeep
from nightcrew.core.model.forge import (
    AppSettings,
    ForgeBudget,
    ForgeSettings,
    WebhookSettings,
)
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.model.reaction import ReactionAction, ReactionKind, ReactionRule, ReactionSettings
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.settings import (
    AgentSettings,
    Budget,
    CheckCommand,
    CommitSettings,
    DependencySettings,
    Limits,
    Network,
    ProjectSettings,
    PromptBudget,
    ReviewSettings,
    RouterSettings,
    Settings,
    SetupCommand,
)

KNOWN_FORGES = ("github", "local")
"""Forges that may be named without an entry; each is of the kind of that name."""

_GITHUB_URL = ForgeSettings("github").base_url


def build_settings(
    file: ConfigFile, projects: Iterable[ProjectSettings], *, generation: int, expand: Callable[[str], str]
) -> Settings:
    """The settings of a whole configuration, its projects being built already; `expand` replaces `~` in a path."""
    built = {project.slug: project for project in projects}
    used = {project.forge for project in built.values()}
    forges = {name: _build_forge(name, keys) for name, keys in file.forges.items()}
    for name in KNOWN_FORGES:
        if name in used and name not in forges:
            forges[name] = _build_forge(name, ForgeKeys.model_validate({"kind": name}))
    return Settings(
        projects=built,
        agents={name: _build_agent(name, keys, expand) for name, keys in file.agents.items()},
        forges=forges,
        router=RouterSettings(
            mode=file.router.mode,
            agent=file.router.agent or "",
            model=file.router.model or "",
            timeout_s=file.router.timeout,
        ),
        limits=Limits(
            max_runs=file.limits.max_runs,
            timeouts_s={level: getattr(file.limits.timeouts, level.value) for level in Complexity},
            review_timeout_s=file.limits.review_timeout,
        ),
        ask=build_ask(file.ask),
        cooldowns=build_cooldowns(file.cooldowns),
        interval_s=file.interval,
        interval_min_s=file.interval_min,
        interval_max_s=file.interval_max,
        probe_above=file.probe_above,
        sandbox=file.sandbox,
        git=build_git(file.git, expand=expand),
        webhook=WebhookSettings(file.webhook.listen, file.webhook.secret, file.webhook.allow_remote),
        notices=build_notices(file.notices),
        telegram=build_chat(file.channels.telegram),
        discord=build_chat(file.channels.discord),
        upkeep=build_upkeep(
            file.metrics,
            file.tracing,
            file.retention,
            least_free_mb=file.least_free_mb,
            prevent_sleep=file.prevent_sleep,
        ),
        generation=generation,
    )


def build_project(keys: ProjectEntry, *, expand: Callable[[str], str]) -> ProjectSettings:
    """One project; `expand` replaces `~` in a path."""
    return ProjectSettings(
        slug=keys.slug,
        forge=keys.forge,
        base_ref=keys.base_ref,
        intake=keys.intake,
        intake_label=keys.intake_label,
        max_runs=keys.max_runs,
        attempts=keys.attempts,
        budget=Budget(
            runs=keys.budget.runs,
            wall_s=keys.budget.wall,
            tokens=keys.budget.tokens,
            cost_usd=keys.budget.cost,
        ),
        cycles_cooldown_s=keys.cycles_cooldown,
        claim=keys.claim,
        claim_expiry_s=keys.claim_expiry,
        merge=MergeSettings(
            mode=keys.merge.mode,
            strategy=keys.merge.strategy,
            batch=keys.merge.batch,
            queue_timeout_s=keys.merge.queue_timeout,
            method=keys.merge.method,
            fallback=keys.merge.fallback,
            checks_limit_s=keys.merge.checks_limit,
            watch_s=keys.merge.watch,
            update=keys.merge.update,
            allow_without_ci=keys.merge.allow_without_ci,
            required_checks=keys.merge.required_checks,
            protected_paths=keys.merge.protected_paths,
            hold_labels=keys.merge.hold_labels,
        ),
        review=ReviewSettings(cycles=keys.review.cycles, allow=keys.review.allow, attempts=keys.review.attempts),
        board=build_board(keys.board),
        reactions=_build_reactions(keys.reactions),
        dependencies=DependencySettings(keys.dependencies.parent),
        delegation=build_delegation(keys.delegation),
        commit=CommitSettings(email=keys.commit.email, trailers=keys.commit.trailers, sign_off=keys.commit.sign_off),
        prompt=PromptBudget(**keys.prompt.model_dump()),
        checks=tuple(CheckCommand(check.name, check.command, check.timeout) for check in keys.checks),
        setup=tuple(SetupCommand(step.command, step.timeout) for step in keys.setup),
        jobs=build_jobs(keys.jobs),
        repository_jobs=keys.repository_jobs,
        skills=build_skills(keys.skills, expand=expand),
        copy_files=keys.copy_files,
        source=expand(keys.source) if keys.source else "",
        sandbox_read=tuple(expand(path) for path in keys.sandbox_read),
        network=Network(keys.network),
        agent_settings=keys.agent_settings,
        scan_allow=keys.scan_allow,
        instructions=keys.instructions,
    )


def _build_reactions(keys: ReactionKeys) -> ReactionSettings:
    """Every kind has the section of its name; what a section has no key for keeps its default."""
    defaults = ReactionSettings()
    return ReactionSettings(
        **{kind.value: _build_rule(getattr(keys, kind.value), defaults.rule(kind)) for kind in ReactionKind}
    )


def _build_rule(keys: Section, rule: ReactionRule) -> ReactionRule:
    values = {name: getattr(keys, name) for name in type(keys).model_fields}
    if "escalate_after" in values:
        values["escalate_after_s"] = values.pop("escalate_after")
    return replace(rule, **{**values, "action": ReactionAction(values["action"])})


def _build_agent(name: str, keys: AgentKeys, expand: Callable[[str], str]) -> AgentSettings:
    models: Mapping[Complexity, tuple[str, ...]] = {
        level: keys.models[level] for level in Complexity if keys.models.get(level)
    }
    return AgentSettings(
        name=name,
        adapter=keys.adapter or name,
        command=keys.command,
        models=models,
        review_models=keys.review_models,
        env=dict(keys.env),
        options=dict(keys.options),
        max_runs=keys.max_runs,
        silence_s=keys.silence,
        enabled=keys.enabled,
        can_review=keys.can_review,
        can_author=keys.can_author,
        sandbox=keys.sandbox,
        sandbox_read=tuple(expand(path) for path in keys.sandbox_read),
        network=keys.network,
        hosts=keys.hosts,
    )


def _build_forge(name: str, keys: ForgeKeys) -> ForgeSettings:
    return ForgeSettings(
        name=name,
        kind=keys.kind,
        base_url=keys.base_url or (_GITHUB_URL if keys.kind == "github" else ""),
        token=keys.token,
        app=AppSettings(keys.app.id, keys.app.installation, keys.app.private_key) if keys.app is not None else None,
        write_interval_s=keys.write_interval,
        tokens=keys.tokens,
        budget=ForgeBudget(**keys.budget.model_dump()),
    )
