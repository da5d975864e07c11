"""How long an agent, or one model of it, rests after a failure."""

from dataclasses import replace
from datetime import timedelta
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.failures import Failure, FailureKind, Scope
from nightcrew.core.model.cooldown import Cooldown, CooldownRule
from nightcrew.core.policy.cooling import TABLE, charge, cooldown_after, cooled_until, credit, is_forgiven, whom
from tests.core.build import NOW, a_key, a_run, an_outcome, at, cooled


def after(kind: FailureKind, *known, retry_at=None, model: str = "m"):
    return cooldown_after(Failure(kind, "said so", retry_at), agent="ann", model=model, known=known, now=NOW)


@given(kind=st.sampled_from(sorted(TABLE, key=lambda kind: kind.value)), earlier=st.integers(0, 10**9))
def test_the_formula(kind, earlier):
    rule = TABLE[kind]
    only_model = rule.scope is Scope.MODEL
    known = [cooled("ann", model="m" if only_model else None, kind=kind, count=earlier)] if earlier else []
    cooldown = after(kind, *known)
    assert cooldown is not None
    assert cooldown.count == earlier + 1
    expected_s = rule.base_s
    for _ in range(min(earlier, 40)):
        expected_s = min(expected_s * 3, rule.max_s)
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
        "no_changes",
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


def test_a_table_of_ones_own_is_used():
    rules = {FailureKind.CRASH: CooldownRule(1.0, 5.0, Scope.AGENT)}
    known: tuple[Cooldown, ...] = ()
    for seconds in (1, 3, 5, 5):
        failure = Failure(FailureKind.CRASH, "x")
        row = cooldown_after(failure, agent="ann", model="m", known=known, now=NOW, rules=rules)
        assert row is not None
        assert (row.model, row.until_at, row.since_at) == (None, NOW + timedelta(seconds=seconds), NOW)
        known = (row,)
    assert (
        cooldown_after(Failure(FailureKind.AUTH, "x"), agent="ann", model="m", known=(), now=NOW, rules=rules) is None
    )


@pytest.mark.parametrize(
    ("scope", "model", "means"),
    [
        (Scope.MODEL, "a/b", "a/b"),
        (Scope.MODEL, "", None),
        (Scope.ACCOUNT, "b", None),
        (Scope.ACCOUNT, "a/b", "a/*"),
        (Scope.ACCOUNT, "a/b:free", "a/*free*"),
        (Scope.AGENT, "a/b", None),
    ],
)
def test_whom_a_scope_means(scope, model, means):
    assert whom(scope, model, kind=FailureKind.USAGE_WINDOW) == means


def test_the_words_about_whom_win_over_what_is_usual():
    for scope, means in ((Scope.AGENT, None), (Scope.MODEL, "a/b"), (Scope.ACCOUNT, "a/*")):
        for kind in TABLE:
            failure = Failure(kind, "x", None, scope)
            row = cooldown_after(failure, agent="ann", model="a/b", known=(), now=NOW)
            assert row is not None
            assert row.model == means
    for kind in TABLE:
        failure = Failure(kind, "x", at(60), Scope.NOBODY)
        assert cooldown_after(failure, agent="ann", model="m", known=(), now=NOW) is None


@pytest.mark.parametrize(
    ("pattern", "covered", "others"),
    [
        ("a/*", ("a/b", "a/", "a/b/c"), ("b", "ab/c", "")),
        ("a/*free*", ("a/x-free", "a/free", "a/x:free-1"), ("a/x", "b/free")),
        ("a*z", ("az", "abz"), ("a", "abzc")),
        ("a", ("a",), ("ab", "A", "")),
        ("", ("",), ("a",)),
    ],
)
def test_what_a_row_covers(pattern, covered, others):
    row = cooled("ann", model=pattern)
    assert all(row.covers("ann", model) for model in covered)
    assert not any(row.covers("ann", model) for model in others)
    assert cooled("ann").covers("ann", "")


def failed(kind: FailureKind = FailureKind.CRASH, *, number: int = 1, minutes: float = -5, **fields):
    outcome = an_outcome(failure=Failure(kind, "x"))
    return a_run(attempt=number, model="m", outcome=outcome, started_at=at(minutes), **fields)


def worked(*, number: int = 1, model: str = "m"):
    return a_run(attempt=number, model=model)


def test_a_run_that_is_collected_twice_counts_once():
    row = charge(failed(), (), now=NOW)
    assert row is not None
    assert charge(failed(), (row,), now=NOW) is None
    past = charge(failed(number=2, minutes=61), (row,), now=at(90))
    assert past is not None
    assert past.count == 2
    better = credit(worked(number=3), (row,), now=at(90))
    assert credit(worked(number=3), better, now=at(90)) == ()


def test_runs_that_met_the_same_trouble_count_once():
    row = charge(failed(minutes=-5), (), now=NOW)
    assert row is not None
    assert charge(failed(number=2, minutes=-3), (row,), now=at(1)) is None
    again = charge(failed(number=3, minutes=10), (row,), now=at(12))
    assert again is not None
    assert again.count == 2


def test_a_failure_after_the_clock_was_set_back_cools_anew():
    row = charge(failed(minutes=175), (), now=at(180))
    assert row is not None
    assert cooled_until((row,), agent=row.agent, model=row.model or "", now=NOW) is None
    again = charge(failed(number=2, minutes=-1), (row,), now=NOW)
    assert again is not None
    assert cooled_until((again,), agent=again.agent, model=again.model or "", now=NOW) == again


def test_a_vendors_time_that_holds_is_not_written_again():
    named = cooled("ann", model=None, kind=FailureKind.CREDITS, count=0)
    assert charge(failed(FailureKind.CREDITS), (named,), now=NOW) is None
    assert charge(worked(), (named,), now=NOW) is None
    assert charge(failed(FailureKind.NO_CHANGES), (), now=NOW) is None


def series(kind: FailureKind, ends: str, *, hours: float = 10) -> list[float]:
    """The lengths, in minutes, of the cooldowns after each failure of a series: `f` failed, `s` worked."""
    known: dict[tuple[str | None, FailureKind], Cooldown] = {}
    lengths: list[float] = []
    now = NOW
    for number, end in enumerate(ends, start=1):
        now += timedelta(hours=hours)
        run = failed(kind, number=number, minutes=(now - NOW).total_seconds() / 60 - 1) if end == "f" else None
        rows = tuple(known.values())
        if run is None:
            for better in credit(worked(number=number), rows, now=now):
                known[better.model, better.kind] = better
                if is_forgiven(better):
                    del known[better.model, better.kind]
        elif (row := charge(run, rows, now=now)) is not None:
            known[row.model, row.kind] = row
            lengths.append((row.until_at - now).total_seconds() / 60)
    return lengths


@pytest.mark.case("C125")
@pytest.mark.parametrize("kind", list(TABLE))
def test_successes_in_between_make_a_failure_count_anew(kind):
    first, second = series(kind, "f" + "s" * 20 + "f", hours=300)
    assert first == second == TABLE[kind].base_s / 60


@pytest.mark.case("C126")
@pytest.mark.parametrize("kind", [FailureKind.BAD_OUTPUT, FailureKind.TRUNCATED, FailureKind.HANG])
def test_one_success_does_not_wipe_the_record_of_a_model_that_fails_every_second_time(kind):
    lengths = series(kind, "".join(islice(cycle("fs"), 12)))
    assert lengths == [min(TABLE[kind].base_s * 3**n, TABLE[kind].max_s) / 60 for n in range(6)]
    assert lengths[-1] > lengths[0]
    assert series(kind, "fsssf") == [lengths[0], lengths[0]]


@pytest.mark.case("C123")
def test_a_success_without_a_model_says_nothing_of_models():
    rows = (cooled("ann", -1, model="m"), cooled("ann", -1, model="a/*"), cooled("ann", -1))
    assert [row.model for row in credit(worked(model=""), rows, now=NOW)] == [None]
    assert [row.model for row in credit(worked(model="a/b"), rows, now=NOW)] == ["a/*", None]


def test_a_success_leaves_what_is_in_force():
    rows = (cooled("ann", 1, model="m"), cooled("bob", -1, model="m"))
    assert credit(worked(), rows, now=NOW) == ()


def test_a_task_on_which_every_agent_crashes_leaves_the_others_free():
    first = failed(minutes=-30, agent="ann")
    second = replace(failed(number=2, agent="bob"), created_at=at(-5))
    assert charge(first, (), now=NOW, of_task=(first, second)) is not None
    assert charge(second, (), now=NOW, of_task=(first, second)) is None


@pytest.mark.parametrize(
    "before",
    [
        pytest.param({"agent": "bob"}, id="the same agent again"),
        pytest.param({"task": a_key(8)}, id="another task"),
        pytest.param({"kind": FailureKind.HANG}, id="another kind of failure"),
    ],
)
def test_what_happened_elsewhere_excuses_no_agent(before):
    first = failed(minutes=-30, **{"agent": "ann", **before})
    second = replace(failed(number=2, agent="bob"), created_at=at(-5))
    assert charge(second, (), now=NOW, of_task=(first, second)) is not None


def test_a_limit_that_the_vendor_names_cools_whoever_met_it_before():
    first = failed(FailureKind.RATE_LIMIT, minutes=-30, agent="ann")
    second = replace(failed(FailureKind.RATE_LIMIT, number=2, agent="bob"), created_at=at(-5))
    assert charge(second, (), now=NOW, of_task=(first, second)) is not None
