"""Runs that have not been collected, by what is seen of them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.actions import CollectRun, MoveStatus, NoteRun, ResumeStart, StopRun, TellPerson
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import TASK_ROLES, Probe, Role, RunState, StopCause
from nightcrew.core.step.live import OVERDUE_S
from tests.core.build import (
    NOW,
    UNKNOWN,
    a_pull,
    a_pull_view,
    a_settings,
    a_sha,
    a_view,
    a_world,
    an_agent,
    an_open_run,
    live,
)

PLACE = {Role.AUTHOR: Status.IN_PROGRESS, Role.REVIEWER: Status.IN_REVIEW, Role.ROUTER: Status.NEW}
BEFORE = {Role.AUTHOR: Status.ROUTED, Role.REVIEWER: Status.NEEDS_REVIEW, Role.ROUTER: Status.NEW}
STARTING, RUNNING = RunState.STARTING, RunState.RUNNING


def outcome(
    role: Role, state: RunState, session: Probe, *, seen: Any = None, status: Status | None = None, **run: Any
) -> type | str:
    """The type of the action, or the code of the wait. `seen` is what else is seen of the run."""
    made = an_open_run(role, state, **run)
    view = replace(a_view(status or PLACE[role]), runs=(made,), live=(live(made, session, **(seen or {})),))
    decision = decide(a_world(view))
    actions = [action for action in decision.actions if not isinstance(action, TellPerson)]
    return type(actions[0]) if actions else decision.waits[view.task.key].code


@pytest.mark.parametrize("role", TASK_ROLES)
@pytest.mark.parametrize(
    ("state", "session", "expected"),
    [
        (STARTING, Probe.UNKNOWN, "session_unknown"),
        (STARTING, Probe.DEAD, ResumeStart),
        (STARTING, Probe.ALIVE, ResumeStart),
        (RUNNING, Probe.UNKNOWN, "session_unknown"),
        (RUNNING, Probe.DEAD, CollectRun),
        (RUNNING, Probe.ALIVE, "running"),
    ],
)
def test_in_its_place(role, state, session, expected):
    assert outcome(role, state, session) == expected
    assert outcome(role, state, session, seen={"has_result": True}) is CollectRun


@pytest.mark.parametrize("role", TASK_ROLES)
def test_a_start_that_did_not_get_to_its_status_is_finished(role):
    assert outcome(role, STARTING, Probe.DEAD, status=BEFORE[role]) is ResumeStart


@pytest.mark.parametrize("role", TASK_ROLES)
@pytest.mark.parametrize("state", [STARTING, RUNNING])
def test_out_of_its_place_it_is_ended(role, state):
    assert outcome(role, state, Probe.ALIVE, status=Status.BLOCKED) is StopRun
    assert outcome(role, state, Probe.DEAD, status=Status.BLOCKED) is CollectRun
    assert outcome(role, state, Probe.UNKNOWN, status=Status.BLOCKED) == "session_unknown"


@pytest.mark.parametrize("role", [Role.AUTHOR, Role.REVIEWER])
def test_running_in_the_status_before_it_is_out_of_place(role):
    assert outcome(role, RUNNING, Probe.ALIVE, status=BEFORE[role]) is StopRun


@pytest.mark.case("C067")
def test_a_lost_run_is_collected_as_lost_and_one_with_a_result_is_not():
    run = an_open_run()
    for session, has_result, lost in ((Probe.DEAD, False, True), (Probe.DEAD, True, False), (Probe.ALIVE, True, False)):
        view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run, session, has_result=has_result),))
        (action,) = decide(a_world(view)).actions
        assert isinstance(action, CollectRun)
        assert action.lost is lost


@pytest.mark.case("C118")
def test_a_result_is_used_whatever_else_is_unknown():
    assert outcome(Role.AUTHOR, RUNNING, Probe.UNKNOWN, seen={"has_result": True}) is CollectRun


@pytest.mark.case("C159")
def test_a_push_during_the_review_voids_it():
    assert outcome(Role.REVIEWER, RUNNING, Probe.ALIVE, head_sha=a_sha(5)) is StopRun


@pytest.mark.parametrize("pull", [UNKNOWN, Known(None), Known(a_pull_view())])
def test_a_review_goes_on_while_its_pull_is_not_known_to_have_moved(pull):
    run = an_open_run(Role.REVIEWER)
    view = replace(a_view(Status.IN_REVIEW), pull=pull, runs=(run,), live=(live(run),))
    assert decide(a_world(view)).waits[view.task.key].code == "running"


@pytest.mark.parametrize(
    ("late_s", "expected"), [(-1, "running"), (0, "running"), (OVERDUE_S, "running"), (OVERDUE_S + 1, StopRun)]
)
def test_overdue(late_s, expected):
    seen = {"running_s": 100 + late_s}
    assert outcome(Role.AUTHOR, RUNNING, Probe.ALIVE, seen=seen, deadline_s=100.0) == expected


def test_what_the_wall_clock_says_ends_no_run():
    old = NOW - timedelta(hours=9)
    assert outcome(Role.AUTHOR, RUNNING, Probe.ALIVE, started_at=old, created_at=old) == "running"


@pytest.mark.parametrize("role", TASK_ROLES)
@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"silent_s": 599.0}, "running"),
        ({"silent_s": 600.0}, NoteRun),
        ({"silent_s": 900.0}, StopRun),
        ({"silent_s": 9000.0, "at_work": True}, "running"),
        ({"silent_s": 900.0, "has_result": True}, CollectRun),
    ],
)
def test_silence(role, seen, expected):
    assert outcome(role, RUNNING, Probe.ALIVE, seen=seen) == expected


@pytest.mark.parametrize(("limit_s", "causes"), [(0.0, []), (60.0, [StopCause.SILENT])])
def test_silence_is_a_limit_of_the_agent(limit_s, causes):
    run = an_open_run()
    view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run, silent_s=100.0),))
    settings = a_settings(agents=(an_agent("ann", silence_s=limit_s), an_agent("bob")))
    found = [action.cause for action in decide(a_world(view, settings=settings)).actions if isinstance(action, StopRun)]
    assert found == causes


@pytest.mark.parametrize("role", TASK_ROLES)
@pytest.mark.parametrize(("has_result", "causes"), [(False, [StopCause.LIMITED]), (True, [])])
def test_a_run_that_only_repeats_a_limit_is_ended(role, has_result, causes):
    run = an_open_run(role)
    view = a_view(PLACE[role], runs=(run,), live=(live(run, limit="no more today", has_result=has_result),))
    found = [action for action in decide(a_world(view)).actions if isinstance(action, StopRun)]
    assert [action.cause for action in found] == causes
    assert all("no more today" in action.why for action in found)


@pytest.mark.parametrize(("silent_s", "words"), [(20.0, "20 s"), (90.0, "90 s"), (900.0, "15 min")])
def test_how_long_it_was_silent_is_said(silent_s, words):
    run = an_open_run()
    view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run, silent_s=silent_s),))
    settings = a_settings(agents=(an_agent("ann", silence_s=20.0), an_agent("bob")))
    (stop,) = [action for action in decide(a_world(view, settings=settings)).actions if isinstance(action, StopRun)]
    assert stop.why == f"it printed nothing for {words}"


def test_an_agent_that_left_the_settings_is_told_of_and_not_ended_for_silence():
    assert outcome(Role.AUTHOR, RUNNING, Probe.ALIVE, seen={"silent_s": 1e6}, agent="gone") is NoteRun


@pytest.mark.parametrize(
    ("role", "words"), [(Role.AUTHOR, "works on it"), (Role.REVIEWER, "reviews it"), (Role.ROUTER, "judges how hard")]
)
def test_what_it_waits_for_and_until_when(role, words):
    run = an_open_run(role)
    view = replace(a_view(PLACE[role]), runs=(run,), live=(live(run),))
    wait = decide(a_world(view)).waits[view.task.key]
    assert words in wait.words
    assert run.started_at is not None
    assert wait.until_at == run.started_at + timedelta(seconds=run.deadline_s)


def test_two_runs_are_settled_one_after_the_other():
    """The one that is out of place first; the other waits."""
    author, reviewer = an_open_run(), an_open_run(Role.REVIEWER)
    view = a_view(Status.IN_REVIEW, runs=(author, reviewer), live=(live(author), live(reviewer)))
    (action,) = [a for a in decide(a_world(view)).actions if not isinstance(a, TellPerson)]
    assert isinstance(action, StopRun)
    assert action.run == author.id


def test_a_run_that_is_waited_for_holds_up_no_other():
    author, reviewer = an_open_run(), an_open_run(Role.REVIEWER)
    ended = live(reviewer, has_result=True)
    view = a_view(Status.IN_REVIEW, runs=(author, reviewer), live=(live(author, Probe.UNKNOWN), ended))
    (action,) = [a for a in decide(a_world(view)).actions if not isinstance(a, TellPerson)]
    assert isinstance(action, CollectRun)
    assert action.run == reviewer.id


@pytest.mark.parametrize("base_ref", ["main", "release"])
def test_a_review_is_for_one_base(base_ref):
    run = an_open_run(Role.REVIEWER)
    pull = Known(a_pull_view(a_pull(base_ref=base_ref)))
    view = replace(a_view(Status.IN_REVIEW), pull=pull, runs=(run,), live=(live(run),))
    (action, *_) = decide(a_world(view)).actions
    assert isinstance(action, StopRun) is (base_ref != "main")


def test_a_live_run_holds_up_its_status_step():
    run = an_open_run()
    view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run),))
    assert not [action for action in decide(a_world(view)).actions if isinstance(action, MoveStatus)]
