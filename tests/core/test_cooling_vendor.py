"""Cooldowns whose time the vendor named: it wins, is never shortened, and what had to be guessed starts anew."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.policy.cooling import TABLE, cooldown_after
from tests.core.build import NOW, at


def cool(*known: Cooldown, retry_at: datetime | None = None, now: datetime = NOW, why: str = "new") -> Cooldown:
    failure = Failure(FailureKind.USAGE_WINDOW, why, retry_at)
    cooldown = cooldown_after(failure, agent="ann", model="m", known=known, now=now)
    assert cooldown is not None
    return cooldown


@pytest.mark.parametrize("retry_at", [None, at(60), at(-60)])
def test_a_vendors_time_is_not_shortened_by_what_comes_later(retry_at):
    weekly = cool(retry_at=at(60 * 24 * 6), why="the week")
    assert cool(weekly, retry_at=retry_at) == weekly


def test_a_vendors_time_is_lengthened():
    session = cool(retry_at=at(60))
    weekly = cool(session, retry_at=at(60 * 24 * 6))
    assert weekly.until_at == at(60 * 24 * 6)
    assert weekly.why == "new"


def test_a_vendors_time_ends_a_longer_guess():
    assert cool(cool(), retry_at=at(10)).until_at == at(10)


@pytest.mark.case("C145")
def test_named_times_do_not_add_up():
    known: list[Cooldown] = []
    now = NOW
    for _ in range(6):
        cooldown = cool(*known, retry_at=now + timedelta(hours=5), now=now)
        assert (cooldown.until_at, cooldown.count) == (now + timedelta(hours=5), 0)
        known, now = [cooldown], cooldown.until_at
    base_s = TABLE[FailureKind.USAGE_WINDOW].base_s
    assert cool(*known, now=now).until_at == now + timedelta(seconds=base_s)


@given(times=st.lists(st.integers(-60, 60 * 24 * 9) | st.none(), min_size=1, max_size=8), gap=st.integers(0, 600))
def test_no_time_that_a_vendor_named_is_cut_short(times, gap):
    known: list[Cooldown] = []
    now, promised = NOW, NOW
    for minutes in times:
        retry_at = now + timedelta(minutes=minutes) if minutes is not None else None
        cooldown = cool(*known, retry_at=retry_at, now=now)
        if retry_at is not None:
            promised = max(promised, retry_at)
        assert cooldown.until_at > now
        assert cooldown.until_at >= promised
        known, now = [cooldown], now + timedelta(minutes=gap)
