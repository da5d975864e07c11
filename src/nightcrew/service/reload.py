"""Settings from files: when they have changed, they are read, checked, and put together with what goes with them. What
is wrong, or needs a restart, is told; nothing is replaced here."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from nightcrew.config.change import find_changes, hold_forges
from nightcrew.config.home import Home
from nightcrew.config.load import Configuration
from nightcrew.config.mark import FileMark
from nightcrew.config.spelling import hold_spelling
from nightcrew.core.errors import ConfigError, NightcrewError, Problem
from nightcrew.core.model.settings import Settings
from nightcrew.engine.effect.means import Means
from nightcrew.engine.ports import Ports
from nightcrew.engine.reload import Fresh
from nightcrew.ports.agent import Agent
from nightcrew.service.adapter import load_agents
from nightcrew.service.connection import Connections
from nightcrew.service.load import load

Fit = Callable[[Ports, Settings, Configuration], Awaitable[Ports]]
"""Puts what depends on the settings into the ports."""


class FileSource:
    """Implements `engine.reload.Source` over the files that a configuration came from."""

    def __init__(
        self,
        home: Home,
        configuration: Configuration,
        connections: Connections,
        *,
        fit: Fit,
        spellings: Iterable[str] = (),
    ) -> None:
        """`spellings` are the names under which projects are kept already."""
        self._home = home
        self._spellings = set(spellings)
        self._connections = connections
        self._fit = fit
        self._configuration = configuration
        self._read = configuration.read_from
        self._seen = self._read

    def look(self) -> bool:
        """Files are read once two looks in a row find them the same: editors write in several steps."""
        before, self._seen = self._seen, _marks(self._read)
        return self._seen == before and self._seen != self._read

    async def read(self, means: Means) -> Fresh:
        """Everything new and right, or what is wrong."""
        if not self._read:
            return Fresh()
        self._read = self._seen = _marks(self._read)
        try:
            return await self._fresh(means)
        except ConfigError as error:
            return Fresh(problems=error.problems)
        except NightcrewError as error:
            return Fresh(problems=(Problem(str(self._home.config), str(error)),))
        except Exception:  # noqa: BLE001 - the boundary: a fault in reading must not end what runs
            words = f"a bug while reading it: {traceback.format_exc(limit=-2)}"
            return Fresh(problems=(Problem(str(self._home.config), words),))

    async def _fresh(self, means: Means) -> Fresh:
        configuration = await asyncio.to_thread(load, self._home)
        before = means.settings
        self._spellings.update(before.projects)
        given = hold_spelling(configuration.apply(), self._spellings)
        settings, held = hold_forges(given, self._connections.opened)
        waiting = tuple(map(str, held))
        settings = replace(settings, generation=before.generation)
        if settings == before and configuration.values == self._configuration.values:
            return Fresh(needs_restart=waiting)
        if settings != before:
            settings = replace(settings, generation=before.generation + 1)
        agents = _agents(means, settings)
        await self._connections.ensure(settings)
        ports = replace(means.ports, agents=agents, forges=self._connections.forges)
        ports = await self._fit(ports, settings, configuration)
        changes = tuple(map(str, find_changes(before, settings)))
        self._configuration = configuration
        return Fresh(replace(means, ports=ports, settings=settings), changes, waiting)


def _marks(files: tuple[FileMark, ...]) -> tuple[FileMark, ...]:
    return tuple(file.again() for file in files)


def _agents(means: Means, settings: Settings) -> dict[str, Agent]:
    """An adapter for each enabled agent; one whose settings are the same keeps the one it has."""
    known, before = means.ports.agents, means.settings.agents
    made = load_agents(settings)
    return {
        name: known[name] if name in known and before[name] == settings.agents[name] else agent
        for name, agent in made.items()
    }
