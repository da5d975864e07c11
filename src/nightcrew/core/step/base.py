"""Where the base stands in the way of an open pull request: bring it in, or ask a person when that went on too long."""

from nightcrew.core.actions import UpdateBranch
from nightcrew.core.model.pull import PullView
from nightcrew.core.policy.merging import Gate, GateView, Truth, is_not_held
from nightcrew.core.policy.updating import conflicts, only_behind, out_of_updates
from nightcrew.core.stage import Case, Stage, act_on, block


def update_for_conflict(case: Case, pull: PullView) -> Stage | None:
    """A conflict comes before review and checks: neither would say anything about what can be merged. Whoever holds the
    pull request resolves it."""
    if not conflicts(pull) or is_not_held(_gate_view(case, pull)).truth is not Truth.YES:
        return None
    return update_branch(case, pull, f"it conflicts with {pull.pull.base_ref}")


def update_for_merge(case: Case, pull: PullView, gate: Gate) -> Stage | None:
    """All else is well, and the base has moved on."""
    if pull.pull.is_fork or not only_behind(gate):
        return None
    return update_branch(case, pull, f"it is behind {pull.pull.base_ref}")


def update_branch(case: Case, pull: PullView, why: str) -> Stage:
    """Bring the base in, as often as that may be."""
    seen, task = pull.pull, case.task
    spent = out_of_updates(task, seen.base_ref)
    if spent is not None:
        return block(task, spent)
    return act_on(UpdateBranch(task.key, task.status, seen.number, seen.head_sha, seen.base_ref, why))


def _gate_view(case: Case, pull: PullView) -> GateView:
    return GateView(case.view, pull, case.settings, case.issue.labels)
