"""What an internal task is beyond its row: a task that no issue stands for. Its text is its owner's own, and its status
is the store's alone."""

from dataclasses import dataclass
from enum import Enum

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.task import Task

OWNER = "nightcrew"
"""The author of what no account has written."""


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


@dataclass(frozen=True, slots=True)
class InternalTask:
    """`mark` is unique everywhere and for ever: by it the issue is found that was made of the task. `job` is what asked
    for it, `result` what its agent reported, `issue` the number of the issue that was made of it. `is_closed`:
    nothing more is to be done about it."""

    key: TaskKey
    kind: TaskKind
    mark: str
    body: str
    pins: Pins = NO_PINS
    job: str = ""
    result: str = ""
    issue: int | None = None
    is_closed: bool = False

    def as_issue(self, task: Task) -> Issue:
        """The task as everything that reads issues sees it. Its labels say what the store says: nobody has moved it."""
        return Issue(
            number=task.key.number,
            title=task.title,
            body=self.body,
            labels=(task.status.label, *self.pins.labels),
            is_open=not self.is_closed,
            author=OWNER,
            created_at=task.created_at,
            updated_at=task.updated_at,
        )

    @property
    def is_review(self) -> bool:
        return self.kind is TaskKind.REVIEW

    @property
    def is_report(self) -> bool:
        return self.kind is TaskKind.REPORT
