"""What internal tasks wait for, from the store alone: the sub-tasks that they made, and those of the same parent that
come before them."""

from collections.abc import Iterable, Mapping

from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import SubTask
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.task import Task

Tasks = Mapping[TaskKey, Task]


def internal_needs(task: Task, tasks: Tasks) -> tuple[Dependency, ...]:
    """Of an internal task; `tasks` are all there are, done ones as well."""
    own = task.delegated.waited_for if task.delegated is not None else ()
    return (*_dependencies(task, own, Bond.CHILD, tasks), *_dependencies(task, _before(task, tasks), Bond.LINK, tasks))


def _before(task: Task, tasks: Tasks) -> tuple[SubTask, ...]:
    """The siblings that it depends on."""
    for other in tasks.values():
        if other.delegated is None or other.key.project != task.key.project:
            continue
        for part in other.delegated.parts:
            if part.number == task.key.number:
                return tuple(one for one in other.delegated.parts if one.place in part.what.needs)
    return ()


def _dependencies(task: Task, parts: Iterable[SubTask], bond: Bond, tasks: Tasks) -> list[Dependency]:
    keys = [TaskKey(task.key.project, part.number) for part in parts if part.number is not None]
    return [Dependency(key, bond, _standing(tasks.get(key))) for key in keys]


def _standing(task: Task | None) -> Observed[Standing]:
    if task is None:
        return Unknown("it is not on record")
    if task.status is not Status.DONE:
        return Known(Standing.OPEN)
    return Known(Standing.COMPLETED if _is_completed(task) else Standing.NOT_PLANNED)


def _is_completed(task: Task) -> bool:
    """Whether its own work was merged, or that of its sub-tasks; else somebody closed it."""
    parts = task.delegated.parts if task.delegated is not None else ()
    return task.merge_sha is not None or any(part.standing is Standing.COMPLETED for part in parts)
