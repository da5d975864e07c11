"""Which other task does a task start from, where it is asked to stand on its work? One that is open; once that one is
merged, nothing is left to stand on but the base."""

from nightcrew.core.known import Known
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.task import Stack
from nightcrew.core.model.world import ProjectWorld, TaskView


def stack_need(view: TaskView) -> Dependency | None:
    """The task, or its pull request, that it is asked to stand on: the first that is named."""
    needs = view.needs.value if isinstance(view.needs, Known) else ()
    return next((need for need in needs if need.bond is Bond.STACK), None)


def find_parent(project: ProjectWorld, view: TaskView) -> Stack | None:
    """The branch that it begins at: that of an open pull request in the same repository. None if it is not asked for,
    there is none (yet, or any more), or the task has begun elsewhere already."""
    need, task = stack_need(view), view.task
    if need is None or need.standing != Known(Standing.OPEN) or (task.started_from is not None and task.stack is None):
        return None
    for other in project.tasks:
        pull = other.pull.value.pull if isinstance(other.pull, Known) and other.pull.value is not None else None
        is_named = pull is not None and need.on.number in (other.task.key.number, pull.number)
        if pull is not None and is_named and other is not view and pull.is_open and not pull.is_fork:
            return Stack(pull.number, pull.head_ref)
    return None
