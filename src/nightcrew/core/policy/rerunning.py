"""Is a check that failed to run once more, and what came of it?

Once for a head, and only before its author is asked: a second red is theirs. What is on record counts, so neither a
status that flaps nor a restart makes it twice.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nightcrew.core.known import Known
from nightcrew.core.model.pull import Check, CheckState, PullView
from nightcrew.core.model.reaction import ReactionAction, ReactionRule
from nightcrew.core.model.rerun import Rerun, RerunState
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.checking import OWN_PREFIX, REVIEW_CONTEXT, is_unpaid

LAG_S = 600.0
"""How long the red answer may still be shown after another one was asked for."""
PATIENCE_S = 1800.0
"""How long a failed check waits for the others to end, so that all that fail run again together."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Re-runs that have ended, by how they did."""

    passed: tuple[Rerun, ...] = ()
    failed: tuple[Rerun, ...] = ()


def source_of(check: Check) -> str:
    """What tells two checks of one name apart."""
    return f"{check.source}:{check.app}" if check.app else check.source


def can_rerun(check: Check) -> bool:
    """Whether it can be had again: check runs by the forge, engine checks by ourselves; nobody knows how of another
    status. Running it again is of no use where it is not paid for."""
    if is_unpaid(check) or check.state is not CheckState.FAILURE:
        return False
    if check.source == "check_run":
        return check.run_id is not None
    return check.name.startswith(OWN_PREFIX) and check.name != REVIEW_CONTEXT


def reruns_of(view: TaskView, pull: PullView) -> tuple[Rerun, ...]:
    """Those on record for the head."""
    seen = pull.pull
    return tuple(row for row in view.reruns if (row.pull, row.head_sha) == (seen.number, seen.head_sha))


def find_check(row: Rerun, checks: tuple[Check, ...]) -> Check | None:
    return next((one for one in checks if (one.name, source_of(one)) == (row.check, row.source)), None)


def answered(rows: tuple[Rerun, ...], pull: PullView) -> Answered:
    """Which of those that were asked for have another answer by now."""
    checks = pull.checks.value if isinstance(pull.checks, Known) else ()
    passed, failed = [], []
    for row in rows:
        check = find_check(row, checks)
        if row.state is not RerunState.ASKED or check is None or check.mark == row.mark:
            continue
        if check.state.satisfies:
            passed.append(row)
        elif check.state is CheckState.FAILURE:
            failed.append(row)
    return Answered(tuple(passed), tuple(failed))


def awaited_until(rows: tuple[Rerun, ...], pull: PullView, now: datetime) -> datetime | None:
    """Until when the red answer is taken for the old one; None if none is."""
    checks = pull.checks.value if isinstance(pull.checks, Known) else ()
    times = []
    for row in rows:
        check = find_check(row, checks)
        is_old = check is not None and check.mark == row.mark and check.state is CheckState.FAILURE
        if row.state is RerunState.ASKED and is_old:
            times.append(row.at + timedelta(seconds=LAG_S))
    return max((at for at in times if at > now), default=None)


def to_rerun(view: TaskView, pull: PullView, failed: list[Check], *, rule: ReactionRule) -> tuple[Check, ...]:
    """The failed checks that are to run once more: all of them that can, if this head had none run again yet. Where
    one of them cannot, its author has to come anyhow, and nothing is gained."""
    if not rule.rerun or rule.action is ReactionAction.NOTHING or reruns_of(view, pull):
        return ()
    return tuple(failed) if failed and all(can_rerun(check) for check in failed) else ()


def is_pending_beside(pull: PullView, failed: tuple[Check, ...]) -> bool:
    """Whether checks of the same makers are not finished: their workflow cannot run again before."""
    checks = pull.checks.value if isinstance(pull.checks, Known) else ()
    makers = {source_of(check) for check in failed}
    return any(check.state is CheckState.PENDING and source_of(check) in makers for check in checks)


def describe_reruns(rows: tuple[Rerun, ...]) -> str:
    """What to say of them with the failure, in a clause; empty if there is nothing."""
    if not rows:
        return ""
    refused = [row for row in rows if row.state is RerunState.REFUSED]
    if refused:
        return f"not run again, since the forge says no ({refused[0].why})"
    return "they failed again when run once more"
