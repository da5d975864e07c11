"""A blocked task whose reason has gone: what was done to its pull request was taken back, or what it waited for came.

It goes on by itself then; nobody has to unblock it.
"""

from nightcrew.core.known import Known
from nightcrew.core.model.pull import PullView
from nightcrew.core.policy.checking import failed_checks, is_unpaid
from nightcrew.core.policy.pending import pending_checks
from nightcrew.core.policy.refusing import has_changed_since
from nightcrew.core.stage import Case

BY_HAND = frozenset({"pull_closed", "base_changed", "parent_closed"})
"""Blocks that only a person's hand on the pull request ends."""


def why_put_right(case: Case) -> str:
    """Why it goes on, in words; empty if nothing has changed about what it was blocked for."""
    reason, seen = case.task.block, case.view.pull
    if reason is not None and reason.code == "parent_closed":
        below = case.view.parent.value if isinstance(case.view.parent, Known) else None
        is_well = below is not None and (below.is_open or below.is_merged)
        return "the pull request that it stands on is open again" if is_well else ""
    if reason is None or not isinstance(seen, Known) or seen.value is None or not seen.value.pull.is_open:
        return ""
    return _why(case, seen.value, reason.code)


def _why(case: Case, pull: PullView, code: str) -> str:
    match code:
        case "pull_closed" | "base_changed" if case.task.base_ref in ("", pull.pull.base_ref):
            return "its pull request is open again, on the branch that it was made for"
        case "pull_fork" if not pull.pull.is_fork:
            return "its pull request is from a branch of the repository now"
        case "merge_refused" if has_changed_since(case.task, pull):
            return "what is seen of its pull request has changed since the forge refused the merge"
        case "ci_pending" if isinstance(pull.checks, Known) and not pending_checks(case.settings, pull):
            return "its checks have finished"
        case "ci_unpaid" if _is_paid_for(case, pull):
            return "the forge runs its checks again"
        case _:
            return ""


def _is_paid_for(case: Case, pull: PullView) -> bool:
    """Whether checks that the forge did not run for want of payment have another answer by now, or are under way."""
    if not isinstance(pull.checks, Known) or not pull.checks.value:
        return False
    return not any(is_unpaid(check) for check in failed_checks(case.settings, pull))
