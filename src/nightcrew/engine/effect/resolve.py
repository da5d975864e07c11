"""A conflict with the base in the hands of an author: left in its worktree before it starts, and looked for after."""

from dataclasses import replace

from nightcrew.core.errors import PortError
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import BaseConflict, Task
from nightcrew.core.neutral import one_line
from nightcrew.core.prompt_conflict import has_conflict_marks
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.update import render_update_message
from nightcrew.ports.workspace import Left

_MOST_NAMED = 5


async def leave_conflict(means: Means, run: Run, task: Task) -> None:
    """Begin the merge that is left to this run's author, with the base as it is now, and note what is in conflict."""
    if task.conflict is None:
        return
    workspace, key = means.ports.workspace, task.key
    base = await workspace.find_branch(key.project, task.base_ref) or task.conflict.base_sha
    message = render_update_message(task)
    paths = await means.journal.effect(
        "workspace.merge",
        subject(key, run.id),
        lambda: workspace.begin_merge(key.project, key.number, base=base, message=message),
        detail=f"{task.base_ref} {base}",
    )
    # None are in conflict any more if an earlier run committed them with their marks: those are looked for again.
    conflict = BaseConflict(base, paths or task.conflict.paths)
    if conflict != task.conflict:
        await means.ports.store.update_task(key, lambda stored: replace(stored, conflict=conflict))


async def find_marks(means: Means, run: Run, left: Left | None) -> Failure | None:
    """The failure of a run that committed a conflict with its marks. What cannot be read has none."""
    task = await means.task(run.task)
    if left is None or task.conflict is None:
        return None
    found = []
    for path in task.conflict.paths:
        try:
            text = await means.ports.workspace.find_file(run.task.project, left.head_sha, path)
        except PortError:
            continue
        if text is not None and has_conflict_marks(text):
            found.append(one_line(path, 200))
    if not found:
        return None
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return Failure(FailureKind.BAD_OUTPUT, f"left conflict marks in {', '.join(found[:_MOST_NAMED])}{more}")
