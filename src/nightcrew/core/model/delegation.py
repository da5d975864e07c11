"""Sub-tasks that an author proposes for what it was given, and what became of them."""

from dataclasses import dataclass
from enum import Enum

from nightcrew.core.ids import RunId
from nightcrew.core.model.issue import Standing


class DelegationMode(Enum):
    """Who allows sub-tasks that an agent proposes: nobody, a person each time, or the limits alone."""

    NEVER = "never"
    ASK = "ask"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class DelegationSettings:
    """`max_children` bounds the sub-tasks of one task, `max_depth` how far these may have their own (1: not at all),
    `max_open` those of a project that are not ended. `labels` are those that a proposal may ask for."""

    allow: DelegationMode = DelegationMode.ASK
    max_children: int = 5
    max_depth: int = 1
    max_open: int = 10
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delegation:
    """One sub-task as a report proposes it. `needs` are the places of earlier ones in the same list that come first."""

    title: str
    body: str
    complexity: str = ""
    agent: str = ""
    labels: tuple[str, ...] = ()
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SubTask:
    """A proposal that was taken, the `place`-th of its parent (`needs` are places too), of the run that made it.
    `number` is the issue or internal task that was made of it, None before that; `linked` whether the forge shows it as
    a sub-issue, None where that was not tried. `standing` is how it stood when its parent went on, None until then."""

    place: int
    run: RunId
    what: Delegation
    number: int | None = None
    linked: bool | None = None
    standing: Standing | None = None


class DelegationState(Enum):
    """PROPOSED: a person is asked. ACCEPTED: they are to be made. FILED: they are there, and waited for. ENDED: their
    parent goes on. REFUSED: it does everything itself. LEFT: it goes on without waiting for them, as a person said."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    FILED = "filed"
    ENDED = "ended"
    REFUSED = "refused"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Delegated:
    """What a task handed over, kept in its row. `run` made the last proposal; `cut` says what of that was left out."""

    state: DelegationState
    run: RunId
    parts: tuple[SubTask, ...] = ()
    cut: tuple[str, ...] = ()

    @property
    def waited_for(self) -> tuple[SubTask, ...]:
        """Those that have to end before their parent goes on."""
        is_open = self.state in (DelegationState.ACCEPTED, DelegationState.FILED)
        return tuple(part for part in self.parts if part.standing is None) if is_open else ()
