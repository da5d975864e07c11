"""Which machine works on a task: what a claim is worth, and what may be done without one.

A claim is a lease. Its holder trusts it for half of it and renews it after a third. Another machine takes it over only
after it has itself watched it, unchanged, for the whole lease on its own monotonic clock: clocks that differ, or that
are set, cannot make it steal from a machine that lives.
"""

from dataclasses import replace

from nightcrew.core.action.claim import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.actions import Action, CollectRun, FinishTask, StopRun, TellPerson
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.claim import Claim, Hold
from nightcrew.core.model.world import TaskView
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Stage, act_on

RENEW_AFTER, TRUST_FOR = 1 / 3, 1 / 2
"""Parts of a lease."""
_AT_REST = (Status.DONE, Status.BLOCKED)


def judge(claim: Claim | None, *, me: str, unchanged_s: float, lease_s: float) -> Hold:
    """What a claim means to this machine, which has watched it unchanged for so long. One that cannot be read counts
    as another machine's with our own `lease_s`."""
    if claim is None:
        return Hold.FREE
    if claim.note is not None and claim.note.holder == me:
        return Hold.OURS
    return Hold.STALE if unchanged_s > (claim.note.lease_s if claim.note is not None else lease_s) else Hold.ELSEWHERE


def is_due(*, age_s: float, lease_s: float) -> bool:
    """Whether our claim is to be renewed."""
    return age_s >= lease_s * RENEW_AFTER


def is_trusted(*, age_s: float, lease_s: float, within_s: float | None = None) -> bool:
    """Whether nobody can have taken our claim over: it was confirmed not long ago by both clocks (a machine that slept
    has an old one, whatever its monotonic clock says)."""
    most = lease_s * TRUST_FOR
    return 0 <= age_s < (most if within_s is None else min(most, within_s))


def elsewhere(view: TaskView) -> Wait | None:
    """Why a task is left alone: another machine has it, or who has it is not known."""
    if isinstance(view.claim, Unknown):
        return Wait("claim_unknown", f"which machine has it could not be read ({view.claim.why})", "It is read again.")
    claim = view.claim.value
    if claim.hold is not Hold.ELSEWHERE:
        return None
    words = f"another machine works on it ({claim.host or 'its name is not known'})"
    return Wait(
        "claimed_elsewhere", words, "It is taken over if that machine stops renewing its claim.", claim.until_at
    )


def under_claim(view: TaskView, stage: Stage) -> Stage:
    """The step as the claim allows it: with none of our own, the claim comes first."""
    local = tuple(action for action in stage.actions if _is_local(action))
    taken = elsewhere(view)
    if taken is not None or isinstance(view.claim, Unknown):
        return Stage(local, stage.wait or (None if local else taken))
    hold, task = view.claim.value.hold, view.task
    if hold is Hold.OFF or hold is Hold.OURS or not (stage.actions or stage.entry):
        return stage
    if local:
        return replace(stage, actions=local)
    seen = _status_seen(view)
    if any(isinstance(action, FinishTask) for action in stage.actions) and _ended_elsewhere(view):
        why = "another machine, or a person, has finished it"
        return act_on(FinishTask(task.key, task.status, merged=False, why=why, as_seen=True))
    if seen is Status.BLOCKED and task.status is not Status.BLOCKED:
        # It was blocked by another machine, which has the question, or by hand: a label by a person lets it go on.
        return Stage(wait=Wait("blocked_elsewhere", "its label says blocked", "Set status:new or status:routed."))
    return act_on(_claim(view, "no machine has it" if hold is Hold.FREE else "its machine has stopped renewing it"))


def told_under_claim(view: TaskView, told: tuple[TellPerson, ...], wait: Wait | None) -> tuple[Action, ...]:
    """What may be said on the issue: the machine that has the task speaks. One that has something to say about a task
    that nobody has claims it; not where no new work starts, nor about a task at rest that it never spoke of."""
    if not told or isinstance(view.claim, Unknown):
        return ()
    hold = view.claim.value.hold
    if hold in (Hold.OFF, Hold.OURS):
        return told
    speaks = view.task.status not in _AT_REST or view.task.comment_id is not None
    is_free = hold in (Hold.FREE, Hold.STALE) and _status_seen(view) in (None, view.task.status)
    if not speaks or not is_free or (wait is not None and wait.code in ("paused", "draining", "disk_full")):
        return ()
    return (_claim(view, "its person is to be told"),)


def keep(view: TaskView) -> RenewClaim | None:
    """The renewal of our claim, when it is due and still wanted."""
    if isinstance(view.claim, Unknown) or view.claim.value.hold is not Hold.OURS or not view.claim.value.is_due:
        return None
    return None if _is_at_rest(view) else RenewClaim(view.task.key, "the claim on it is to be renewed")


def let_go(view: TaskView) -> ReleaseClaim | None:
    """Give the claim up where nothing is left to do but for a person."""
    if isinstance(view.claim, Unknown) or view.claim.value.hold is not Hold.OURS or not _is_at_rest(view):
        return None
    return ReleaseClaim(view.task.key, f"it is {view.task.status.value}")


def _is_at_rest(view: TaskView) -> bool:
    return view.task.status in _AT_REST and view.task.moving_to is None and not view.live


def _claim(view: TaskView, why: str) -> ClaimTask:
    """`inherits`: others have worked on it, so what is on the forge is looked at before anything is done."""
    is_stale = isinstance(view.claim, Known) and view.claim.value.hold is Hold.STALE
    moved = _status_seen(view) not in (None, view.task.status)
    return ClaimTask(view.task.key, inherits=is_stale or moved, why=why)


def _status_seen(view: TaskView) -> Status | None:
    issue = view.issue.value if isinstance(view.issue, Known) else None
    seen = parse_status_labels(issue.labels) if issue is not None else ()
    return seen[0] if len(seen) == 1 else None


def _ended_elsewhere(view: TaskView) -> bool:
    issue = view.issue.value if isinstance(view.issue, Known) else None
    done = issue is not None and not issue.is_open and _status_seen(view) is Status.DONE
    return done and view.task.comment_id is None


def _is_local(action: Action) -> bool:
    """What a run left is always collected: that changes nothing on the forge."""
    return isinstance(action, CollectRun | StopRun)
