"""The machine that the service runs on: it starts, stops, is killed, is restarted, sleeps, and has its clock set."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from nightcrew.core.errors import NightcrewError, PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.world import World as Observed
from nightcrew.core.reason import Wait
from nightcrew.engine.facade import Facade
from nightcrew.engine.recover import recover
from tests.engine.part import FakeIds, Points
from tests.engine.stage import Stage
from tests.fakes.board import FakeBoards
from tests.fakes.quota import FakeQuota
from tests.simulation.engine.crew import TalkingAgent
from tests.simulation.engine.door import Dead, Door, Life, Witness
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene
from tests.simulation.engine.virtual import NumberedTask
from tests.simulation.engine.weather import Weather

STOP_WITHIN_S = 3.0


class Service(Stage):
    """One process of the service, wired as on the stage of the other tests, with a door before each port."""

    def __init__(
        self, scene: Scene, world: World, weather: Weather, life: Life, *, settings: Settings, home: Path,
        ids: FakeIds, witness: Witness,
    ) -> None:  # fmt: skip
        def door(name: str, behind: Any) -> Any:
            return Door(scene, weather, life, name=name, behind=behind, witness=witness)

        self.home, self.settings, self.ids = home, settings, ids
        self.clock: Any = scene.clock
        self.store, self.forge = door("store", world.store), door("forge", world.forge)
        self.runtime, self.workspace = door("runtime", world.runtime), door("workspace", world.workspace)
        self.agents: Any = {name: TalkingAgent(name) for name in world.agents}
        self.guards, self.missing, self.lookups = {}, set(), []
        self.points, self.boards, self.quota = Points(), FakeBoards(), FakeQuota()
        self.dumps: list[tuple[Observed, str]] = []
        self.start()


class Machine:
    """Keeps one service running, whatever happens to it. `on_tick` is told of every tick, `on_start` of every start
    that recovered."""

    def __init__(
        self, scene: Scene, world: World, weather: Weather, *, settings: Settings, home: Path, witness: Witness
    ) -> None:
        self._scene, self._world, self._weather = scene, world, weather
        self._settings, self._home, self._witness = settings, home, witness
        self._chance = scene.chance("machine")
        swarm = scene.chance("swarm")
        self.deaths_s = swarm.choice((1800.0, 7200.0, 86_400.0))
        self.kinds = tuple(
            kind for kind in ("kill", "call", "reboot", "stop", "sleep", "clock") if swarm.random() < 0.7
        )
        self.is_over = False
        self.service: Service | None = None
        self.up_at = 0.0
        self.on_tick: Callable[[Service], None] = lambda _service: None
        self.on_start: Callable[[], None] = lambda: None
        self._ids = FakeIds()
        self._life: Life | None = None
        self._main: asyncio.Task[None] | None = None
        self._commands: set[asyncio.Task[None]] = set()
        self._own: set[asyncio.Task[Any]] = set()
        self._plan()

    async def run(self) -> None:
        """Start the service again and again, until the machine is switched off."""
        while not self.is_over:
            await self._live()
            # launchd starts a service that died no sooner than ten seconds after its last start.
            await asyncio.sleep(self._chance.uniform(10, 40) if self._chance.random() < 0.8 else 900)

    async def switch_off(self) -> None:
        """An orderly end, and nothing is left behind."""
        self.is_over = True
        main, service = self._main, self.service
        if main is None or service is None:
            return
        service.loop.stop()
        _, late = await asyncio.wait({main}, timeout=60)
        self._scene.demand(not late, "stops in time", "the service did not stop within a minute")

    async def _live(self) -> None:
        die_in = self._chance.randint(1, 3000) if "call" in self.kinds and not self.is_over else -1
        life = self._life = Life(self._cut_soon, die_in=die_in)
        self.service = Service(
            self._scene, self._world, self._weather, life, settings=self._settings, home=self._home, ids=self._ids,
            witness=self._witness,
        )  # fmt: skip
        self._scene.note("the service starts")
        self._main = NumberedTask(self._serve(self.service), number=0, loop=self._scene.loop, name="service")
        await asyncio.wait({self._main})
        life.is_over, self.service = True, None
        for command in self._commands:
            command.cancel()
        if self._commands:
            await asyncio.wait(self._commands)
        error = None if self._main.cancelled() else self._main.exception()
        if error is not None and not _is_death(error):
            self._scene.fail("the service lives on", f"the service ended by itself: {_words(error)}")
        left = [task.get_name() for task in asyncio.all_tasks() if task not in self._own and not task.done()]
        self._scene.demand(not left, "no task leaks", f"tasks outlived the service: {left}")

    async def _serve(self, service: Service) -> None:
        try:
            await recover(service.ports)
        except PortError as error:
            self._scene.note(f"the service could not start: {error}")
            return
        self.up_at = self._scene.loop.time()
        self.on_start()
        service.loop._on_tick = lambda _state: self.on_tick(service)
        await service.loop.run()

    def waits(self) -> Mapping[TaskKey, Wait]:
        """What the last tick said about tasks that wait."""
        return self.service.loop.state.decision.waits if self.service is not None else {}

    def command(self, name: str, ask: Callable[[Facade], Awaitable[object]]) -> None:
        """Somebody asks the service for something."""
        if self.service is None or self._main is None or self._main.done():
            return
        task = self._scene.loop.create_task(self._obey(name, ask(self.service.facade)), name=f"command {name}")
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)

    async def _obey(self, name: str, answer: Awaitable[object]) -> None:
        try:
            await answer
        except NightcrewError as error:
            self._scene.note(f"command {name} was refused: {error}")
        except Dead:
            return
        else:
            self._scene.note(f"command {name} was obeyed")

    def owns(self, *tasks: asyncio.Task[Any]) -> None:
        """Tasks of the simulation itself."""
        self._own.update(tasks)

    # What happens to a machine

    def _plan(self) -> None:
        self._scene.after(self._chance.expovariate(1 / self.deaths_s), self._suffer)

    def _suffer(self) -> None:
        if self.is_over:
            return
        if self.kinds:
            kind = self._chance.choice(self.kinds)
            self._scene.note(f"machine: {kind}")
            self._scene.count(f"machine {kind}")
            self._do(kind)
        self._plan()

    def _do(self, kind: str) -> None:
        match kind:
            case "kill":
                self._kill()
            case "reboot":
                self._kill()
                self._world.runtime.lose_all()
            case "stop":
                self._stop()
            case "sleep":
                self._scene.outside.slept_s += self._chance.expovariate(1 / 7200)
            case _:
                self._scene.clock.wrong_by_s = self._chance.choice((0.0, 0.0, -3600.0, 3600.0, -120.0, 7200.0))

    def spare(self) -> None:
        """Nothing happens to it any more, and its clock is right."""
        self.kinds = ()
        self._scene.clock.wrong_by_s = 0.0
        if self._life is not None:
            self._life.die_in = -1

    def _kill(self) -> None:
        if self._life is not None and not self._life.is_over:
            self._life.end()

    def _cut_soon(self) -> None:
        self._scene.note("the service is killed")
        self._scene.loop.call_soon(self._cut)

    def _cut(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def _stop(self) -> None:
        """SIGTERM: a short time to end in order, then it is cut."""
        service, main = self.service, self._main
        if service is None or main is None:
            return
        service.loop.stop()
        self._scene.after(STOP_WITHIN_S, lambda: main.cancel() if self._main is main else None)


def _is_death(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_death(inner) for inner in error.exceptions)
    return isinstance(error, Dead | asyncio.CancelledError)


def _words(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_words(inner) for inner in error.exceptions)
    return repr(error)
