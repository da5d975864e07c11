"""Reloading: what is in force is replaced whole, between two ticks, or stays as it is. How a configuration is read is
not known here."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from nightcrew.core.errors import ConfigError, PortError, Problem, Unavailable
from nightcrew.engine.effect.means import Means

LOOK_EVERY_S = 0.5
PATIENCE_S = 60.0
"""How long somebody who asked for a reload waits: a tick may have to end first."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a reading came to. `means` None: what is in force stays, as nothing is different or something is wrong.
    `changes` and `needs_restart` are in words, one a key; `problems` say why nothing was taken up."""

    means: Means | None = None
    changes: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Source(Protocol):
    """Where settings come from."""

    def look(self) -> bool:
        """Whether there is something to read that was not read before, and rests. Costs a stat a file."""
        ...

    async def read(self, means: Means) -> Fresh:
        """Read and check everything. Never raises for what a person wrote: that is told as problems."""
        ...


class Holder(Protocol):
    """Who holds what is in force."""

    means: Means

    def adopt(self, means: Means) -> None: ...


class Reloader:
    """Asked by people and files, it takes its turn where the loop says, and tells what came of it."""

    def __init__(self, source: Source | None, *, wake: Callable[[], None]) -> None:
        self._source = source
        self._wake = wake
        self._is_due = False
        self._askers: list[asyncio.Future[Fresh]] = []
        self._last = Fresh()

    def look(self) -> bool:
        """Whether the next turn will read."""
        if self._source is not None and self._source.look():
            self._is_due = True
        return self._is_due

    def ask_soon(self) -> None:
        """Read at the next turn, whether anything changed or not."""
        self._is_due = True
        self._wake()

    async def ask(self) -> Fresh:
        """The same, and what came of it. ConfigError with every problem if nothing was taken up."""
        asker: asyncio.Future[Fresh] = asyncio.get_running_loop().create_future()
        self._askers.append(asker)
        self.ask_soon()
        try:
            async with asyncio.timeout(PATIENCE_S):
                fresh = await asker
        except TimeoutError:
            raise Unavailable("the loop did not come to it; `nightcrew status` shows when it has") from None
        if fresh.problems:
            raise ConfigError(fresh.problems)
        return fresh

    def problems(self) -> tuple[str, ...]:
        """What a person should know of the configuration, until it is mended."""
        wrong = [f"the configuration is not taken up, the last good one stays: {it}" for it in self._last.problems]
        return (*wrong, *(f"needs a restart: {words}" for words in self._last.needs_restart))

    async def turn(self, holder: Holder) -> None:
        """Read if somebody asked or a file changed, and replace what is in force."""
        if not self._is_due:
            return
        await _keep_adapters(holder.means)
        # Who asks from here on may have written something after it was read.
        self._is_due, askers, self._askers = False, self._askers, []
        fresh = await self._source.read(holder.means) if self._source is not None else Fresh()
        if fresh.means is not None:
            holder.adopt(fresh.means)
        elif fresh.problems:  # what waits for a restart still does
            fresh = replace(fresh, needs_restart=self._last.needs_restart)
        before, self._last = self._last, fresh
        for asker in askers:
            if not asker.done():
                asker.set_result(fresh)
        await _tell(holder.means, fresh, before)


async def watch_settings(reloader: Reloader, wake: Callable[[], None], *, every_s: float = LOOK_EVERY_S) -> None:
    """Wake the loop once the files of the configuration have changed and rest again. Runs for ever."""
    while True:
        await asyncio.sleep(every_s)
        if reloader.look():
            wake()


async def _keep_adapters(means: Means) -> None:
    """What runs now is read by the adapter that it runs under, whatever is configured by then."""
    for run in await means.ports.store.load_runs(open_only=True):
        adapter = means.ports.agents.get(run.agent)
        if adapter is not None:
            means.started_with.setdefault(run.id, adapter)


async def _tell(means: Means, fresh: Fresh, before: Fresh) -> None:
    """Each new thing once, as a fact that the log shows too."""
    told = []
    if fresh.problems and fresh.problems != before.problems:
        told.append(("config.refused", "; ".join(map(str, fresh.problems))))
    if before.problems and not fresh.problems:
        told.append(("config.mended", "the configuration can be read again"))
    if fresh.changes:
        told.append(("config.reloaded", "; ".join(fresh.changes)))
    waiting = [words for words in fresh.needs_restart if words not in before.needs_restart]
    if waiting:
        told.append(("config.needs_restart", "; ".join(waiting)))
    with suppress(PortError):  # the store is what failed: the next look says so
        for kind, words in told:
            await means.ports.store.record_event(means.event(kind, words))
    if told:
        means.bus.ring()
