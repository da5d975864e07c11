"""What the checks are given, and what each of them hands back."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from nightcrew.core.actions import Action, ActionOutcome
from nightcrew.core.errors import Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.diagnosis import Diagnosis
from nightcrew.engine.effect.means import Means
from nightcrew.engine.loop import Loop
from nightcrew.engine.ports import Forge

Mend = Callable[[], Awaitable[str]]
"""Puts one thing right, if it still is as it was found; says what was done. PortError: it was not, and why."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding, and what mends it where that can be done without a person."""

    diagnosis: Diagnosis
    mend: Mend | None = None


@dataclass(frozen=True, slots=True)
class Ward:
    """`submit` makes an action, once nothing else has its task: the loop's own way; `look` has the loop look at a task
    anew. None where no loop runs: then nothing is done about a task, since the loop will do it by itself. `busy` are
    tasks that something is done about just now. `closed` says of forges that could not be opened why."""

    means: Means
    submit: Callable[[Action], Awaitable[ActionOutcome]] | None = None
    look: Callable[[TaskKey], None] | None = None
    busy: Callable[[], Collection[TaskKey]] = tuple
    closed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_loop(cls, loop: Loop) -> "Ward":
        """That of the running service."""

        def look(key: TaskKey) -> None:
            loop.means.observer.touch(key)
            loop.means.observer.expire(key.project)
            loop.wake()

        def busy() -> Collection[TaskKey]:
            return {action.task for action in loop.actor.in_flight}

        return cls(loop.means, loop.actor.submit, look, busy)

    @property
    def is_running(self) -> bool:
        return self.submit is not None

    def forge(self, project: str) -> Forge:
        """Unavailable, with why, if it could not be opened."""
        name = self.means.settings.projects[project].forge
        if name not in self.means.ports.forges:
            raise Unavailable(self.closed.get(name) or f"the forge {name} is not open")
        return self.means.ports.forges[name]
