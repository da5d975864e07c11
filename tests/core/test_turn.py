"""Under `merge.strategy: update` one at a time is brought up to date and merged, the first by priority and age."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import MergePull, NoteHoldup, PostVerdict, TellPerson, UpdateBranch
from nightcrew.core.decide import Decision, decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeSettings, MergeStrategy
from nightcrew.core.model.world import TaskView
from nightcrew.core.reason import Wait
from tests.core.build import a_key, a_project, a_pull, a_pull_view, a_settings, a_task, a_verdict, a_view, a_world, at
from tests.core.gate import P, S, checks

UPDATE = MergeSettings(strategy=MergeStrategy.UPDATE)
BEHIND: dict[str, Any] = {"has_base": Known(False)}
RUNNING: dict[str, Any] = {"checks": checks(("build", P))}


def standing(number: int, parts: dict[str, Any] | None = None, *, posted: bool = True, **task: Any) -> TaskView:
    """A task that is approved, and up to date and green unless `parts` says otherwise."""
    record = a_task(Status.IN_REVIEW, number, pull=number * 10, **task)
    verdict = replace(a_verdict(posted=posted), task=record.key)
    pull = a_pull_view(a_pull(number * 10), **(parts or {}))
    return replace(a_view(task=record, verdicts=(verdict,)), pull=Known(pull))


def decided(*views: TaskView, merge: MergeSettings = UPDATE, **world: Any) -> Decision:
    decision = decide(a_world(*views, settings=a_settings(a_project(merge=merge)), **world))
    assert not decision.errors
    kept = tuple(one for one in decision.actions if not isinstance(one, TellPerson | NoteHoldup))
    return replace(decision, actions=kept)


def keys(decision: Decision) -> list[tuple[str, int]]:
    return [(type(action).__name__, action.task.number) for action in decision.actions]


def test_of_those_that_are_behind_the_first_is_brought_up_to_date():
    decision = decided(standing(7, BEHIND), standing(8, BEHIND), standing(9, BEHIND, priority=10))
    assert keys(decision) == [("UpdateBranch", 9)]
    for number in (7, 8):
        assert decision.waits[a_key(number)].code == "update_turn"
        assert "#90 is first" in decision.waits[a_key(number)].words


def test_of_those_that_are_green_the_first_is_merged():
    decision = decided(standing(8), standing(7))
    assert keys(decision) == [("MergePull", 7)]
    assert "#70 is first" in decision.waits[a_key(8)].words


def test_one_whose_checks_run_on_the_present_base_keeps_its_turn_for_an_hour():
    waits = decided(standing(7, RUNNING), standing(8, BEHIND)).waits
    assert [waits[a_key(number)].code for number in (7, 8)] == ["gate_waits", "update_turn"]
    assert waits[a_key(8)].until_at == at(-4 + 60)
    late = replace(UPDATE, queue_timeout_s=120.0)
    assert keys(decided(standing(7, RUNNING), standing(8, BEHIND), merge=late)) == [("UpdateBranch", 8)]


@pytest.mark.parametrize("parts", [{"checks": checks(("build", S)), "reviews": Known(())}, RUNNING])
def test_one_that_is_ready_does_not_go_before_the_first(parts):
    decision = decided(standing(7, BEHIND), standing(8, parts))
    assert keys(decision) == [("UpdateBranch", 7)]


def test_one_that_cannot_be_merged_holds_nobody_up():
    held = replace(standing(7, BEHIND), pull=Known(a_pull_view(a_pull(70, labels=("hold",)), **BEHIND)))
    assert keys(decided(held, standing(8, BEHIND))) == [("UpdateBranch", 8)]


def test_who_is_being_seen_to_keeps_its_turn():
    first, second = standing(7, BEHIND), standing(8, BEHIND)
    update = UpdateBranch(a_key(7), Status.IN_REVIEW, 70, first.verdicts[0].head_sha, "main", "behind")
    for action in (update, MergePull(a_key(7), 70, first.verdicts[0].head_sha, "main", "green")):
        assert keys(decided(first, second, in_flight=(action,))) == []


def test_a_carried_approval_is_posted_in_its_turn():
    first, second = standing(7, posted=False, updates=1), standing(8, BEHIND)
    decision = decided(first, second)
    assert keys(decision) == [("PostVerdict", 7)]
    (post,) = decision.actions
    assert isinstance(post, PostVerdict)
    assert keys(decided(first, second, in_flight=(post,))) == []
    fresh = standing(7, BEHIND, posted=False)
    assert keys(decided(fresh, second)) == [("PostVerdict", 7), ("UpdateBranch", 8)], "it was never in front"


def test_what_was_refused_keeps_its_turn_and_not_without_end():
    first, second = standing(7, BEHIND), standing(8, BEHIND)
    update = UpdateBranch(a_key(7), Status.IN_REVIEW, 70, first.verdicts[0].head_sha, "main", "behind")
    held = {update.key: Wait("retrying", "it was refused", "It is tried again.", at(1))}
    assert keys(decided(first, second, deferred=held)) == [("NoteReaction", 7)]
    late = replace(UPDATE, queue_timeout_s=120.0)
    assert keys(decided(first, second, deferred=held, merge=late)) == [("NoteReaction", 7), ("UpdateBranch", 8)]


def test_under_the_other_strategies_nobody_waits_for_a_turn():
    direct = MergeSettings()
    decision = decided(standing(7, RUNNING), standing(8), merge=direct)
    assert keys(decision) == [("MergePull", 8)]
