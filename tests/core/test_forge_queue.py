"""The forge's own merge queue, where the rules of a branch demand it: in, followed to its end, and out again."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import (
    DequeuePull,
    EnqueuePull,
    MergePull,
    MoveStatus,
    NoteHoldup,
    TellPerson,
    UpdateBranch,
)
from nightcrew.core.decide import Decision, decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.holdup import Holdup, HoldupKind
from nightcrew.core.model.merge import MergeSettings, MergeStrategy
from nightcrew.core.model.pull import ForgeEntry, Required
from tests.core.build import (
    HEAD,
    UNKNOWN,
    a_key,
    a_project,
    a_pull,
    a_pull_view,
    a_settings,
    a_task,
    a_verdict,
    a_view,
    a_world,
    at,
)
from tests.core.gate import F, P, checks

DEMANDED = Known(Required(merge_queue=True))
IN = Known(ForgeEntry(2, "AWAITING_CHECKS"))


def decided(
    *, pull: dict[str, Any] | None = None, parts: dict[str, Any] | None = None, tries: int = 0,
    merge: MergeSettings | None = None, **view: Any,
) -> Decision:  # fmt: skip
    """What is decided about a task whose pull request goes through the forge's queue."""
    put_in = Holdup(70, HEAD, HoldupKind.ENQUEUED, at(-3), at(-2), count=tries)
    task = a_task(Status.IN_REVIEW, holdups=(put_in,) if tries else ())
    seen = a_pull_view(a_pull(**(pull or {})), **{"required": DEMANDED, **(parts or {})})
    shown = replace(a_view(task=task, verdicts=(a_verdict(),)), pull=Known(seen), **view)
    decision = decide(a_world(shown, settings=a_settings(a_project(merge=merge or MergeSettings()))))
    assert not decision.errors
    kept = tuple(one for one in decision.actions if not isinstance(one, TellPerson | NoteHoldup))
    return replace(decision, actions=kept)


@pytest.mark.parametrize("strategy", MergeStrategy)
@pytest.mark.parametrize("state", ["clean", "blocked", "behind", "unstable"])
def test_where_the_rules_demand_it_the_queue_is_used_and_nothing_else(strategy, state):
    merge = MergeSettings(strategy=strategy)
    decision = decided(pull={"mergeable_state": state}, parts={"has_base": Known(False)}, merge=merge)
    (action,) = decision.actions
    assert isinstance(action, EnqueuePull)
    assert action.head_sha == HEAD


def test_without_that_demand_there_is_no_queue():
    (action,) = decided(parts={"required": Known(Required())}).actions
    assert isinstance(action, MergePull)


@pytest.mark.parametrize(
    ("pull", "parts"),
    [({"labels": ("hold",)}, {}), ({"is_draft": True}, {}), ({}, {"checks": checks(("build", P))}),
     ({"mergeable": None}, {}), ({}, {"forge_entry": UNKNOWN})],
)  # fmt: skip
def test_the_gate_is_the_same(pull, parts):
    assert decided(pull=pull, parts=parts).actions == ()


def test_what_is_in_it_says_where():
    decision = decided(parts={"forge_entry": IN}, tries=1)
    assert decision.actions == ()
    wait = decision.waits[a_key()]
    assert wait.code == "forge_queue"
    assert "number 2 in the merge queue of main (AWAITING_CHECKS)" in wait.words


@pytest.mark.parametrize(
    ("pull", "parts"),
    [({"labels": ("hold",)}, {}), ({}, {"checks": checks(("build", F))}), ({"mergeable": False}, {})],
)
def test_m3_what_may_not_be_merged_any_more_is_taken_out(pull, parts):
    (action,) = decided(pull=pull, parts={**parts, "forge_entry": IN}, tries=1).actions
    assert isinstance(action, DequeuePull)
    assert action.why


def test_what_is_only_not_known_stays_in():
    assert decided(parts={"forge_entry": IN, "checks": checks(("build", P))}, tries=1).actions == ()


def test_what_the_queue_took_out_is_put_in_once_more():
    (action,) = decided(tries=1).actions
    assert isinstance(action, EnqueuePull)


def test_then_the_base_is_brought_in_so_that_its_author_sees_it_fail():
    (action,) = decided(tries=2, parts={"has_base": Known(False)}).actions
    assert isinstance(action, UpdateBranch)
    assert decided(tries=2, parts={"has_base": UNKNOWN}).actions == ()


def test_and_then_a_person_is_asked():
    (action,) = decided(tries=2).actions
    assert isinstance(action, MoveStatus)
    assert action.block is not None
    assert action.block.code == "forge_queue"
