"""What kind of task is asked for, and what was chosen for it beforehand."""

from dataclasses import dataclass, replace
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
    skills: tuple[str, ...] = ()
    """What its author has to have besides what the project requires."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The same as labels of an issue say it."""
        skills = tuple(("skill", name) for name in self.skills)
        pins = (("agent", self.agent), ("model", self.model), ("complexity", self.complexity), *skills)
        return tuple(f"{kind}:{value}" for kind, value in pins if value)

    def with_label(self, label: str) -> "Pins":
        """What such a label adds to it, or replaces."""
        kind, _, value = label.partition(":")
        match kind:
            case "agent":
                return replace(self, agent=value)
            case "model":
                return replace(self, model=value)
            case "complexity":
                return replace(self, complexity=value)
            case "skill":
                return replace(self, skills=tuple(dict.fromkeys((*self.skills, value))))
            case _:
                return self

    def without_label(self, label: str) -> "Pins":
        """Without what that label says; as it is, if something else was chosen by now."""
        if label not in self.labels:
            return self
        kind, _, value = label.partition(":")
        if kind == "skill":
            return replace(self, skills=tuple(name for name in self.skills if name != value))
        return self.with_label(f"{kind}:")


def is_pin(label: str) -> bool:
    """Whether a label is one of those that pins are made of."""
    return label.partition(":")[0] in ("agent", "model", "complexity", "skill") and ":" in label


NO_PINS = Pins()
