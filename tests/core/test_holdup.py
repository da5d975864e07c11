"""What holds up a merge and is nobody's work to mend: checks that do not end, and a base that is red itself."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.actions import MergePull, MoveStatus, NoteHoldup, SoundAlarm, UpdateBranch
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.holdup import Holdup, HoldupKind
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.model.pull import Required
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from tests.core.asking import blocked, moved, step, steps, wait
from tests.core.build import (
    HEAD,
    NOW,
    PROJECT,
    UNKNOWN,
    a_check,
    a_project,
    a_project_world,
    a_pull,
    a_pull_view,
    a_settings,
    a_task,
    a_verdict,
    a_view,
    a_world,
)
from tests.core.gate import F, P, S, checks, required

LIMIT_S = MergeSettings().checks_limit_s


def held(kind: HoldupKind, ago_s: float = 0.0) -> Holdup:
    at = NOW - timedelta(seconds=ago_s)
    return Holdup(70, HEAD, kind, at, at)


def a_held_view(*holdups: Holdup, **parts: Any) -> TaskView:
    status, number = parts.pop("status", Status.IN_REVIEW), parts.pop("number", 7)
    pull = parts.pop("pull", a_pull())
    task = a_task(status, number, holdups=holdups, pull=70, base_ref="main")
    return a_view(task=task, pull=Known(a_pull_view(pull, **parts)), verdicts=(a_verdict(),))


PENDING: dict[str, Any] = {"checks": checks(("build", P))}


@pytest.mark.case("C168")
class TestPendingLimit:
    def test_the_start_is_kept_once(self):
        (note,) = steps(a_held_view(**PENDING))
        assert isinstance(note, NoteHoldup)
        assert (note.kind, note.head_sha, note.is_over) == (HoldupKind.CHECKS, HEAD, False)
        assert steps(a_held_view(held(HoldupKind.CHECKS, 60), **PENDING)) == []

    def test_it_waits_until_the_limit_and_then_a_person_is_asked_in_words(self):
        before = a_held_view(held(HoldupKind.CHECKS, LIMIT_S - 1), **PENDING)
        assert wait(before).code == "gate_waits"
        block = blocked(a_held_view(held(HoldupKind.CHECKS, LIMIT_S), **PENDING))
        assert block.code == "ci_pending"
        assert "build have not finished after 120 min" in block.words

    def test_looking_often_does_not_start_it_anew(self):
        """The timer that restarted at each call never rang."""
        for ago_s in range(0, int(LIMIT_S), 90):
            assert steps(a_held_view(held(HoldupKind.CHECKS, ago_s), **PENDING)) == []

    @pytest.mark.case("C177")
    def test_a_required_check_that_never_reports_is_named(self):
        parts = {"checks": checks(("lint", S)), **required("build")}
        block = blocked(a_held_view(held(HoldupKind.CHECKS, LIMIT_S), **parts))
        assert block.words.startswith("build have not finished")

    def test_no_limit_is_for_ever(self):
        settings = a_settings(a_project(merge=MergeSettings(checks_limit_s=0)))
        assert wait(a_held_view(held(HoldupKind.CHECKS, 1e7), **PENDING), settings=settings).code == "gate_waits"

    def test_what_failed_meanwhile_comes_first(self):
        parts = {"checks": checks(("build", P), ("lint", F))}
        moved(a_held_view(held(HoldupKind.CHECKS, LIMIT_S), **parts), Status.ROUTED, Evidence.CHANGES_REQUESTED)

    def test_what_ended_is_taken_back_where_something_else_keeps_it_from_merging(self):
        (note,) = steps(a_held_view(held(HoldupKind.CHECKS, 60), pull=a_pull(is_draft=True)))
        assert isinstance(note, NoteHoldup)
        assert note.is_over

    def test_green_at_last_it_merges(self):
        assert isinstance(step(a_held_view(held(HoldupKind.CHECKS, 1e6))), MergePull)

    def test_a_blocked_task_goes_on_once_they_have_finished_and_not_before(self):
        view = a_held_view(held(HoldupKind.CHECKS, LIMIT_S), status=Status.BLOCKED, **PENDING)
        view = replace(view, task=replace(view.task, block=Block("ci_pending", "they pend")))
        assert wait(view).code == "blocked"
        unread = replace(view, pull=Known(a_pull_view(checks=UNKNOWN)))
        assert wait(unread).code == "blocked"
        done = replace(view, pull=Known(a_pull_view()))
        assert not moved(done, Status.NEEDS_REVIEW, Evidence.PERSON).reset


def test_a_forge_that_does_not_know_for_long_whether_it_merges_is_said_on_the_pull_request():
    unknown = a_pull(mergeable=None, mergeable_state="unknown")
    (note,) = steps(a_held_view(pull=unknown))
    assert isinstance(note, NoteHoldup)
    assert note.kind is HoldupKind.MERGEABLE
    assert wait(a_held_view(held(HoldupKind.MERGEABLE, 1700), pull=unknown)).code == "gate_waits"
    assert wait(a_held_view(held(HoldupKind.MERGEABLE, 1800), pull=unknown)).code == "gate_shut"


RED: dict[str, Any] = {"checks": checks(("build", F)), "base_checks": checks(("build", F))}


@pytest.mark.case("C184")
class TestRedBase:
    def test_what_fails_on_the_base_as_well_goes_to_no_agent(self):
        (note,) = steps(a_held_view(**RED))[:1]
        assert isinstance(note, NoteHoldup)
        assert note.kind is HoldupKind.BASE_RED
        view = a_held_view(held(HoldupKind.BASE_RED), **RED)
        decision = decide(a_world(view))
        assert not [action for action in decision.actions if isinstance(action, MoveStatus)]
        answer = decision.waits[view.task.key]
        assert answer.code == "gate_shut"
        assert "build fails on main itself as well" in answer.words

    def test_what_fails_here_alone_does(self):
        parts = {"checks": checks(("build", F), ("lint", F)), "base_checks": checks(("build", F), ("lint", S))}
        (action,) = [action for action in steps(a_held_view(**parts)) if isinstance(action, MoveStatus)]
        assert (action.target, action.evidence) == (Status.ROUTED, Evidence.CHANGES_REQUESTED)
        assert action.why == "checks failed on the head: lint"

    def test_it_is_not_guessed_how_the_base_stands(self):
        view = a_held_view(checks=checks(("build", F)), base_checks=UNKNOWN)
        assert wait(view).code == "gate_waits"

    def test_an_unpaid_base_is_another_thing(self):
        words = "The job was not started because recent account payments have failed or your spending limit ..."
        unpaid = replace(a_check("build", F), annotations=(words,))
        view = a_held_view(checks=Known((unpaid,)), base_checks=Known((unpaid,)))
        assert blocked(view).code == "ci_unpaid"

    def test_once_the_base_is_green_it_is_brought_in_and_no_agent_asked(self):
        view = a_held_view(
            held(HoldupKind.BASE_RED),
            checks=checks(("build", F)),
            base_checks=checks(("build", S)),
            has_base=Known(False),
        )
        (action,) = [action for action in steps(view) if not isinstance(action, SoundAlarm)]
        assert isinstance(action, UpdateBranch)
        assert "green again" in action.why
        parts = {"checks": checks(("build", F)), "base_checks": checks(("build", S))}
        moved(a_held_view(held(HoldupKind.BASE_RED), **parts), Status.ROUTED, Evidence.CHANGES_REQUESTED)

    def test_one_alarm_for_three_pull_requests(self):
        views = [a_held_view(held(HoldupKind.BASE_RED), number=number, **RED) for number in (7, 8, 9)]
        world = a_world(*views)
        alarms = [action for action in decide(world).actions if isinstance(action, SoundAlarm)]
        assert [(alarm.base_ref, alarm.checks, alarm.is_over) for alarm in alarms] == [("main", ("build",), False)]
        said = replace(world, projects={PROJECT: replace(world.projects[PROJECT], alarm="main is red")})
        assert not [action for action in decide(said).actions if isinstance(action, SoundAlarm)]

    def test_it_is_over_once_nothing_is_held_up_by_it(self):
        view = a_held_view()
        world = a_world(view)
        over = replace(world, projects={PROJECT: a_project_world(view, alarm="main is red")})
        (alarm,) = [action for action in decide(over).actions if isinstance(action, SoundAlarm)]
        assert alarm.is_over
        unread = replace(view, pull=UNKNOWN)
        over = replace(world, projects={PROJECT: a_project_world(unread, alarm="main is red")})
        assert not [action for action in decide(over).actions if isinstance(action, SoundAlarm)]

    def test_a_required_check_counts_as_any(self):
        parts = {**RED, "required": Known(Required(("build",)))}
        assert "build fails on main" in decide(a_world(a_held_view(**parts))).waits[a_held_view().task.key].words
