"""What kind of task is asked for, and what was chosen for it beforehand."""

from dataclasses import dataclass
from enum import Enum


class TaskKind(Enum):
    """`change` ends as a merged pull request. `report` ends with what its agent wrote, if it changed
    nothing. `review` is the review of somebody's pull request, and ends with that."""

    CHANGE = "change"
    REPORT = "report"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Pins:
    """What somebody chose beforehand; empty: the router's choice."""

    agent: str = ""
    model: str = ""
    complexity: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The same as labels of an issue say it."""
        pins = (("agent", self.agent), ("model", self.model), ("complexity", self.complexity))
        return tuple(f"{kind}:{value}" for kind, value in pins if value)


NO_PINS = Pins()
