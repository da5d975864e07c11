"""The door between one life of the service and the world: every call of a port goes through one.

A call that was sent out takes effect even if its caller is gone by then, as a request on the wire does; what only
waits inside the service (the store's queue) dies with it. Nothing passes once the life has ended.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Protocol

from nightcrew.core.errors import PortError
from tests.simulation.engine.scene import Scene
from tests.simulation.engine.weather import Fate, Weather


class Witness(Protocol):
    """Sees every call."""

    def __call__(
        self, port: str, method: str, args: tuple[Any, ...], named: dict[str, Any]
    ) -> Callable[[Any], None] | None:
        """Told of each call the moment before it takes effect. What it returns is told the answer."""
        ...

    def failed(self, port: str, method: str) -> None:
        """Told of each call that fails without an effect."""
        ...


class Dead(BaseException):
    """The service ended as after kill -9: whatever it still tries is not done."""


class Life:
    """One process of the service: alive, until it is not. `die_in` counts down the calls until it is killed."""

    def __init__(self, kill: Callable[[], None], *, die_in: int = -1) -> None:
        self.is_over = False
        self.die_in = die_in
        self._kill = kill

    async def reach(self) -> None:
        """A point at which the service can be killed."""
        if self.is_over:
            raise Dead
        if self.die_in > 0:
            self.die_in -= 1
            if self.die_in == 0:
                self.end()
                await asyncio.get_running_loop().create_future()

    def end(self) -> None:
        self.is_over = True
        self._kill()


class Door:
    """One port, as a life of the service sees it. Attributes and plain methods are those of what is behind it."""

    def __init__(self, scene: Scene, weather: Weather, life: Life, *, name: str, behind: Any, witness: Witness) -> None:
        self._scene, self._weather, self._life = scene, weather, life
        self._name, self._behind, self._witness = name, behind, witness
        self._chance = scene.chance(f"door {name}")

    def __getattr__(self, method: str) -> Any:
        plain = getattr(self._behind, method)
        if not callable(plain):
            return plain
        if not inspect.iscoroutinefunction(plain):
            setattr(self, method, plain)
            return plain

        async def call(*args: Any, **named: Any) -> Any:
            return await self._pass(method, plain, args, named)

        setattr(self, method, call)
        return call

    async def _pass(self, method: str, plain: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        await self._life.reach()
        fate = self._weather.fate(self._name, method)
        if fate.before is not None:
            self._witness.failed(self._name, method)
            await asyncio.sleep(fate.go_s)
            raise fate.before
        if fate.go_s == 0.0 and fate.after is None:
            answer = self._land(method, plain, args, named)
        else:
            answer = await self._send(method, plain, args, named, fate)
        if fate.back_s:
            await asyncio.sleep(fate.back_s)
        await self._life.reach()
        return answer

    async def _send(self, method: str, plain: Any, args: tuple[Any, ...], named: dict[str, Any], fate: Fate) -> Any:
        landed: asyncio.Future[Any] = self._scene.loop.create_future()

        def land() -> None:
            if self._life.is_over and (self._name == "store" or self._chance.random() < 0.5):
                return  # it was never sent
            try:
                answer = self._land(method, plain, args, named)
            except PortError as error:
                if not landed.done() and fate.after is None:
                    landed.set_exception(error)
            except Exception as error:
                if not landed.done():
                    landed.set_exception(error)
            else:
                if not landed.done():
                    landed.set_result(answer)

        self._scene.after(fate.go_s + fate.lands_late_s, land)
        if fate.after is not None:
            await asyncio.sleep(fate.go_s + fate.back_s)
            landed.cancel()
            raise fate.after
        return await landed

    def _land(self, method: str, plain: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The moment in which it takes effect: the fakes await nothing, so one step does it all."""
        look = self._witness(self._name, method, args, named)
        coroutine = plain(*args, **named)
        try:
            coroutine.send(None)
        except StopIteration as ended:
            answer = ended.value
        else:
            coroutine.close()
            raise AssertionError(f"{self._name}.{method} awaits something")
        if look is not None:
            look(answer)
        return answer
