"""What a task depends on, once more before it starts: lists lag, and a link may show in none of them."""

from nightcrew.core.errors import Missing
from nightcrew.core.known import Known
from nightcrew.core.model.task import Stack, Task
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.depending import is_gated, why_held
from nightcrew.engine.effect.means import Means
from nightcrew.engine.effect.rejoin import why_parts_hold


async def why_held_now(means: Means, task: Task, stack: Stack | None) -> str:
    """Why it must not start, by a direct read of its issue; empty if nothing keeps it."""
    key, parts = task.key, await why_parts_hold(means, task)
    if parts:
        return parts
    if key.is_internal or not is_gated(task):
        return ""
    try:
        issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    except Missing:
        return ""
    needs = await means.observer.needs_of(key.project).read(task, issue)
    held = why_held(TaskView(task, Known(issue), needs=needs), {}, parent=stack)
    return held.words if held is not None else ""
