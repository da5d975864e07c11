"""What is over for long enough to be taken away. Nothing of a task that is not done ever is."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task


def list_old_runs(
    tasks: Mapping[TaskKey, Task], runs: Iterable[Run], *, now: datetime, kept_s: float
) -> tuple[Run, ...]:
    """Runs whose folders may go: ended that long ago, of a task that is done and was not changed since. 0 keeps all."""
    if not kept_s:
        return ()
    before = now - timedelta(seconds=kept_s)
    return tuple(
        run
        for run in runs
        if not run.is_open
        and run.ended_at is not None
        and run.ended_at < before
        and _is_over(tasks.get(run.task), before)
    )


def list_old_workspaces(
    tasks: Iterable[Task], *, working: Collection[TaskKey], now: datetime, kept_s: float
) -> tuple[Task, ...]:
    """Tasks whose workspaces may go, once what is in them is saved: done for that long, with no run at work."""
    if not kept_s:
        return ()
    before = now - timedelta(seconds=kept_s)
    return tuple(task for task in tasks if _is_over(task, before) and task.key not in working)


def _is_over(task: Task | None, before: datetime) -> bool:
    """A task that is not known (any more) is left alone: why it is gone is not known either."""
    return task is not None and task.status is Status.DONE and task.moving_to is None and task.updated_at < before
