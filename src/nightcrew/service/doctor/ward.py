"""The engine's own things, looked at while no service runs: with the real sessions, worktrees and forges, and without a
loop."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.config.spelling import hold_spelling
from nightcrew.core.errors import NightcrewError
from nightcrew.core.model.settings import Settings
from nightcrew.engine.bus import Bus
from nightcrew.engine.doctor import Ward
from nightcrew.engine.effect.means import Means
from nightcrew.engine.journal import Journal
from nightcrew.engine.observe import Observer
from nightcrew.engine.ports import Ports
from nightcrew.ports.store import Store
from nightcrew.process import clean_environment
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.secret import Vault
from nightcrew.service.clock import SystemClock, SystemIds
from nightcrew.service.compose import load_spellings
from nightcrew.service.connection import Connections, Credentials, list_secrets, resolve_tokens, used_forges
from nightcrew.service.lock import held
from nightcrew.store.copy import copy_database
from nightcrew.store.sqlite import SqliteStore
from nightcrew.workspaces.worktree import GitWorkspaces


@asynccontextmanager
async def open_ward(home: Home, settings: Settings, *, fix: bool) -> AsyncIterator[Ward]:
    """Without `fix` the store is a copy, and nothing is changed. With it the home is locked, so that no service starts
    meanwhile: Conflict if one runs. Forges whose token is not to be had are not opened."""
    clock = SystemClock()
    tokens, closed = await _credentials(home, settings)
    vault = Vault(list_secrets(tokens))
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(_opened(home, clock, fix=fix))
        settings = hold_spelling(settings, await load_spellings(store))
        connections = await stack.enter_async_context(Connections(home, store=store, clock=clock, learn=vault.learn))
        projects = {slug: one for slug, one in settings.projects.items() if one.forge not in closed}
        reachable = replace(settings, projects=projects)
        await connections.open(reachable, tokens)
        ports = Ports(
            store=store,
            clock=clock,
            ids=SystemIds(clock),
            runtime=TmuxRuntime(home.root),
            workspace=GitWorkspaces(home.root, clock),
            forges=connections.forges,
            agents={},
            home=home.root,
            resolve_env=lambda _agent: {},
            find_program=shutil.which,
            overlay=lambda project, _text: project,
            base_env=clean_environment,
            mask=vault.mask,
        )
        journal = Journal(store, clock, mask=vault.mask)
        yield Ward(Means(ports, settings, journal, Observer(ports, reachable), Bus(store)), closed=closed)


@asynccontextmanager
async def _opened(home: Home, clock: SystemClock, *, fix: bool) -> AsyncIterator[Store]:
    if fix:
        home.ensure()
        with held(home.lock):
            async with SqliteStore.open(home.database, clock=clock) as store:
                yield store
        return
    with tempfile.TemporaryDirectory(prefix="nightcrew-doctor-") as folder:
        copy = Path(folder) / home.database.name
        if home.database.is_file():
            await asyncio.to_thread(copy_database, home.database, copy)
        async with SqliteStore.open(copy, clock=clock) as store:
            yield store


async def _credentials(home: Home, settings: Settings) -> tuple[dict[str, Credentials], dict[str, str]]:
    """What each forge is opened with, and why some cannot be."""
    found: dict[str, Credentials] = {}
    closed: dict[str, str] = {}
    for forge in used_forges(settings):
        try:
            found |= await resolve_tokens(home, [forge])
        except NightcrewError as error:
            closed[forge.name] = str(error)
    return found, closed
