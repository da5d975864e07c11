"""What became of the pull request by a person's hand: merged, closed, sent to another base, or gone."""

from nightcrew.core.actions import FinishTask, FollowBase
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.pull import Pull, PullView
from nightcrew.core.model.task import Block
from nightcrew.core.stage import Case, Stage, act_on, block, wait_for
from nightcrew.core.step.queued import follow_landing
from nightcrew.core.step.stack import follow_parent


def follow_pull_end(case: Case) -> Stage | None:
    """The step that its pull request's end asks for; None if it has none, or it is open and where it belongs."""
    observed = case.view.pull
    if isinstance(observed, Unknown):
        return _unread(observed)
    return None if observed.value is None else _follow_end(case, observed.value)


def open_pull(case: Case) -> PullView | Stage:
    """The open pull request, or the step instead."""
    observed = case.view.pull
    if isinstance(observed, Unknown):
        return _unread(observed)
    if observed.value is None:
        words = "it has no pull request to review. Set status:new (or retry it) to have the work done."
        return block(case.task, Block("no_pull", words))
    ended = _follow_end(case, observed.value)
    return observed.value if ended is None else ended


def _unread(observed: Unknown) -> Stage:
    return wait_for("pull_unknown", f"its pull request could not be read ({observed.why})", "It is read again.")


def _follow_end(case: Case, view: PullView) -> Stage | None:
    task, pull = case.task, view.pull
    if pull.is_merged:
        return act_on(FinishTask(task.key, task.status, merged=True, why=f"pull request #{pull.number} is merged"))
    landed = follow_landing(case, pull)
    if landed is not None:
        return landed
    gone = view.gone.value if isinstance(view.gone, Known) else ()
    if not pull.is_open:
        return block(task, Block("pull_closed", _why_closed(pull, gone)))
    stacked = follow_parent(case, pull)
    if stacked is not None:
        return stacked
    if task.base_ref and pull.base_ref != task.base_ref:
        return _follow_base(case, view, gone)
    return None


def _why_closed(pull: Pull, gone: tuple[str, ...]) -> str:
    if pull.head_ref in gone:
        return (
            f"pull request #{pull.number} was closed, and its branch {pull.head_ref} is deleted. Restore the branch "
            "and reopen it, or retry the task for a new one."
        )
    if pull.base_ref in gone:
        return (
            f"pull request #{pull.number} was closed, since its base {pull.base_ref} is deleted. Restore that branch "
            "and reopen it, or retry the task for a new one."
        )
    return f"pull request #{pull.number} was closed without a merge. Reopen it, or retry the task for a new one."


def _follow_base(case: Case, view: PullView, gone: tuple[str, ...]) -> Stage:
    """A base that was renamed (or merged and deleted), so that the forge itself sent the pull request to the project's
    own base, is followed. Any other change is a person's, who has to mean it."""
    task, pull = case.task, view.pull
    if isinstance(view.gone, Unknown):
        return _unread(view.gone)
    if task.base_ref in gone and case.project.base_ref == Known(pull.base_ref):
        why = f"{task.base_ref} is gone, and pull request #{pull.number} goes to {pull.base_ref} now"
        return act_on(FollowBase(task.key, pull.number, pull.base_ref, why))
    words = (
        f"pull request #{pull.number} now goes to {pull.base_ref}, and the task began at {task.base_ref}. "
        "Send it back there, or unblock the task to go on with the new base."
    )
    return block(task, Block("base_changed", words))


def why_foreign(view: PullView | None) -> Block | None:
    """No author can work on a pull request whose branch is in somebody else's repository: Nightcrew pushes nowhere but
    to its project."""
    if view is None or not view.pull.is_fork:
        return None
    words = (
        f"pull request #{view.pull.number} comes from a fork, where Nightcrew does not push. Its author has to go on "
        "with it; it is reviewed, and merged by a person."
    )
    return Block("pull_fork", words)
