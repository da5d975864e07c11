"""A parent goes on after its sub-tasks: how they stood is written down, its branch gets the base with their work, and
its author is told what they came to."""

from dataclasses import replace

from nightcrew.core.errors import Missing, Unavailable
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.model.delegation import DelegationState
from nightcrew.core.model.dependency import Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.task import BaseConflict, Task
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.delegating import end_parts, why_waits
from nightcrew.core.sub_task import render_end
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.view.part import internal_needs

REMOVE_TIMEOUT_S = 300.0
_OVER = (DelegationState.ENDED, DelegationState.LEFT)


async def why_parts_hold(means: Means, task: Task) -> str:
    """Why it must not start, by a direct read of its sub-tasks; empty if they hold nothing up."""
    if task.delegated is None or not task.delegated.waited_for:
        return ""
    wait = why_waits(await _seen(means, task))
    return wait.words if wait is not None else ""


async def end_sub_tasks(means: Means, task: Task) -> Task:
    """The task as it goes on, with how its sub-tasks stood. Unavailable while one of them is not seen to have ended."""
    if task.delegated is None or task.delegated.state is not DelegationState.FILED:
        return task
    view = await _seen(means, task)
    wait = why_waits(view)
    if wait is not None or not isinstance(view.needs, Known):
        raise Unavailable(wait.words if wait is not None else "its sub-tasks could not be read")
    known = {need.on.number: need.standing for need in view.needs.value if need.on.project == task.key.project}

    def standing(number: int) -> Standing:
        seen = known.get(number)
        return seen.value if isinstance(seen, Known) else Standing.OPEN

    def change(stored: Task) -> Task:
        handed = stored.delegated
        return stored if handed is None else replace(stored, delegated=end_parts(handed, standing))

    event = means.event("sub_task.all_ended", "its sub-tasks have ended", task=task.key)
    return await means.ports.store.update_task(task.key, change, event=event)


async def _seen(means: Means, task: Task) -> TaskView:
    key, needs = task.key, await _needs(means, task)
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    return TaskView(task, Known(issue), needs=needs)


async def _needs(means: Means, task: Task) -> Observed[tuple[Dependency, ...]]:
    key = task.key
    if key.is_internal:
        tasks = await means.ports.store.load_tasks(project=key.project, include_done=True)
        return Known(internal_needs(task, {one.key: one for one in tasks}))
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    return await means.observer.needs_of(key.project).read(task, issue)


async def take_base(means: Means, run: Run, task: Task, base_ref: str) -> Task:
    """Have the branch of a parent that goes on begin at the base as it is now, where nothing of its own is on it; else
    leave the merge to its author, as with a conflict. Done again after a crash it comes to the same."""
    is_placed = run.head_sha is not None and task.pull is None
    if task.delegated is None or task.delegated.state not in _OVER or is_placed:
        return task
    workspace, key = means.ports.workspace, task.key
    base, head = await workspace.find_branch(key.project, base_ref), await _last_head(means, task)
    if base is None or head is None or task.started_from in (None, base):
        return task
    if task.pull is None and head == task.started_from:
        # Cut short, this very run may hold it already.
        await workspace.release(key.project, key.number, lease=run.id)
        await means.journal.effect(
            "workspace.remove",
            subject(key, run.id),
            lambda: workspace.remove_workspace(key.project, key.number, merged=False),
            timeout_s=REMOVE_TIMEOUT_S,
        )
        return task
    if task.conflict is not None or await _has(means, key, base=base, head=head):
        return task
    return await means.ports.store.update_task(key, lambda stored: replace(stored, conflict=BaseConflict(base, ())))


async def _last_head(means: Means, task: Task) -> Sha | None:
    runs = await means.ports.store.load_runs(task=task.key)
    heads = [run.outcome.head_sha for run in runs if run.role is Role.AUTHOR and run.outcome and run.outcome.head_sha]
    return heads[-1] if heads else None


async def _has(means: Means, key: TaskKey, *, base: Sha, head: Sha) -> bool:
    try:
        return await means.ports.workspace.is_ancestor(key.project, ancestor=base, descendant=head)
    except Missing:
        return False


async def tell_parts(means: Means, task: Task) -> tuple[str, ...]:
    """What each sub-task came to, for the author of the task that made them."""
    handed = task.delegated
    if handed is None or handed.state not in _OVER:
        return ()
    told = []
    for part in handed.parts:
        key = TaskKey(task.key.project, part.number or 0)
        child = await means.ports.store.find_task(key) if part.number is not None else None
        merged = child.pull if child is not None and child.merge_sha is not None else None
        said = await _said(means, key) if child is not None else ""
        told.append(render_end(part, merged=merged, said=said))
    return tuple(told)


async def _said(means: Means, key: TaskKey) -> str:
    runs = await means.ports.store.load_runs(task=key)
    reports = [run.outcome.report for run in runs if run.role is Role.AUTHOR and run.outcome is not None]
    return next((report.summary for report in reversed(reports) if isinstance(report, AuthorReport)), "")
