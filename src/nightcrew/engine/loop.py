"""The loop: observe, decide, act, on one screen. One tick at a time; a wake during a tick means one more."""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from nightcrew.core.decide import Decision, decide
from nightcrew.core.errors import Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.world import World
from nightcrew.engine.act import Actor
from nightcrew.engine.effect.means import Means
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
    decision: Decision = field(default_factory=Decision)


class Loop:
    """Ticks until it is stopped."""

    def __init__(
        self, means: Means, *, dump: Callable[[World, str], None], on_tick: Callable[[LoopState], None] | None = None
    ) -> None:
        self._means = means
        self._dump = dump
        self._on_tick = on_tick
        self._woken = asyncio.Event()
        self._stop = asyncio.Event()
        self._failed: dict[TaskKey, str] = {}
        self.state = LoopState()
        self.actor = Actor(means, wake=self.wake)

    def wake(self) -> None:
        """Look again soon: something may have happened."""
        self._woken.set()

    def stop(self) -> None:
        """End after what is under way. Runs go on without the service."""
        self._stop.set()
        self.wake()

    async def stopped(self) -> None:
        """Wait until somebody says stop."""
        await self._stop.wait()

    async def run(self) -> None:
        """Tick until stopped; then let actions under way end."""
        clock = self._means.ports.clock
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(watch_runs(self._means.ports, self.wake), name="watch")
            while not self._stop.is_set():
                self._woken.clear()
                began = clock.monotonic()
                try:
                    await self.tick(group)
                except Unavailable as error:
                    # The store does not answer (locked, disk full): nothing is decided until it does.
                    self.state = replace(self.state, problem=str(error))
                await self._rest(clock.monotonic() - began)
            watcher.cancel()

    async def tick(self, group: asyncio.TaskGroup) -> None:
        """One pass."""
        world = await self._means.observer.observe(
            group, in_flight=self.actor.in_flight, deferred=self.actor.deferred(), wake=self.wake
        )
        decision = self._decide(world)
        if not self._stop.is_set():
            for action in decision.actions:
                self.actor.start(action, group)
        now = self._means.ports.clock.now()
        self.state = LoopState(self.state.ticks + 1, now, decision.wake_at, world, decision=decision)
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
        pause_s = self._means.settings.interval_s
        if wake_at is not None:
            pause_s = min(pause_s, max(0.0, (wake_at - self._means.ports.clock.now()).total_seconds()))
        try:
            async with asyncio.timeout(pause_s):
                await self._woken.wait()
        except TimeoutError:
            return
