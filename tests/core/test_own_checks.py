"""Engine checks in the gate: on which base they were run, and what they leave to the other checks."""

import pytest

from nightcrew.core.ids import Sha
from nightcrew.core.known import Known
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.policy.checking import base_mark, failed_checks, is_stale
from nightcrew.core.policy.merging import GateView, evaluate, has_green_checks
from tests.core.gate import a_gate_view

BEFORE, NOW_AT = Sha("a" * 40), Sha("b" * 40)
CHECKS = (CheckCommand("tests", ("make",)),)


def view_of(*checks: Check) -> GateView:
    return a_gate_view(project={"checks": CHECKS}, parts={"checks": Known(checks), "base_sha": Known(NOW_AT)})


def own(state: CheckState, base: Sha) -> Check:
    return Check("nightcrew/tests", state, "status", summary=f"passed {base_mark(base)}")


def test_an_answer_for_the_present_base_counts():
    assert has_green_checks(view_of(own(CheckState.SUCCESS, NOW_AT))).truth.value == "yes"


def test_an_answer_for_an_older_base_does_not():
    old = own(CheckState.SUCCESS, BEFORE)
    view = view_of(old)
    assert is_stale(view.project, old, view.pull)
    term = has_green_checks(view)
    assert (term.truth.value, "the base has moved" in term.words) == ("no", True)


def test_a_failure_on_an_older_base_sends_nobody_back():
    view = view_of(own(CheckState.FAILURE, BEFORE))
    assert failed_checks(view.project, view.pull) == ()


@pytest.mark.parametrize("state", [CheckState.FAILURE, CheckState.PENDING])
def test_own_checks_do_not_switch_off_the_others(state):
    view = view_of(own(CheckState.SUCCESS, NOW_AT), Check("ci/outside", state, "status"))
    gate = evaluate(view)
    assert [term.code for term in gate.shut] == ["checks"]
    assert "ci/outside" in gate.words
