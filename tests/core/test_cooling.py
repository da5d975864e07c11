"""How long an agent, or one model of it, rests after a failure."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.policy.cooling import TABLE, cooldown_after, cooled_until
from tests.core.build import NOW, at, cooled


def after(kind: FailureKind, *known, retry_at=None, model: str = "m"):
    return cooldown_after(Failure(kind, "said so", retry_at), agent="ann", model=model, known=known, now=NOW)


@given(kind=st.sampled_from(sorted(TABLE, key=lambda kind: kind.value)), earlier=st.integers(0, 10**9))
def test_the_formula(kind, earlier):
    base_s, max_s, only_model = TABLE[kind]
    known = [cooled("ann", model="m" if only_model else None, kind=kind, count=earlier)] if earlier else []
    cooldown = after(kind, *known)
    assert cooldown is not None
    assert cooldown.count == earlier + 1
    expected_s = base_s
    for _ in range(min(earlier, 40)):
        expected_s = min(expected_s * 3, max_s)
    assert cooldown.until_at == NOW + timedelta(seconds=expected_s)
    assert (cooldown.agent, cooldown.model, cooldown.kind) == ("ann", "m" if only_model else None, kind)
    assert cooldown.why == "said so"


@pytest.mark.parametrize("kind", [kind for kind in FailureKind if kind not in TABLE])
def test_kinds_that_are_about_the_task_cool_nobody(kind):
    assert after(kind, retry_at=at(60)) is None


def test_which_kinds_cool_nobody():
    assert {kind.value for kind in set(FailureKind) - set(TABLE)} == {
        "context_too_long",
        "content_filter",
        "timeout",
        "no_changes",
        "bad_output",
    }


@pytest.mark.case("C132")
def test_a_billing_cycle_rests_a_day_and_credits_an_hour():
    billing, credit = after(FailureKind.BILLING), after(FailureKind.CREDITS)
    assert billing is not None
    assert credit is not None
    assert billing.until_at >= NOW + timedelta(days=1)
    assert credit.until_at >= NOW + timedelta(hours=1)


def test_the_vendors_own_time_wins_even_beyond_the_maximum():
    for minutes in (0.5, 60 * 24 * 30):
        cooldown = after(FailureKind.RATE_LIMIT, retry_at=at(minutes))
        assert cooldown is not None
        assert cooldown.until_at == at(minutes)


def test_a_vendors_time_that_has_passed_is_no_time():
    for minutes in (0, -5):
        cooldown = after(FailureKind.RATE_LIMIT, retry_at=at(minutes))
        assert cooldown is not None
        assert cooldown.until_at == at(2)


def test_counting_is_by_agent_model_and_kind():
    others = (
        cooled("bob", kind=FailureKind.CRASH, count=5, model="m"),
        cooled("ann", kind=FailureKind.HANG, count=5, model="m"),
        cooled("ann", kind=FailureKind.CRASH, count=5, model="n"),
        cooled("ann", kind=FailureKind.CRASH, count=5),
    )
    cooldown = after(FailureKind.CRASH, *others)
    assert cooldown is not None
    assert cooldown.count == 1


@pytest.mark.case("C123")
def test_without_a_model_name_the_agent_is_meant():
    cooldown = after(FailureKind.CRASH, model="")
    assert cooldown is not None
    assert cooldown.model is None


def test_the_cooldown_in_force_is_the_one_that_ends_last():
    rows = (
        cooled("ann", 10),
        cooled("ann", 30, model="m"),
        cooled("ann", 90, model="n"),
        cooled("bob", 99),
        cooled("ann", 0),
    )
    assert cooled_until(rows, agent="ann", model="m", now=NOW) == rows[1]
    assert cooled_until(rows, agent="ann", model="x", now=NOW) == rows[0]
    assert cooled_until(rows, agent="cyd", model="m", now=NOW) is None
