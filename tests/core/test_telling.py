"""Who is told of what, when, and together with what."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.target import Quiet, Target
from nightcrew.core.policy.telling import BURST, plan_telling, render_notice, render_together

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = Quiet(time(22), time(7))
EVENING, MORNING = datetime(2026, 3, 3, 23, 30, tzinfo=BERLIN), datetime(2026, 3, 4, 7, 0, tzinfo=BERLIN)


def a_notice(number: int = 1, *, priority: Priority = Priority.ACTION, at: datetime = EVENING, **fields) -> Notice:
    plain = {"project": "acme/widget", "kind": "blocked", "words": f"words {number}", "task": TaskKey("acme/widget", 4)}
    return Notice(priority=priority, at=at.astimezone(UTC), id=number, **{**plain, **fields})


def test_quiet_hours_let_through_what_is_urgent_alone():
    urgent, other = a_notice(1, priority=Priority.URGENT), a_notice(2)
    plan = plan_telling([other, urgent], Target("me", quiet=NIGHT), now=EVENING)
    assert plan.single == (urgent,)
    assert plan.until == MORNING
    assert plan_telling([other], Target("me", quiet=NIGHT), now=MORNING).single == (other,)


@given(minutes=st.integers(0, 3 * 1440), start=st.integers(0, 1439), length=st.integers(1, 1439))
def test_what_waits_is_told_outside_quiet_hours_and_within_a_day(minutes, start, length):
    def clock(at: int) -> time:
        return time(at % 1440 // 60, at % 60)

    quiet = Quiet(clock(start), clock(start + length))
    now = datetime(2026, 5, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    plan = plan_telling([a_notice(at=now)], Target("me", quiet=quiet), now=now)
    at = plan.until or now
    assert now <= at < now + timedelta(days=1)
    assert bool(plan.single) == (plan.until is None)
    assert plan_telling([a_notice(at=now)], Target("me", quiet=quiet), now=at).single


def test_what_is_gathered_comes_once_a_day_in_one_message():
    target = Target("me", digest=frozenset({Priority.INFO}), digest_at=time(8))
    first, second = (a_notice(number, priority=Priority.INFO) for number in (1, 2))
    plan = plan_telling([first, second], target, now=EVENING)
    assert (plan.single, plan.together) == ((), ())
    assert plan.until == MORNING.replace(hour=8)
    assert plan_telling([first, second], target, now=MORNING.replace(hour=8)).together == (first, second)


def test_the_digest_comes_at_its_hour_also_over_the_change_of_the_clock():
    target = Target("me", digest=frozenset({Priority.INFO}), digest_at=time(8))
    before = datetime(2026, 3, 28, 20, 0, tzinfo=BERLIN)
    until = plan_telling([a_notice(priority=Priority.INFO, at=before)], target, now=before).until
    assert until is not None
    assert until.astimezone(UTC) == datetime(2026, 3, 29, 6, 0, tzinfo=UTC)


@pytest.mark.case("C202")
def test_a_burst_is_one_message():
    many = [a_notice(number) for number in range(BURST + 1)]
    assert plan_telling(many, Target("me"), now=EVENING).together == tuple(many)
    assert len(plan_telling(many[:BURST], Target("me"), now=EVENING).single) == BURST


def test_what_is_not_for_a_receiver_is_passed_over():
    target = Target("me", projects=frozenset({"acme/other"}), least=Priority.WARNING)
    here, low = a_notice(1), a_notice(2, project="acme/other", priority=Priority.INFO)
    there = a_notice(3, project="acme/other", priority=Priority.WARNING)
    plan = plan_telling([here, low, there], target, now=EVENING)
    assert plan.skip == (here, low)
    assert plan.single == (there,)


def test_messages_name_the_task_and_lead_to_it():
    message = render_notice(a_notice(7))
    assert "acme/widget#4" in message.text
    assert message.text.endswith("words 7")
    assert message.buttons[0].order == "/task acme/widget#4"
    together = render_together([a_notice(number) for number in range(30)])
    assert together.text.startswith("30 notices: 30 blocked")
    assert "10 more" in together.text


def test_what_is_for_one_place_is_told_there_at_once_and_nowhere_else():
    target = Target("telegram:7", is_alone=True, least=Priority.URGENT, quiet=NIGHT)
    answer = a_notice(1, priority=Priority.INFO, receiver="telegram:7")
    other = a_notice(2, priority=Priority.URGENT)
    plan = plan_telling([answer, other], target, now=EVENING)
    assert (plan.single, plan.skip) == ((answer,), (other,))
    assert plan_telling([answer], Target("telegram:8"), now=EVENING).skip == (answer,)
    gathers = Target("telegram:7", digest=frozenset({Priority.INFO}), digest_at=time(8))
    assert plan_telling([answer], gathers, now=EVENING).single == (answer,)


def test_projects_are_compared_as_forges_do():
    notice = a_notice(project="acme/widget")
    assert plan_telling([notice], Target("me", projects=frozenset({"Acme/Widget"})), now=MORNING).single == (notice,)
    assert plan_telling([notice], Target("me", projects=frozenset({"acme/doors"})), now=MORNING).skip == (notice,)
