"""People who say things to agents. They have a chance of their own, so that all else in a life stays as it is without
them."""

from random import Random

from tests.simulation.core.said import say
from tests.simulation.core.scene import Scene
from tests.simulation.core.service import Service

EVERY_S = (0.0, 0.0, 5_000.0, 20_000.0)
"""How long until somebody says something again, on average; in half of the lives nobody does."""


class Talk:
    def __init__(self, chance: Random, scene: Scene, service: Service) -> None:
        self._chance, self._scene, self._service = chance, scene, service
        self._every_s = chance.choice(EVERY_S)

    def begin(self) -> None:
        """Say something later."""
        if self._every_s:
            delay_s = self._chance.expovariate(1 / self._every_s)
            self._scene.schedule.after(delay_s, self._say, is_local=False)

    def _say(self) -> None:
        scene = self._scene
        if scene.is_calm:
            return
        self.begin()
        numbers = [number for number in scene.sim.active if number in scene.sim.issues]
        if not numbers:
            return
        number = self._chance.choice(numbers)
        if say(scene.sim, number, interrupts=self._chance.random() < 0.3):
            scene.note(f"a person says something to the agent of #{number}")
            self._service.wake()
