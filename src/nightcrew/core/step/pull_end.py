"""What became of the pull request by a person's hand: merged, closed, sent to another base, or gone."""

from nightcrew.core.actions import FinishTask
from nightcrew.core.known import Unknown
from nightcrew.core.model.pull import Pull, PullView
from nightcrew.core.model.task import Block
from nightcrew.core.stage import Case, Stage, act_on, block, wait_for
from nightcrew.core.step.stack import follow_parent


def follow_pull_end(case: Case) -> Stage | None:
    """The step that its pull request's end asks for; None if it has none, or it is open and where it belongs."""
    observed = case.view.pull
    if isinstance(observed, Unknown):
        return _unread(observed)
    return None if observed.value is None else _follow_end(case, observed.value.pull)


def open_pull(case: Case) -> PullView | Stage:
    """The open pull request, or the step instead."""
    observed = case.view.pull
    if isinstance(observed, Unknown):
        return _unread(observed)
    if observed.value is None:
        words = "it has no pull request to review. Set status:new (or retry it) to have the work done."
        return block(case.task, Block("no_pull", words))
    ended = _follow_end(case, observed.value.pull)
    return observed.value if ended is None else ended


def _unread(observed: Unknown) -> Stage:
    return wait_for("pull_unknown", f"its pull request could not be read ({observed.why})", "It is read again.")


def _follow_end(case: Case, pull: Pull) -> Stage | None:
    task = case.task
    if pull.is_merged:
        return act_on(FinishTask(task.key, task.status, merged=True, why=f"pull request #{pull.number} is merged"))
    if not pull.is_open:
        words = f"pull request #{pull.number} was closed without a merge. Reopen it, or retry the task for a new one."
        return block(task, Block("pull_closed", words))
    stacked = follow_parent(case, pull)
    if stacked is not None:
        return stacked
    if task.base_ref and pull.base_ref != task.base_ref:
        words = (
            f"pull request #{pull.number} now goes to {pull.base_ref}, and the task began at {task.base_ref}. "
            "Send it back there, or unblock the task to go on with the new base."
        )
        return block(task, Block("base_changed", words))
    return None
