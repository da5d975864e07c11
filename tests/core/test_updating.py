"""When the base is brought into a branch, and when a person is asked instead."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import MergePull, MoveStatus, UpdateBranch
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeSettings, MergeStrategy
from nightcrew.core.model.report import Decision
from nightcrew.core.prompt_conflict import has_conflict_marks, render_conflict
from nightcrew.core.render import render_status_comment
from tests.core.build import (
    HEAD,
    UNKNOWN,
    a_project,
    a_pull,
    a_pull_view,
    a_settings,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    a_world,
)
from tests.core.gate import F, P, S, checks

DIRECT, UPDATE = MergeSettings(), MergeSettings(strategy=MergeStrategy.UPDATE)


def decided(status: Status = Status.IN_REVIEW, *, pull=None, parts=None, task=None, merge=DIRECT):
    """The actions about one task whose head is approved."""
    seen = a_pull_view(a_pull(**(pull or {})), **(parts or {}))
    view = replace(a_view(task=a_task(status, **(task or {})), verdicts=(a_verdict(),)), pull=Known(seen))
    return decide(a_world(view, settings=a_settings(a_project(merge=merge)))).actions


DIRTY: dict[str, Any] = {"mergeable": False, "mergeable_state": "dirty"}
BEHIND = {"mergeable_state": "behind"}


@pytest.mark.parametrize("status", [Status.NEEDS_REVIEW, Status.IN_REVIEW])
@pytest.mark.parametrize("pull", [DIRTY, {"mergeable": False}, {"mergeable_state": "dirty"}])
def test_a_conflict_is_resolved_whatever_else_there_is(status, pull):
    (action,) = decided(status, pull=pull, parts={"checks": checks(("build", F))})
    assert isinstance(action, UpdateBranch)
    assert (action.source, action.head_sha, action.base_ref) == (status, HEAD, "main")


def test_a_request_for_changes_is_not_voided_by_an_update():
    view = a_view(task=a_task(Status.IN_REVIEW), verdicts=(a_verdict(Decision.REQUEST_CHANGES),))
    (action,) = decide(a_world(replace(view, pull=Known(a_pull_view(a_pull(**DIRTY)))))).actions
    assert isinstance(action, MoveStatus)
    assert action.target is Status.ROUTED


def test_a_verdict_that_was_carried_over_is_told_as_such():
    view = a_view(Status.IN_REVIEW, verdicts=(a_verdict(carried_from=a_sha(0xC)),))
    assert f"approve, carried over from {a_sha(0xC)[:10]}" in render_status_comment(view, None)


@pytest.mark.parametrize("pull", [{"is_fork": True}, {"is_draft": True}, {"labels": ("hold",)}])
def test_a_conflict_is_left_to_whoever_has_the_pull_request(pull):
    assert not any(isinstance(action, UpdateBranch) for action in decided(pull={**DIRTY, **pull}))


@pytest.mark.case("C160")
@pytest.mark.parametrize("parts", [{}, {"checks": checks(("build", P))}])
def test_a_branch_that_is_behind_is_updated_once_nothing_else_is_in_the_way(parts):
    (action,) = decided(pull=BEHIND, parts=parts)
    assert isinstance(action, UpdateBranch)


@pytest.mark.parametrize(
    ("pull", "parts"),
    [
        ({}, {"checks": checks(("build", F))}),
        ({"is_draft": True}, {}),
        ({"is_fork": True}, {}),
        ({"labels": ("hold",)}, {}),
        ({}, {"paths": UNKNOWN}),
        ({}, {"checks": UNKNOWN}),
    ],
)
def test_a_branch_that_is_behind_and_not_ready_is_left_alone(pull, parts):
    assert not any(isinstance(action, UpdateBranch) for action in decided(pull={**BEHIND, **pull}, parts=parts))


@pytest.mark.parametrize(
    ("has_base", "updates"),
    [(Known(True), False), (Known(False), True), (UNKNOWN, False)],
    ids=["yes", "no", "unknown"],
)
def test_under_the_strategy_the_base_has_to_be_in_it(has_base, updates):
    actions = decided(parts={"has_base": has_base}, merge=UPDATE)
    assert any(isinstance(action, UpdateBranch) for action in actions) == updates
    assert any(isinstance(action, MergePull) for action in actions) == (has_base == Known(True))


@pytest.mark.parametrize(
    ("task", "pull", "words"),
    [({"updates": 10}, BEHIND, "10 times"), ({"conflicts": 3}, DIRTY, "conflicted with main 4 times")],
)
def test_tries_are_bounded(task, pull, words):
    (action,) = decided(pull=pull, task=task)
    assert isinstance(action, MoveStatus)
    assert action.block is not None
    assert (action.target, action.block.code) == (Status.BLOCKED, "base_moves")
    assert words in action.block.words


def test_marks_are_known_at_the_beginning_of_a_line():
    assert has_conflict_marks("a\n<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n")
    assert not has_conflict_marks("Say `<<<<<<< ours` and `>>>>>>> theirs`.\n<<<<<<< one alone\n")


def test_many_paths_are_cut():
    sections = render_conflict(tuple(f"f{n}" for n in range(120)), "main", lambda title, text: text)
    assert sections[1].endswith("f99\n[20 more]")
    assert render_conflict((), "main", lambda title, text: text) == []


def test_green_and_up_to_date_is_merged():
    (action,) = decided(parts={"checks": checks(("build", S))}, merge=UPDATE)
    assert action.key.startswith("merge:")
