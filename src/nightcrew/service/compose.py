"""The composition root: which concrete classes are used, and how they are put together."""

import os
import random  # noqa: TID251 - the home of randomness
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.layer import parse_project_file
from nightcrew.config.load import Configuration
from nightcrew.config.render import render_settings
from nightcrew.config.secret import resolve_secret
from nightcrew.core.known import Known
from nightcrew.core.model.settings import AgentSettings, ForgeSettings, ProjectSettings, Settings
from nightcrew.core.model.world import World
from nightcrew.engine.bus import Bus
from nightcrew.engine.effect.means import Means
from nightcrew.engine.facade import Facade
from nightcrew.engine.journal import Boundary, Journal
from nightcrew.engine.loop import Loop
from nightcrew.engine.observe import Observer
from nightcrew.engine.ports import Forge, Ports
from nightcrew.engine.reading import Reader, Sight
from nightcrew.forges.github.forge import GitHubForge
from nightcrew.forges.github.token import resolve_token
from nightcrew.ports.store import Store
from nightcrew.process import clean_environment
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.service.adapter import load_agents
from nightcrew.service.clock import SystemClock, SystemIds
from nightcrew.service.dump import dump_world
from nightcrew.service.local import open_local_forge
from nightcrew.service.show import render_output
from nightcrew.service.url import task_url
from nightcrew.store.sqlite import SqliteStore
from nightcrew.version import VERSION
from nightcrew.workspaces.worktree import GitWorkspaces


@dataclass(frozen=True, slots=True)
class Composed:
    """Everything of a running service, put together and not started."""

    settings: Settings
    means: Means
    loop: Loop
    facade: Facade
    ports: Ports


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
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(home.database, clock=clock))
        ports = Ports(
            store=store,
            clock=clock,
            ids=SystemIds(clock),
            runtime=TmuxRuntime((outside_of or home).root),
            workspace=GitWorkspaces(home.root, clock, emails=_emails(settings)),
            forges=await _forges(stack, outside_of or home, settings, store, clock),
            agents=load_agents(settings),
            home=home.root,
            resolve_env=_resolver(home),
            find_program=shutil.which,
            overlay=_overlay(configuration),
            base_env=clean_environment,
        )
        bus = Bus(store)
        observer = Observer(ports, settings)
        means = Means(ports, settings, Journal(store, clock, boundary=boundary), observer, bus)
        loop = Loop(means, dump=lambda world, words: dump_world(home.logs, world, words))
        started_at = clock.now()
        reader = Reader(
            store,
            clock,
            settings,
            home=home.root,
            version=VERSION,
            sight=lambda: _sight(loop, observer, started_at),
            render_line=render_output,
            task_url=task_url(settings),
        )
        facade = Facade(means, loop, reader, settings=render_settings(settings))
        yield Composed(settings, means, loop, facade, ports)


def _emails(settings: Settings) -> tuple[str, ...]:
    return tuple(dict.fromkeys(project.commit.email for project in settings.projects.values())) or (
        "{agent}@nightcrew.invalid",
    )


async def _forges(
    stack: AsyncExitStack, home: Home, settings: Settings, store: Store, clock: SystemClock
) -> Mapping[str, Forge]:
    """The forges that some project uses."""
    used = {project.forge for project in settings.projects.values()}
    forges: dict[str, Forge] = {}
    for name in sorted(used):
        forge = await _open_forge(stack, home, settings.forges[name], store, clock)
        stack.push_async_callback(forge.close)
        forges[name] = Forge(tracker=forge, scm=forge)
    return forges


async def _open_forge(
    stack: AsyncExitStack, home: Home, settings: ForgeSettings, store: Store, clock: SystemClock
) -> GitHubForge:
    jitter = random.SystemRandom().random
    if settings.kind == "local":
        local = await stack.enter_async_context(open_local_forge(home.forge))
        return local.client(settings, store=store, clock=clock, jitter=jitter)
    token = await resolve_token(settings, environment=load_environment())
    return GitHubForge(settings, token=token, store=store, clock=clock, jitter=jitter)


def _resolver(home: Home) -> Callable[[AgentSettings], Mapping[str, str]]:
    def resolve(agent: AgentSettings) -> Mapping[str, str]:
        environ = load_environment()
        return {
            name: resolve_secret(value, f"agents.{agent.name}.env.{name}", environ=environ, base=home.root).reveal()
            for name, value in agent.env.items()
        }

    return resolve


def _overlay(configuration: Configuration) -> Callable[[ProjectSettings, str], ProjectSettings]:
    def apply(project: ProjectSettings, text: str) -> ProjectSettings:
        overlay = parse_project_file(text, f"{project.slug}:.nightcrew.yml")
        return configuration.apply({project.slug: overlay}).projects[project.slug]

    return apply


def _sight(loop: Loop, observer: Observer, started_at: datetime) -> Sight:
    state = loop.state
    world: World | None = state.world
    agents = world.agents if world is not None else {}
    return Sight(
        running=True,
        ticks=state.ticks,
        started_at=started_at,
        last_tick_at=state.last_tick_at,
        next_tick_at=state.next_tick_at,
        waits=state.decision.waits,
        agents={name: seen.value if isinstance(seen, Known) else None for name, seen in agents.items()},
        problems=(*((state.problem,) if state.problem else ()), *observer.problems()),
        base_refs={
            slug: project.base_ref.value
            for slug, project in (world.projects if world is not None else {}).items()
            if isinstance(project.base_ref, Known)
        },
        pid=os.getpid(),
    )


def home_of(path: Path) -> Home:
    """The home at a path, its folders made."""
    home = Home(path)
    home.ensure()
    return home
