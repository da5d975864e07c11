"""Which machine works on a task: what a claim is worth, and what is left alone without one."""

from dataclasses import replace

import pytest

from nightcrew.core.action.claim import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.actions import AcceptPerson, AdoptIssue, CollectRun, FinishTask, RecordRoute, StopRun, TellPerson
from nightcrew.core.decide import decide
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.claim import Claim, ClaimNote, ClaimView, Hold
from nightcrew.core.model.run import Role, RunState
from nightcrew.core.model.world import Candidate, TaskView
from nightcrew.core.policy.claiming import is_due, is_trusted, judge
from nightcrew.core.policy.intake import adopt
from nightcrew.core.reason import Wait
from nightcrew.core.render import render_status_comment
from tests.core.build import a_key, a_project, a_sha, a_view, a_world, an_issue, an_open_run, at, live

LEASE_S = 1800.0
NOTE = ClaimNote("other", "other.example", at(30), LEASE_S)
THEIRS = ClaimView(Hold.ELSEWHERE, "other.example", at(30))
FREE, OURS, STALE = ClaimView(Hold.FREE), ClaimView(Hold.OURS), ClaimView(Hold.STALE, "other.example")


def seen(claim: ClaimView, status: Status = Status.NEW, *, is_open: bool = True, **fields) -> TaskView:
    view = replace(a_view(status, **fields), claim=Known(claim))
    assert isinstance(view.issue, Known)
    assert view.issue.value is not None
    return replace(view, issue=Known(replace(view.issue.value, is_open=is_open)))


def actions(view: TaskView, **world) -> list[object]:
    return list(decide(a_world(view, **world)).actions)


@pytest.mark.parametrize(
    ("holder", "unchanged_s", "hold"),
    [("me", 0, Hold.OURS), ("me", 1e9, Hold.OURS), ("other", 1800, Hold.ELSEWHERE), ("other", 1801, Hold.STALE)],
)
def test_a_claim_is_stale_only_after_it_was_watched_for_its_whole_lease(holder, unchanged_s, hold):
    claim = Claim(7, a_sha(1), replace(NOTE, holder=holder, until_at=at(-600)))
    assert judge(claim, me="me", unchanged_s=unchanged_s, lease_s=60) is hold


def test_one_that_cannot_be_read_has_our_own_lease():
    claim = Claim(7, a_sha(1), None)
    assert judge(claim, me="me", unchanged_s=60, lease_s=60) is Hold.ELSEWHERE
    assert judge(claim, me="me", unchanged_s=61, lease_s=60) is Hold.STALE
    assert judge(None, me="me", unchanged_s=61, lease_s=60) is Hold.FREE


def test_it_is_renewed_before_it_is_no_longer_trusted_and_trusted_no_longer_than_others_wait():
    assert not is_due(age_s=599, lease_s=LEASE_S)
    assert is_due(age_s=600, lease_s=LEASE_S)
    assert is_trusted(age_s=899, lease_s=LEASE_S)
    assert not is_trusted(age_s=900, lease_s=LEASE_S)
    assert not is_trusted(age_s=61, lease_s=LEASE_S, within_s=60)
    assert not is_trusted(age_s=0, lease_s=LEASE_S, within_s=0)
    assert not is_trusted(age_s=float("inf"), lease_s=LEASE_S)


@pytest.mark.parametrize("claim", [FREE, STALE])
def test_the_claim_comes_before_anything_else(claim):
    (action,) = actions(seen(claim))
    assert isinstance(action, ClaimTask)
    assert action.inherits is (claim is STALE)


@pytest.mark.parametrize("claim", [OURS, ClaimView(Hold.OFF)])
def test_with_it_the_task_goes_its_way(claim):
    (action,) = actions(seen(claim))
    assert isinstance(action, RecordRoute)


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.DONE])
@pytest.mark.parametrize("labels", [("status:new",), ("status:in_progress",), ("status:done",), ()])
def test_a_task_of_another_machine_is_left_alone(status, labels):
    view = seen(THEIRS, status, labels=labels)
    decision = decide(a_world(view))
    assert decision.actions == ()
    wait = decision.waits[view.task.key]
    assert (wait.code, wait.until_at) == ("claimed_elsewhere", at(30))
    assert "other.example" in wait.words


def test_what_runs_of_a_lost_task_is_ended_and_its_work_kept():
    run = an_open_run(Role.AUTHOR, RunState.RUNNING)
    view = replace(seen(THEIRS, Status.IN_PROGRESS), runs=(run,), live=(live(run),))
    assert [type(action) for action in actions(view)] == [StopRun]
    ended = replace(view, live=(replace(live(run), has_result=True),))
    assert [type(action) for action in actions(ended)] == [CollectRun]


def test_while_claims_cannot_be_read_only_what_is_here_is_done():
    view = replace(a_view(Status.NEW), claim=Unknown("no route to host"))
    decision = decide(a_world(view))
    assert decision.actions == ()
    assert decision.waits[view.task.key].code == "claim_unknown"
    run = an_open_run(Role.AUTHOR, RunState.RUNNING)
    view = replace(a_view(Status.IN_PROGRESS), claim=Unknown("?"), runs=(run,), live=(live(run),))
    assert decide(a_world(view)).waits[view.task.key].code == "running"


def test_a_due_claim_is_renewed_beside_everything_else():
    due = replace(OURS, is_due=True)
    found = actions(seen(due))
    assert [type(action) for action in found] == [RenewClaim, RecordRoute]
    busy = decide(a_world(seen(due), in_flight=(found[1],)))
    assert [type(action) for action in busy.actions] == [RenewClaim]
    assert decide(a_world(seen(due), in_flight=tuple(found))).actions == ()


def quiet(claim: ClaimView, status: Status, **fields) -> TaskView:
    """A task at rest of which everything is told."""
    view = seen(claim, status, **fields)
    wait = decide(a_world(replace(view, claim=Known(ClaimView(Hold.OFF))))).waits.get(view.task.key)
    return replace(view, task=replace(view.task, told=render_status_comment(view, wait), comment_id=1))


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.DONE])
def test_it_is_given_up_once_nothing_is_left_to_do(status):
    fields = {"is_open": False} if status is Status.DONE else {}
    view = quiet(replace(OURS, is_due=True), status, **fields)
    assert [type(action) for action in actions(view)] == [ReleaseClaim]
    untold = replace(view, task=replace(view.task, told=""))
    assert [type(action) for action in actions(untold)] == [TellPerson]
    moving = replace(view, task=replace(view.task, moving_to=status))
    assert ReleaseClaim not in [type(action) for action in actions(moving)]
    assert actions(quiet(FREE, status, **fields)) == []
    (telling,) = decide(a_world(untold)).actions
    held = Wait("retrying", "it was refused", "It is tried again.")
    assert decide(a_world(untold, in_flight=(telling,))).actions == ()
    assert decide(a_world(untold, deferred={telling.key: held})).actions == ()
    assert actions(replace(untold, issue=Unknown("?"))) == []


def test_one_at_work_is_not_given_up():
    run = an_open_run(Role.AUTHOR, RunState.RUNNING)
    view = replace(seen(OURS, Status.IN_PROGRESS), runs=(run,), live=(live(run),))
    assert ReleaseClaim not in [type(action) for action in actions(view)]


def test_what_another_machine_blocked_is_its_to_tell():
    view = seen(FREE, Status.NEW, labels=("status:blocked",))
    decision = decide(a_world(view))
    assert decision.actions == ()
    assert decision.waits[view.task.key].code == "blocked_elsewhere"
    again = seen(FREE, Status.NEW, labels=("status:routed",))
    (action,) = actions(again)
    assert isinstance(action, ClaimTask)
    assert action.inherits
    assert isinstance(actions(replace(again, claim=Known(OURS)))[0], AcceptPerson)


def test_what_another_machine_finished_is_only_recorded():
    view = seen(FREE, Status.NEW, labels=("status:done",), is_open=False)
    (action,) = actions(view)
    assert isinstance(action, FinishTask)
    assert action.as_seen
    ours = replace(view, task=replace(view.task, comment_id=3))
    assert [type(action) for action in actions(ours)] == [ClaimTask]


def test_a_paused_machine_claims_nothing():
    assert actions(seen(FREE), paused=True) == []


def test_a_machine_with_words_for_a_person_claims_the_task_to_say_them():
    view = seen(FREE)
    nobody = a_world(view, agents={})
    assert [type(action) for action in decide(nobody).actions] == [ClaimTask]


@pytest.mark.parametrize(
    ("label", "is_left", "status"),
    [
        ("status:in_review", True, Status.IN_REVIEW),
        ("status:blocked", True, Status.BLOCKED),
        ("status:in_review", False, None),
        ("status:done", True, None),
        ("status:new", True, Status.NEW),
    ],
)
def test_work_that_a_machine_left_is_gone_on_with(label, is_left, status):
    issue = an_issue(labels=(label, "nightcrew"))
    action = adopt(a_project(), Candidate(issue, Known(True), is_left))
    assert (action.status if isinstance(action, AdoptIssue) else None) is status
    assert adopt(a_project(), Candidate(issue, Known(False), is_left)) is None


def test_the_keys_tell_the_actions_apart():
    key = a_key()
    keys = [ClaimTask(key, False, "").key, RenewClaim(key, "").key, ReleaseClaim(key, "").key]
    assert len(set(keys)) == 3
