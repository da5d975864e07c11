"""What an internal task is beyond its row: a task that no issue stands for. Its text is its owner's own, and its status
is the store's alone."""

from dataclasses import dataclass

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pin import NO_PINS, Pins, TaskKind
from nightcrew.core.model.task import Task

__all__ = ["NO_PINS", "InternalTask", "Pins", "TaskKind"]

OWNER = "nightcrew"
"""The author of what no account has written."""


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
