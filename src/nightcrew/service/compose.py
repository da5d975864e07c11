"""The composition root: which concrete classes are used, and how they are put together."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.job import add_job_files
from nightcrew.config.layer import parse_project_file
from nightcrew.config.load import Configuration
from nightcrew.config.render import render_settings
from nightcrew.config.secret import is_reference, looks_secret, resolve_secret
from nightcrew.config.skill_file import parse_skill
from nightcrew.config.spelling import find_spelling, hold_spelling
from nightcrew.core.errors import ConfigError
from nightcrew.core.known import Known
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, Settings
from nightcrew.core.model.world import World
from nightcrew.engine.bus import Bus
from nightcrew.engine.effect.means import Means
from nightcrew.engine.journal import Boundary, Journal
from nightcrew.engine.loop import Loop
from nightcrew.engine.observe import Observer
from nightcrew.engine.ports import Ports
from nightcrew.engine.reading import Reader, Show, Sight
from nightcrew.ports.agent import Agent
from nightcrew.ports.store import Store
from nightcrew.process import clean_environment
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.secret import Vault
from nightcrew.service.adapter import load_agents
from nightcrew.service.chat import ChatPart, make_discord, make_telegram
from nightcrew.service.clock import SystemClock, SystemIds
from nightcrew.service.connection import Connections, Credentials, list_secrets, resolve_tokens, used_forges
from nightcrew.service.dump import dump_world
from nightcrew.service.log import ProblemLog, mask_log, say_effect
from nightcrew.service.machine import ensure_machine
from nightcrew.service.model_list import list_models
from nightcrew.service.notice import NoticePart
from nightcrew.service.reload import FileSource, Fit
from nightcrew.service.room import find_free_bytes, find_lack_of_room
from nightcrew.service.sandbox import Sandboxes, find_bounds, find_sandbox_problems
from nightcrew.service.show import render_output
from nightcrew.service.tracing import Tracing
from nightcrew.service.url import project_url
from nightcrew.service.webhook import WebhookPart, read_secret
from nightcrew.store.sqlite import SqliteStore
from nightcrew.version import VERSION
from nightcrew.workspaces.claim import GitClaims
from nightcrew.workspaces.skill import GitSkills
from nightcrew.workspaces.worktree import GitWorkspaces

if TYPE_CHECKING:
    from nightcrew.engine.facade import Facade


@dataclass(frozen=True, slots=True)
class Composed:
    """Everything of a running service, put together and not started."""

    settings: Settings
    means: Means
    loop: Loop
    ports: Ports
    webhook: WebhookPart
    chats: tuple[ChatPart, ...]
    notices: NoticePart
    tracing: Tracing
    open_facade: Callable[[], "Facade"]
    """Makes it, the first time: loading what orders do takes a while, and the first look needs none of it."""

    @property
    def facade(self) -> "Facade":
        return self.open_facade()


@asynccontextmanager
async def composed(
    home: Home,
    configuration: Configuration,
    *,
    boundary: Boundary | None = None,
    outside_of: Home | None = None,
) -> AsyncIterator[Composed]:
    """The service over `home`, closed in order at the end. `outside_of` looks at the sessions and the local forge of
    another home (for a dry run on a copy). `boundary` is called around every effect."""
    settings = configuration.apply()
    clock = SystemClock()
    # What the person has to put right is found before anything is opened or made.
    agents, sandboxes = load_agents(settings), Sandboxes()
    await _check_sandboxes(settings, agents, sandboxes)
    if settings.webhook.listen:
        read_secret(outside_of or home, settings.webhook)
    tokens = await resolve_tokens(outside_of or home, used_forges(settings))
    vault = _vault(home, settings, tokens)
    mask_log(vault.mask)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(home.database, clock=clock))
        connections = await stack.enter_async_context(
            Connections(outside_of or home, store=store, clock=clock, learn=vault.learn)
        )
        await connections.open(settings, tokens)
        spellings = await load_spellings(store)
        settings = hold_spelling(settings, spellings)
        tracing = Tracing(lambda: loop.means.settings.upkeep.tracing.endpoint)
        workspace = GitWorkspaces(home.root, clock, emails=_emails(settings))
        workspace.sign_with(settings.git)
        ports = Ports(
            store=store,
            clock=clock,
            ids=SystemIds(clock),
            runtime=TmuxRuntime((outside_of or home).root),
            workspace=workspace,
            # A dry run takes nothing from the home that it is a copy of.
            claims=GitClaims(home.root, clock) if outside_of is None else None,
            machine=ensure_machine(home),
            skills=GitSkills(home.root, parse_skill),
            forges=connections.forges,
            agents=agents,
            home=home.root,
            resolve_env=_resolver(home, vault),
            find_program=shutil.which,
            overlay=_overlay(configuration),
            add_jobs=add_job_files,
            base_env=clean_environment,
            mask=vault.mask,
            mask_folder=lambda folder: asyncio.to_thread(vault.mask_folder, folder),
            scan=vault.scan,
            find_sandbox=sandboxes.find,
            list_models=list_models,
            tracer=tracing,
            free_bytes=partial(find_free_bytes, home.root),
        )
        bus = Bus(store)
        observer = Observer(ports, settings)
        journal = Journal(store, clock, boundary=boundary, mask=vault.mask, say=say_effect, tracer=tracing)
        means = Means(ports, settings, journal, observer, bus)
        fit = _fit(home, vault, workspace, sandboxes)
        source = FileSource(home, configuration, connections, fit=fit, spellings=spellings)
        problems = ProblemLog(clock.monotonic)
        loop = Loop(
            means,
            dump=lambda world, words: dump_world(home.logs, world, words),
            on_tick=lambda _state: problems.tell(observer.problems()),
            source=source,
        )
        started_at = clock.now()
        webhook = WebhookPart(home, clock, loop=loop, learn=vault.learn)
        reader = Reader(
            store,
            clock,
            lambda: loop.means.settings,
            home=home.root,
            version=VERSION,
            sight=lambda: replace(_sight(loop, observer, started_at), webhook=webhook.status()),
            show=Show(render_output, project_url(lambda: loop.means.settings), vault.mask),
        )
        telegram = ChatPart(
            "telegram",
            home,
            make=make_telegram,
            wanted=lambda: loop.means.settings.telegram,
            learn=vault.learn,
        )
        discord = ChatPart(
            "discord",
            home,
            make=make_discord,
            wanted=lambda: loop.means.settings.discord,
            learn=vault.learn,
        )
        notices = NoticePart(
            home,
            wanted=lambda: loop.means.settings.notices,
            speakers={telegram.name: telegram, discord.name: discord},
            learn=vault.learn,
        )

        @cache
        def open_facade() -> "Facade":
            from nightcrew.engine.facade import Facade

            return Facade(loop, reader, render_config=render_settings, test_notices=partial(notices.test, clock=clock))

        yield Composed(settings, means, loop, ports, webhook, (telegram, discord), notices, tracing, open_facade)


async def _check_sandboxes(settings: Settings, agents: Mapping[str, Agent], sandboxes: Sandboxes) -> None:
    """ConfigError if an agent could never be started; what is not bounded is said once."""
    bounds = await find_bounds(settings, agents, sandboxes)
    if problems := find_sandbox_problems(bounds):
        raise ConfigError(problems)
    log = structlog.get_logger("service")
    for name, bound in bounds.items():
        if bound.level == "warning":
            log.warning("agent without a sandbox", agent=name, why=bound.words, hint=bound.hint)


async def load_spellings(store: Store) -> frozenset[str]:
    """The names under which projects are kept."""
    return frozenset(task.key.project for task in await store.load_tasks(include_done=True))


def _emails(settings: Settings) -> tuple[str, ...]:
    return tuple(dict.fromkeys(project.commit.email for project in settings.projects.values())) or (
        "{agent}@nightcrew.invalid",
    )


def _vault(home: Home, settings: Settings, tokens: Mapping[str, Credentials]) -> Vault:
    """What is secret as far as is known at the start. An agent whose secrets cannot be had now is learned about when
    it is started."""
    vault = Vault(list_secrets(tokens))
    _learn_env(home, settings, vault)
    return vault


def _learn_env(home: Home, settings: Settings, vault: Vault) -> None:
    resolve = _resolver(home, vault)
    for agent in settings.agents.values():
        with suppress(ConfigError):
            resolve(agent)


def _resolver(home: Home, vault: Vault) -> Callable[[AgentSettings], Mapping[str, str]]:
    def resolve(agent: AgentSettings) -> Mapping[str, str]:
        environ = load_environment()
        values = {
            name: resolve_secret(value, f"agents.{agent.name}.env.{name}", environ=environ, base=home.root).reveal()
            for name, value in agent.env.items()
        }
        # What is written out in the configuration and looks like no secret is an address or a model's name.
        vault.learn(
            values[name] for name, value in agent.env.items() if is_reference(value) or looks_secret(name, value)
        )
        return values

    return resolve


def _overlay(configuration: Configuration) -> Callable[[ProjectSettings, str], ProjectSettings]:
    def apply(project: ProjectSettings, text: str) -> ProjectSettings:
        overlay = parse_project_file(text, f"{project.slug}:.nightcrew.yml")
        written = find_spelling(project.slug, configuration.apply().projects) or project.slug
        return replace(configuration.apply({written: overlay}).projects[written], slug=project.slug)

    return apply


def _fit(home: Home, vault: Vault, workspace: GitWorkspaces, sandboxes: Sandboxes) -> Fit:
    """What other settings mean for the ports, beside agents and forges. ConfigError if an agent could not start."""

    async def fit(ports: Ports, settings: Settings, configuration: Configuration) -> Ports:
        if problems := find_sandbox_problems(await find_bounds(settings, ports.agents, sandboxes)):
            raise ConfigError(problems)
        if settings.webhook.listen:
            read_secret(home, settings.webhook)
        workspace.recognise(_emails(settings))
        workspace.sign_with(settings.git)
        _learn_env(home, settings, vault)
        return replace(ports, overlay=_overlay(configuration))

    return fit


def _sight(loop: Loop, observer: Observer, started_at: datetime) -> Sight:
    state = loop.state
    world: World | None = state.world
    agents = world.agents if world is not None else {}
    least_mb, was_full = loop.means.settings.upkeep.least_free_mb, world is not None and world.was_full
    of_all = (state.problem, find_lack_of_room(loop.means.ports.home, least_mb=least_mb, was_full=was_full))
    return Sight(
        running=True,
        ticks=state.ticks,
        started_at=started_at,
        last_tick_at=state.last_tick_at,
        next_tick_at=state.next_tick_at,
        waits=state.decision.waits,
        agents={name: seen.value if isinstance(seen, Known) else None for name, seen in agents.items()},
        problems=(*filter(None, of_all), *loop.reloader.problems(), *observer.problems()),
        base_refs={
            slug: project.base_ref.value
            for slug, project in (world.projects if world is not None else {}).items()
            if isinstance(project.base_ref, Known)
        },
        pid=os.getpid(),
        draining=loop.is_draining,
        tokens=observer.standings(),
    )


def home_of(path: Path) -> Home:
    """The home at a path, its folders made."""
    home = Home(path)
    home.ensure()
    return home
