"""A pull request that stands on another one: it follows that one, and is never merged before it."""

from nightcrew.core.actions import RetargetPull
from nightcrew.core.known import Unknown
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Block
from nightcrew.core.stage import Case, Stage, act_on, block, wait_for


def follow_parent(case: Case, pull: Pull) -> Stage | None:
    """The step that the end of the one below asks for; None while it is open."""
    stack, parent = case.task.stack, case.view.parent
    if stack is None:
        return None
    if isinstance(parent, Unknown) or parent.value is None:
        why = parent.why if isinstance(parent, Unknown) else "it is not there"
        words = f"pull request #{stack.pull}, which it stands on, could not be read ({why})"
        return wait_for("parent_unknown", words, "It is read again.")
    below = parent.value
    if below.is_merged:
        why = f"pull request #{stack.pull}, which it stood on, is merged into {below.base_ref}"
        return act_on(RetargetPull(case.task.key, case.task.status, pull.number, pull.head_sha, below.base_ref, why))
    if not below.is_open:
        words = (
            f"it stands on pull request #{stack.pull}, which was closed without a merge. Reopen that one, or send "
            f"#{pull.number} to another branch and unblock the task."
        )
        return block(case.task, Block("parent_closed", words))
    return None
