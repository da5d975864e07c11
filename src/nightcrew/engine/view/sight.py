"""What the forge said of a task when it was last asked, and which tasks it has to be asked about directly."""

from dataclasses import dataclass

from nightcrew.core.known import Known, Observed
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.dependency import Dependency
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Pull, PullView
from nightcrew.core.model.task import Task

_IN_WORK = frozenset({Status.IN_PROGRESS, Status.NEEDS_REVIEW, Status.IN_REVIEW})


@dataclass(frozen=True, slots=True)
class TaskSight:
    """What the forge said of a task when it was last asked."""

    issue: Observed[Issue | None]
    pull: Observed[PullView | None]
    answered: bool
    vouched: Observed[bool] = Known(True)
    reopened_by_writer: Observed[bool] = Known(True)
    needs: Observed[tuple[Dependency, ...]] = Known(())
    parent: Observed[Pull | None] = Known(None)


def is_over(task: Task) -> bool:
    return task.status is Status.DONE and task.moving_to is None


def is_untold(task: Task) -> bool:
    """Whether a service died between finishing a task and saying so on its issue."""
    return f"`{Status.DONE.value}`" not in task.told and not task.key.is_internal


def is_in_work(task: Task) -> bool:
    """Whether its issue is read directly: lists lag, and what is at work must not."""
    return task.status in _IN_WORK or task.moving_to is not None


def needs_care(task: Task, issue: Issue) -> bool:
    """Whether who changed the text of an issue, or opened it again, has to be found out."""
    return task.vouched not in ("", issue.text_mark) or task.status is Status.DONE
