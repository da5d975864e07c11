"""Checks that cannot all be seen: required ones that can be are known, of the rest nothing is, and unknown waits."""

from typing import Any

import pytest

from nightcrew.core.known import Known
from nightcrew.core.model.pull import HIDDEN, Check, CheckState, Required
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.policy.checking import failed_checks, why_hidden
from nightcrew.core.policy.merging import has_green_checks
from nightcrew.core.policy.term import Truth
from tests.core.build import a_check
from tests.core.gate import F, P, S, a_gate_view

WHY = "the token may not read check runs"
MORE = Check("check runs", CheckState.PENDING, HIDDEN, summary=WHY)


def seen(*checks: Check, required: tuple[str, ...] = (), **changes: Any):
    return a_gate_view(parts={"checks": Known((*checks, MORE)), "required": Known(Required(required))}, **changes)


@pytest.mark.parametrize(
    ("checks", "required", "truth", "words"),
    [
        ((a_check("build", S),), ("build",), Truth.YES, ""),
        ((a_check("build", S), a_check("other", F)), ("build",), Truth.YES, ""),
        ((a_check("build", P),), ("build",), Truth.NO, "checks are not finished: build"),
        ((a_check("build", F),), ("build",), Truth.NO, "checks failed: build"),
        ((), ("build",), Truth.UNKNOWN, f"required checks are not among what can be read: build ({WHY})"),
        ((a_check("build", S),), (), Truth.UNKNOWN, f"whether another check failed is not known ({WHY})"),
        ((), (), Truth.UNKNOWN, f"whether another check failed is not known ({WHY})"),
        ((a_check("build", F),), (), Truth.NO, "checks failed: build"),
    ],
)
def test_what_is_hidden_never_opens_the_gate(checks, required, truth, words):
    term = has_green_checks(seen(*checks, required=required))
    assert term.truth is truth
    assert term.words.startswith(words)


def test_no_setting_makes_up_for_it_but_naming_what_is_required():
    own = (CheckCommand("lint", ("true",)),)
    green = a_check("nightcrew/lint", S, "status")
    assert has_green_checks(seen(green, project={"checks": own})).truth is Truth.UNKNOWN
    assert has_green_checks(seen(merge={"allow_without_ci": True})).truth is Truth.UNKNOWN
    named = seen(a_check("build", S), merge={"required_checks": ("build",)})
    assert has_green_checks(named).truth is Truth.YES
    assert "merge.required_checks" in has_green_checks(seen(a_check("build", S))).words


def test_what_is_seen_to_have_failed_has_failed():
    view = seen(a_check("build", F))
    assert [check.name for check in failed_checks(view.project, view.pull)] == ["build"]


def test_it_is_no_check_of_anybody():
    assert why_hidden((MORE,)) == WHY
    assert why_hidden((a_check(),)) == ""
