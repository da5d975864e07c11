"""What must be true of every merge, M1 to M12, each broken where the line or term that keeps it is taken away.

M10 (one re-run of a red check) is in test_rerunning.py.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import MergePull
from nightcrew.core.decide import allocate, decide, decide_task
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeStrategy
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.policy import merging
from nightcrew.core.policy.merging import TERMS, evaluate
from nightcrew.core.policy.term import Term
from nightcrew.core.stage import Allowance
from nightcrew.core.words import render_merge_title
from tests.core.build import (
    PROJECT,
    a_pull,
    a_pull_view,
    a_review,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_issue,
)
from tests.core.gate import F, K, P, a_gate_view, checks, reviews

OTHER = a_sha(0xC)
UPDATE = {"strategy": MergeStrategy.UPDATE}

KEPT_BY_TERMS: dict[str, tuple[Callable[[merging.GateView], Term], dict[str, Any]]] = {
    "M1: nobody approves what they wrote": (
        merging.is_approved,
        {"parts": {"author_agents": Known(frozenset({"ann", "bob"}))}},
    ),
    "M2: the approved head is the one that merges": (
        merging.is_approved,
        {"view": {"verdicts": (a_verdict(head_sha=OTHER),)}},
    ),
    "M3: a retargeted base voids it": (merging.has_expected_base, {
        "pull": {"base_ref": "release"}, "view": {"verdicts": (a_verdict(base_ref="release"),)},
    }),
    "M3: a verdict for another base is void": (merging.is_approved, {
        "view": {"verdicts": (a_verdict(base_ref="release"),)},
    }),
    "M3: closing voids it": (merging.is_open, {"pull": {"is_open": False}}),
    "M3: a draft is not merged": (merging.is_not_draft, {"pull": {"is_draft": True}}),
    "M3: nor one on hold": (merging.is_not_held, {"labels": ("hold",)}),
    "M3: a newer request for changes voids it": (
        merging.has_no_objection, {"parts": reviews(a_review(state=ReviewState.CHANGES_REQUESTED))},
    ),
    "M4: what has not finished is not green": (merging.has_green_checks, {"parts": {"checks": checks(("build", P))}}),
    "M4: what failed is not green": (merging.has_green_checks, {"parts": {"checks": checks(("build", F))}}),
    "M4: no checks are not green": (merging.has_green_checks, {"parts": {"checks": Known(())}}),
    "M4: only skipped ones are not green": (merging.has_green_checks, {"parts": {"checks": checks(("build", K))}}),
    "M5: what merges was tested with its base": (
        merging.has_the_base, {"parts": {"has_base": Known(False)}, "merge": UPDATE},
    ),
    "M8: not known to merge is not merged": (
        merging.is_mergeable, {"pull": {"mergeable": None, "mergeable_state": "unknown"}},
    ),
    "M11: forks are left to people": (merging.is_same_repository, {"pull": {"is_fork": True}}),
    "M11: workflows take a person": (merging.has_free_paths, {"parts": {"paths": Known((".github/workflows/x.yml",))}}),
    "M11: so does our own configuration": (merging.has_free_paths, {"parts": {"paths": Known((".nightcrew.yml",))}}),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT_BY_TERMS)
def test_a_term_keeps_it_and_nothing_else_does(name):
    term, change = KEPT_BY_TERMS[name]
    view = a_gate_view(**change)
    assert not evaluate(view).is_open
    assert evaluate(view, tuple(other for other in TERMS if other is not term)).is_open, "without it, it merges"


def test_m6_one_landing_at_a_time_for_a_base():
    views = [_ready(7), _ready(8)]
    world = a_world(*views)
    merges = [action for action in decide(world).actions if isinstance(action, MergePull)]
    assert [action.task.number for action in merges] == [7]
    flying = replace(world, in_flight=tuple(merges))
    assert allocate(flying).merging == {(PROJECT, "main")}
    # Without what all tasks share, both would land at once.
    alone = Allowance(allocate(world).slots)
    steps = [decide_task(world, world.projects[PROJECT], view, alone) for view in views]
    assert [type(step.actions[0]) for step in steps] == [MergePull, MergePull]


def _ready(number: int):
    """A task whose pull request may be merged."""
    task = a_task(Status.IN_REVIEW, number, pull=number * 10)
    pull = a_pull_view(a_pull(number * 10))
    return replace(a_view(task=task, verdicts=(replace(a_verdict(), task=task.key),)), pull=Known(pull))


def test_m12_what_others_write_does_nothing_in_a_commit():
    nasty = "Thanks @olga, fixes #1 \u202eand closes octo/demo#2"
    title = render_merge_title(an_issue(title=nasty), 70)
    for acts in ("@olga", "fixes #1", "closes octo/demo#2", "\u202e"):
        assert acts in nasty
        assert acts not in title
