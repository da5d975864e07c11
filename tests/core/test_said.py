"""What follows from a message to an agent, in each status."""

from dataclasses import replace
from typing import Any, TypeVar

import pytest

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.actions import MergePull, MoveStatus, RecordRoute, StartRun, StopRun, TellPerson
from nightcrew.core.decide import Decision, decide
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.run import Interruption, InterruptionKind, Role, Run, RunOutcome, Stop, StopCause
from nightcrew.core.model.saying import Saying, SayingState
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.saying import MOST_TRIES, MOST_WAITING, clean_saying, split_now, why_not_said
from tests.core.build import (
    a_pull,
    a_pull_view,
    a_route,
    a_run,
    a_saying,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_open_run,
    an_outcome,
    live,
)

SAID = (a_saying(),)
A = TypeVar("A")


def step(view: TaskView) -> Decision:
    return decide(a_world(view))


def only(decision: Decision, kind: type[A]) -> A:
    (found,) = [action for action in decision.actions if isinstance(action, kind)]
    return found


@pytest.mark.parametrize("status", [Status.IN_PROGRESS, Status.NEEDS_REVIEW, Status.IN_REVIEW])
def test_a_message_comes_before_anything_else(status):
    view = a_view(status, sayings=SAID, verdicts=(a_verdict(),), runs=(a_run(),))
    move = only(step(view), MoveStatus)
    assert (move.target, move.evidence, move.reset) == (Status.ROUTED, Evidence.PERSON, False)
    assert not [action for action in step(view).actions if isinstance(action, MergePull)]


@pytest.mark.parametrize(
    ("code", "goes_on"),
    [
        ("needs_input", True), ("out_of_attempts", True), ("review_cycles", True), ("no_changes", True),
        ("by_person", False), ("budget", False), ("pull_closed", False), ("pull_fork", False), ("bad_label", False),
    ],
)  # fmt: skip
def test_a_block_is_lifted_unless_somebody_holds_the_task(code, goes_on):
    view = a_view(task=a_task(Status.BLOCKED, block=Block(code, "why")), sayings=SAID, runs=(a_run(),))
    decision = step(view)
    moves = [action for action in decision.actions if isinstance(action, MoveStatus)]
    assert bool(moves) is goes_on
    if not goes_on:
        assert "message of olga waits" in decision.waits[view.task.key].next


def test_where_nobody_has_begun_a_block_stays():
    view = a_view(task=a_task(Status.BLOCKED, block=Block("needs_input", "why")), sayings=SAID)
    assert not [action for action in step(view).actions if isinstance(action, MoveStatus)]


def test_the_one_who_wrote_goes_on_in_its_session_whatever_the_route_says():
    wrote = a_run(agent="bob", outcome=an_outcome(agent_session="s1", can_resume=True))
    view = a_view(task=a_task(Status.ROUTED, route=a_route("ann")), sayings=SAID, runs=(wrote,))
    assert only(step(view), RecordRoute).route.agent == "bob"
    view = replace(view, task=replace(view.task, route=a_route("bob")))
    start = only(step(view), StartRun)
    assert (start.agent, start.resumes, start.hears) == ("bob", "s1", True)


def test_a_label_or_a_failure_hands_it_to_another():
    wrote = a_run(agent="bob", outcome=an_outcome(agent_session="s1", can_resume=True))
    view = a_view(
        task=a_task(Status.ROUTED, route=a_route("bob")),
        sayings=SAID, runs=(wrote,), labels=(Status.ROUTED.label, "agent:ann"),
    )  # fmt: skip
    assert only(step(view), RecordRoute).route.agent == "ann"
    failed = replace(wrote, outcome=an_outcome(failure=FailureKind.CRASH, agent_session="s1", can_resume=True))
    task = a_task(Status.ROUTED, route=a_route("bob"), tried=("bob",))
    assert only(step(a_view(task=task, sayings=SAID, runs=(failed,))), RecordRoute).route.agent == "ann"


def test_it_is_heard_though_the_attempts_are_used_up_and_uses_none():
    spent = tuple(a_run(attempt=number, outcome=an_outcome(failure=FailureKind.NO_CHANGES)) for number in range(1, 6))
    task = a_task(Status.ROUTED, route=a_route("ann"))
    assert only(step(a_view(task=task, runs=spent)), MoveStatus).target is Status.BLOCKED
    assert only(step(a_view(task=task, runs=spent, sayings=SAID)), StartRun).hears
    turns = tuple(replace(run, hears=True) for run in spent)
    assert [action for action in step(a_view(task=task, runs=turns)).actions if isinstance(action, StartRun)]


def test_only_one_that_is_not_to_wait_ends_a_turn():
    run = an_open_run()
    view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run),), sayings=SAID)
    assert not [action for action in step(view).actions if isinstance(action, StopRun)]
    assert "message of olga waits" in step(view).waits[view.task.key].next
    stop = only(step(replace(view, sayings=(a_saying(interrupts=True),))), StopRun)
    assert stop.cause is StopCause.SAID


def test_a_review_at_work_is_left_for_it():
    run = an_open_run(Role.REVIEWER)
    view = a_view(Status.IN_REVIEW, runs=(a_run(), run), live=(live(run),), sayings=SAID)
    assert only(step(view), MoveStatus).target is Status.ROUTED


def given(**fields: Any) -> Saying:
    return a_saying(run=RunId("author-2"), state=SayingState.DELIVERED, **fields)


def settled(saying: Saying, run: Run, **seen: Any) -> SettleSaying | None:
    """What is written down of a message that this run has."""
    is_live = bool(seen) or run.is_open
    view = a_view(
        Status.IN_PROGRESS, runs=(a_run(), run), live=(live(run, **seen),) if is_live else (), sayings=(saying,)
    )
    found = [action for action in step(view).actions if isinstance(action, SettleSaying)]
    return found[0] if found else None


def test_it_is_seen_when_the_model_answers_or_a_report_is_there():
    at_work = an_open_run(attempt=2, id=RunId("author-2"), resumes="s1")
    assert settled(given(), at_work) is None
    seen = settled(given(), at_work, answered_in="s1")
    assert seen is not None
    assert (seen.state, seen.session) == (SayingState.SEEN, "s1")
    assert seen.why == "delivered to ann in turn 2, in its own session"
    other = settled(given(), at_work, answered_in="s2")
    assert other is not None
    assert other.why.endswith("in a new session")
    ended = settled(given(), a_run(attempt=2))
    assert ended is not None
    assert ended.state is SayingState.SEEN
    # A start that was never recorded is one all the same.
    early = settled(a_saying(run=RunId("author-2")), a_run(attempt=2))
    assert early is not None
    assert early.state is SayingState.SEEN


def test_without_a_sign_it_waits_anew_and_in_the_end_is_given_up():
    silent = a_run(attempt=2, outcome=an_outcome(failure=FailureKind.RATE_LIMIT))
    again = settled(given(), silent)
    assert again is not None
    assert (again.state, again.run) == (SayingState.QUEUED, silent.id)
    last = settled(given(tries=MOST_TRIES - 1), silent)
    assert last is not None
    assert last.state is SayingState.UNDELIVERED
    heard = a_run(attempt=2, outcome=an_outcome(failure=FailureKind.HANG, answered=True))
    seen = settled(given(), heard)
    assert seen is not None
    assert seen.state is SayingState.SEEN


def test_a_run_that_another_message_cut_short_is_no_failed_try():
    stop = Stop(StopCause.SAID, "olga has something to say")
    why = Interruption(InterruptionKind.STOPPED, stop.why)
    cut = replace(a_run(attempt=2, outcome=RunOutcome(None, None, interruption=why)), stop=stop)
    again = settled(given(tries=MOST_TRIES - 1), cut)
    assert again is not None
    assert (again.state, again.is_tried) == (SayingState.QUEUED, False)


def test_nothing_is_published_before_it_is_known_whether_it_was_heard():
    view = a_view(Status.IN_PROGRESS, runs=(a_run(attempt=2),), sayings=(given(),))
    decision = step(view)
    assert {type(action) for action in decision.actions} == {SettleSaying, TellPerson}
    assert decision.waits[view.task.key].code == "message"


def test_of_a_fork_it_is_said_that_nobody_can_hear_it():
    pull = Known(a_pull_view(a_pull(is_fork=True)))
    view = a_view(Status.NEEDS_REVIEW, pull=pull, sayings=SAID)
    found = only(step(view), SettleSaying)
    assert found.state is SayingState.UNDELIVERED
    assert "comes from a fork" in found.why


def test_what_may_be_said():
    task = a_task(Status.IN_REVIEW)
    assert why_not_said(task, None, "hello") == ""
    assert "it is done" in why_not_said(replace(task, status=Status.DONE), None, "hello")
    assert "20 messages wait" in why_not_said(task, None, "hello", waiting=MOST_WAITING)
    assert clean_saying(" a\x1b[2Jb\u200b\r\nc ") == "a[2Jb\nc"
    assert split_now("--now  use a\nlock") == ("use a\nlock", True)
    assert split_now("—now stop") == ("stop", True)
    assert split_now("use --now") == ("use --now", False)
    assert split_now("") == ("", False)


def test_what_the_router_chose_stays_with_the_agent_that_goes_on():
    task = a_task(Status.ROUTED, route=a_route("bob", skills=("tests",)))
    route = only(step(a_view(task=task, sayings=SAID, runs=(a_run(agent="ann"),))), RecordRoute).route
    assert (route.agent, route.skills) == ("ann", ("tests",))
