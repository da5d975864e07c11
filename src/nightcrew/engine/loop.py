"""The loop: observe, decide, act, on one screen. One tick at a time; a wake during a tick means one more."""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from nightcrew.core.decide import Decision, decide
from nightcrew.core.errors import PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.world import World
from nightcrew.engine.act import Actor
from nightcrew.engine.beat import Beat
from nightcrew.engine.effect.means import Means
from nightcrew.engine.model_list import watch_models
from nightcrew.engine.reload import Reloader, Source, watch_settings
from nightcrew.engine.watch import watch_runs

LEAST_REST_S, MOST_REST_S = 0.005, 0.05
"""Bounds of the rest that every tick is followed by, woken or not. It is a quarter of what the tick took, so that
wakes in a row leave time to others, and what follows an action is hardly kept waiting."""


@dataclass(slots=True)
class LoopState:
    """What the last tick came to, for those who ask."""

    ticks: int = 0
    last_tick_at: datetime | None = None
    next_tick_at: datetime | None = None
    world: World | None = None
    problem: str = ""
    took_s: float = 0.0
    """How long all ticks took together."""
    decision: Decision = field(default_factory=Decision)


class Loop:
    """Ticks until it is stopped. It holds what is in force (`means`)."""

    def __init__(
        self,
        means: Means,
        *,
        dump: Callable[[World, str], None],
        on_tick: Callable[[LoopState], None] | None = None,
        source: Source | None = None,
    ) -> None:
        """`dump` writes a world down. `source` is where settings come from; None: they stay as they are."""
        self.means = means
        self._dump = dump
        self._on_tick = on_tick
        self._woken = asyncio.Event()
        self._stop = asyncio.Event()
        self._ticked = asyncio.Event()
        self._failed: dict[TaskKey, str] = {}
        self.is_draining = False
        self.state = LoopState()
        self.beat = Beat(means.ports.clock)
        self.actor = Actor(means, wake=self.wake)
        self.reloader = Reloader(source, wake=self.wake)

    def wake(self) -> None:
        """Look again soon: something may have happened."""
        self._woken.set()

    def adopt(self, means: Means) -> None:
        """Put what is in force from now on in the place of what was. Only between two ticks."""
        self.means = means
        means.observer.adopt(means.ports, means.settings)
        self.actor.adopt(means)

    def stop(self) -> None:
        """End after what is under way. Runs go on without the service."""
        self._stop.set()
        self.wake()

    def drain(self) -> None:
        """Take no new work, and stop by itself when no run lives and nothing is left to do about those that did."""
        self.is_draining = True
        self.wake()

    async def stopped(self) -> None:
        """Wait until somebody says stop."""
        await self._stop.wait()

    async def ticked(self) -> None:
        """Wait until the first tick is over."""
        await self._ticked.wait()

    async def run(self) -> None:
        """Tick until stopped; then let actions under way end."""
        clock = self.means.ports.clock
        async with asyncio.TaskGroup() as group:
            watchers = [
                group.create_task(watch_runs(lambda: self.means.ports, self.wake), name="watch"),
                group.create_task(watch_settings(self.reloader, self.wake), name="settings"),
                group.create_task(watch_models(lambda: self.means, self.wake), name="models"),
            ]
            while not self._stop.is_set():
                self._woken.clear()
                began = clock.monotonic()
                self.beat.begin()
                try:
                    await self.reloader.turn(self)
                    with self.means.ports.tracer.span("tick"):
                        await self.tick(group)
                except (PortError, OSError) as error:
                    # The store does not answer (locked, read-only), or the disk is full: nothing is decided until it
                    # does.
                    self.state = replace(self.state, problem=str(error))
                await self._rest(clock.monotonic() - began)
            for watcher in watchers:
                watcher.cancel()

    async def tick(self, group: asyncio.TaskGroup) -> None:
        """One pass."""
        began_s = self.means.ports.clock.monotonic()
        world = await self.means.observer.observe(
            group,
            in_flight=self.actor.in_flight,
            deferred=self.actor.deferred(),
            draining=self.is_draining,
            wake=self.wake,
        )
        decision = self._decide(world)
        if not self._stop.is_set():
            for action in decision.actions:
                self.actor.start(action, group, world=world)
        now = self.means.ports.clock.now()
        took_s = self.state.took_s + self.means.ports.clock.monotonic() - began_s
        self.state = LoopState(self.state.ticks + 1, now, decision.wake_at, world, took_s=took_s, decision=decision)
        self._ticked.set()
        if self.is_draining and _is_drained(world, decision) and not self.actor.in_flight:
            self.stop()
        if self._on_tick is not None:
            self._on_tick(self.state)

    def _decide(self, world: World) -> Decision:
        """The decision. A world about which none can be made is written down, once as long as it fails the same way."""
        try:
            decision = decide(world)
        except Exception:
            self._dump(world, traceback.format_exc())
            raise
        for key, trace in decision.errors.items():
            if self._failed.get(key) != trace:
                self._dump(world, f"{key}: {trace}")
        self._failed = dict(decision.errors)
        return decision

    async def _rest(self, took_s: float) -> None:
        """Until the time that the decision named, or a wake."""
        await asyncio.sleep(min(max(took_s / 4, LEAST_REST_S), MOST_REST_S))
        wake_at = self.state.next_tick_at
        pause_s = min(self.means.settings.interval_s, self.means.observer.pause_s())
        if wake_at is not None:
            pause_s = min(pause_s, max(0.0, (wake_at - self.means.ports.clock.now()).total_seconds()))
        self.beat.rest(pause_s)
        try:
            async with asyncio.timeout(pause_s):
                await self._woken.wait()
        except TimeoutError:
            return


def _is_drained(world: World, decision: Decision) -> bool:
    """Whether no run lives, none has yet to be collected, and nothing else is to be done now."""
    return not decision.actions and not any(view.live for project in world.projects.values() for view in project.tasks)
