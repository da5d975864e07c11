"""The answer of the router: who works on a task, with which model, and why."""

from dataclasses import dataclass
from enum import Enum


class Complexity(Enum):
    """How hard a task looks; it chooses the model."""

    SIMPLE = "simple"
    MEDIUM = "medium"
    COMPLEX = "complex"


class RouteSource(Enum):
    """Where a route came from."""

    LABEL = "label"
    MODEL = "model"
    ROUND_ROBIN = "round_robin"
    ROTATION = "rotation"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Route:
    """Agent, model (empty: the CLI's own default), complexity, where it came from, and why in words. `skills` are those
    that the router chose for the task, besides what is required."""

    agent: str
    model: str
    complexity: Complexity
    source: RouteSource
    why: str
    skills: tuple[str, ...] = ()
