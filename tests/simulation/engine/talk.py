"""People who say things to agents, and what the agents have really heard: by the prompts of those that answered."""

import re
from collections import Counter

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from nightcrew.core.model.saying import SayingState
from nightcrew.ports.service import Word
from tests.simulation.engine.crew import REPORTLESS_ENDS, Crew, Shift
from tests.simulation.engine.machine import Machine
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene

_NAME = re.compile(r"^## A message from .*, message (\S+)\)$", re.MULTILINE)


class Talk:
    """In a third of the worlds nobody says anything."""

    def __init__(self, scene: Scene, world: World, machine: Machine, crew: Crew) -> None:
        self._scene, self._world, self._machine = scene, world, machine
        self._chance = scene.chance("talk")
        self._every_s = self._chance.choice((0.0, 1800.0, 7200.0))
        self._count = 0
        self._heard: Counter[str] = Counter()
        self.is_over = False
        crew.on_report = self.hear
        if self._every_s:
            self._later()

    def _later(self) -> None:
        self._scene.after(self._chance.expovariate(1 / self._every_s), self._say)

    def _say(self) -> None:
        if self.is_over:
            return
        keys = sorted(key for key, task in self._world.store.tasks.items() if task.status is not Status.DONE)
        if keys:
            self._count += 1
            key, interrupts = self._chance.choice(keys), self._chance.random() < 0.3
            word = Word("use a lock", "olga", interrupts=interrupts, name=f"talk:{self._count}")
            self._machine.command(f"say {word.name} to {key}", lambda facade: facade.say_to(key, word))
            self._scene.count("person say")
        self._later()

    def hear(self, shift: Shift) -> None:
        """An agent has ended: an author with a report has read what it was told."""
        if shift.role is not Role.AUTHOR or shift.end in REPORTLESS_ENDS or shift.spec.stdin is None:
            return
        told, _, _ = shift.spec.stdin.read_text(encoding="utf-8").partition("## The issue")
        for name in _NAME.findall(told):
            self._heard[name] += 1
            fits = self._heard[name] == 1
            self._scene.demand(fits, "a message is heard once", f"{name} was told to {shift.spec.name} as well")

    def end(self) -> None:
        """Each message was heard, or is known not to have been."""
        for saying in self._world.store.sayings.values():
            heard, is_over = self._heard[saying.id], "its task was done" in saying.why
            fits = heard == 1 if saying.state is SayingState.SEEN else not heard or is_over
            self._scene.demand(not saying.is_open and fits, "each message is settled", f"heard {heard} times: {saying}")
