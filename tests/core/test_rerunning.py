"""A red check is run once more at each head, and no more than once (M10)."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import MergePull, NoteReaction, RerunChecks, SettleReruns
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import Check, CheckState, ReviewState
from nightcrew.core.model.reaction import Reaction, ReactionAction, ReactionKey, ReactionKind, ReactionRule
from nightcrew.core.model.reaction import ReactionSettings as Rules
from nightcrew.core.model.rerun import Rerun, RerunState
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.model.world import TaskView
from tests.core.asking import blocked, moved, step, wait
from tests.core.build import HEAD, a_project, a_pull_view, a_review, a_settings, a_sha, a_task, a_verdict, a_view, at

F, P, S = CheckState.FAILURE, CheckState.PENDING, CheckState.SUCCESS
UNPAID = (
    "The job was not started because recent account payments have failed or your spending limit needs to be increased"
)


def a_run(name: str = "build", state: CheckState = F, mark: str = "1 red", **fields: Any) -> Check:
    return replace(Check(name, state, "check_run", app="ci", run_id=1, mark=mark), **fields)


def a_rerun(state: RerunState = RerunState.ASKED, **fields: Any) -> Rerun:
    return replace(Rerun(70, HEAD, "build", "check_run:ci", "1 red", at(-2), state), **fields)


def reviewed(*checks: Check, reruns: tuple[Rerun, ...] = (), **fields: Any) -> TaskView:
    view = a_view(task=a_task(Status.IN_REVIEW), verdicts=(a_verdict(),), pull=Known(a_pull_view(checks=Known(checks))))
    return replace(view, reruns=reruns, **fields)


def test_m10_the_first_red_is_run_once_more_and_the_second_goes_to_the_author():
    red = a_run()
    first = step(reviewed(red))
    assert isinstance(first, RerunChecks)
    assert (first.head_sha, first.checks) == (HEAD, (("build", "check_run:ci"),))
    second = reviewed(a_run(mark="2 red"), reruns=(a_rerun(),))
    settled = step(second)
    assert isinstance(settled, SettleReruns)
    assert [row.check for row in settled.failed] == ["build"]
    assert settled.passed == ()
    back = moved(replace(second, reruns=(a_rerun(RerunState.FAILED),)), Status.ROUTED, Evidence.CHANGES_REQUESTED)
    assert "failed again" in back.why
    assert [key.kind for key in back.sent] == [ReactionKind.CI_FAILED]


def test_m10_one_re_run_a_head_whatever_fails_after_it():
    rows = (a_rerun(RerunState.PASSED),)
    late = reviewed(a_run(state=S, mark="2 green"), a_run("lint", mark="9 red"), reruns=rows)
    moved(late, Status.ROUTED, Evidence.CHANGES_REQUESTED)
    other_head = reviewed(a_run(), reruns=(a_rerun(RerunState.FAILED, head_sha=a_sha(1)),))
    assert isinstance(step(other_head), RerunChecks)


def test_what_passes_then_is_written_down_as_flaky_before_it_merges():
    view = reviewed(a_run(state=S, mark="2 green"), reruns=(a_rerun(tests=("test_slow",)),))
    settled = step(view)
    assert isinstance(settled, SettleReruns)
    assert [row.tests for row in settled.passed] == [("test_slow",)]
    assert "flaky" in settled.why
    assert isinstance(step(replace(view, reruns=(a_rerun(RerunState.PASSED),))), MergePull)


def test_the_old_answer_is_not_taken_for_the_new_one_until_it_lasts():
    waiting = wait(reviewed(a_run(), reruns=(a_rerun(),)))
    assert (waiting.code, waiting.until_at) == ("rerunning", at(8))
    assert wait(reviewed(a_run(state=P, mark="2"), reruns=(a_rerun(),))).code == "gate_waits"
    moved(reviewed(a_run(), reruns=(a_rerun(at=at(-11)),)), Status.ROUTED, Evidence.CHANGES_REQUESTED)


@pytest.mark.parametrize(
    "checks",
    [
        (a_run(run_id=None),),
        (Check("jenkins", F, "status"),),
        (a_run(), Check("jenkins", F, "status")),
    ],
    ids=["no number", "a status", "one that cannot be had again beside"],
)
def test_what_nobody_can_run_again_goes_to_the_author_at_once(checks):
    moved(reviewed(*checks), Status.ROUTED, Evidence.CHANGES_REQUESTED)


def test_it_can_be_turned_off():
    off = a_settings(a_project(reactions=Rules(ci_failed=ReactionRule(rerun=False))))
    moved(reviewed(a_run()), Status.ROUTED, Evidence.CHANGES_REQUESTED, settings=off)
    nothing = a_settings(a_project(reactions=Rules(ci_failed=ReactionRule(ReactionAction.NOTHING))))
    assert wait(reviewed(a_run()), settings=nothing).code == "gate_shut"
    told = a_settings(a_project(reactions=Rules(ci_failed=ReactionRule(ReactionAction.NOTIFY))))
    assert isinstance(step(reviewed(a_run()), settings=told), RerunChecks)


def test_where_the_forge_says_no_its_words_go_along():
    rows = (a_rerun(RerunState.REFUSED, why="it takes actions=write"),)
    back = moved(reviewed(a_run(), reruns=rows), Status.ROUTED, Evidence.CHANGES_REQUESTED)
    assert "actions=write" in back.why


def test_a_cut_short_request_is_finished_and_one_that_cannot_be_had_in_time_is_given_up():
    cut = reviewed(a_run(), reruns=(a_rerun(RerunState.WANTED),))
    again = step(cut)
    assert isinstance(again, RerunChecks)
    assert again.checks == (("build", "check_run:ci"),)
    old = step(replace(cut, reruns=(a_rerun(RerunState.WANTED, at=at(-31)),)))
    assert isinstance(old, SettleReruns)
    assert [row.check for row in old.failed] == ["build"]


def test_all_that_fail_run_again_together_so_long_as_there_is_patience():
    view = reviewed(a_run(), a_run("slow", P, "7"))
    seen = step(view)
    assert isinstance(seen, NoteReaction)
    assert seen.words == ""
    key = ReactionKey(70, HEAD, ReactionKind.CI_FAILED)
    held = wait(replace(view, reactions=(Reaction(key, at(-5)),)))
    assert (held.code, held.until_at) == ("rerun_waits", at(25))
    assert isinstance(step(replace(view, reactions=(Reaction(key, at(-31)),))), RerunChecks)
    foreign = reviewed(a_run(), Check("jenkins", P, "status"))
    assert isinstance(step(foreign), RerunChecks)


def test_an_engine_check_is_run_again_too():
    own = Check("nightcrew/tests", F, "status", mark="4")
    settings = a_settings(a_project(checks=(CheckCommand("tests", ("make",)),)))
    asked = step(reviewed(own), settings=settings)
    assert isinstance(asked, RerunChecks)
    assert asked.checks == (("nightcrew/tests", "status"),)


def test_what_is_not_paid_for_is_not_run_again():
    assert blocked(reviewed(a_run(annotations=(UNPAID,)))).code == "ci_unpaid"


def test_what_people_say_goes_first_and_takes_the_failure_along():
    asks = a_review("olga", ReviewState.CHANGES_REQUESTED, id=9)
    view = reviewed(a_run())
    pull = a_pull_view(checks=Known((a_run(),)), reviews=Known((asks,)))
    back = moved(replace(view, pull=Known(pull)), Status.ROUTED, Evidence.CHANGES_REQUESTED)
    assert [key.kind for key in back.sent] == [ReactionKind.CHANGES_REQUESTED, ReactionKind.CI_FAILED]
