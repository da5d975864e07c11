"""Taking away the workspace of a task that is over: with it nothing goes that is not merged, pushed or saved."""

from nightcrew.core.model.task import Task
from nightcrew.engine.effect.means import Means, subject

REMOVE_TIMEOUT_S = 300.0


async def remove_left(means: Means, task: Task) -> tuple[str, ...]:
    """Remove what was left over; the refs under which what is nowhere else was saved. Conflict, and nothing removed, if
    it is in use or cannot be saved."""
    workspace, key = means.ports.workspace, task.key
    saved = await means.journal.effect(
        "workspace.remove",
        subject(key),
        lambda: workspace.remove_workspace(key.project, key.number, merged=False),
        detail="it was left over",
        timeout_s=REMOVE_TIMEOUT_S,
    )
    for ref in saved:
        words = f"work that was not on the forge is kept as {ref}"
        await means.ports.store.record_event(means.event("workspace.salvaged", words, task=key, ref=ref))
    return saved
