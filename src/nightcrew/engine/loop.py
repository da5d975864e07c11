"""The loop: observe, decide, act, on one screen. One tick at a time; a wake during a tick means one more."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from nightcrew.core.decide import Decision, decide
from nightcrew.core.errors import Unavailable
from nightcrew.core.model.world import World
from nightcrew.engine.act import Actor
from nightcrew.engine.effect.means import Means
from nightcrew.engine.watch import watch_runs

LEAST_BETWEEN_TICKS_S = 0.05


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
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(watch_runs(self._means.ports, self.wake), name="watch")
            while not self._stop.is_set():
                self._woken.clear()
                try:
                    await self.tick(group)
                except Unavailable as error:
                    # The store does not answer (locked, disk full): nothing is decided until it does.
                    self.state = replace(self.state, problem=str(error))
                await self._rest()
            watcher.cancel()

    async def tick(self, group: asyncio.TaskGroup) -> None:
        """One pass."""
        world = await self._means.observer.observe(
            group, in_flight=self.actor.in_flight, deferred=self.actor.deferred(), wake=self.wake
        )
        decision = decide(world)
        for key, trace in decision.errors.items():
            self._dump(world, f"{key}: {trace}")
        if not self._stop.is_set():
            for action in decision.actions:
                self.actor.start(action, group)
        now = self._means.ports.clock.now()
        self.state = LoopState(self.state.ticks + 1, now, decision.wake_at, world, decision=decision)
        if self._on_tick is not None:
            self._on_tick(self.state)

    async def _rest(self) -> None:
        """Until the time that the decision named, or a wake."""
        await asyncio.sleep(LEAST_BETWEEN_TICKS_S)
        wake_at = self.state.next_tick_at
        pause_s = self._means.settings.interval_s
        if wake_at is not None:
            pause_s = min(pause_s, max(0.0, (wake_at - self._means.ports.clock.now()).total_seconds()))
        try:
            async with asyncio.timeout(pause_s):
                await self._woken.wait()
        except TimeoutError:
            return
