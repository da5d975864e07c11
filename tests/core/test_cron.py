"""Schedules: what is read, and when they fire, against an almanac that knows nothing of the code."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightcrew.core.cron import SHORT_FORMS, fires, last_fire, next_fire, parse_schedule
from nightcrew.core.errors import NightcrewError
from tests.core.almanac import Almanac, Fields

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
"""One a hemisphere with a whole hour, and one that moves its clock by half an hour."""


def utc(*parts: int) -> datetime:
    year, month, day, hour, minute = (*parts, 0, 0)[:5]
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def on_wall(zone: str, at: datetime) -> str:
    return f"{at.astimezone(ZoneInfo(zone)):%H:%M %z}"


@pytest.mark.parametrize(
    "text",
    [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "0 0 30 2 *", "0 0 0 * *", "@reboot", "@every 5m",
        "H * * * *", "R * * * *", "0 r(1-2) * * *", "0 0 * * mon;ls", "\u0663 * * * *", "0 0 * * foo", "*/0 * * * *",
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(text):
    with pytest.raises(NightcrewError):
        parse_schedule(text)


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../../etc/passwd", "/etc/passwd", "Europe", "UTC\n"])
def test_what_is_no_zone_is_refused(zone):
    with pytest.raises(NightcrewError, match="time zone"):
        parse_schedule("@daily", zone)


def test_short_forms_are_the_fields_that_they_stand_for():
    for form, written in SHORT_FORMS.items():
        assert parse_schedule(form.upper()) == parse_schedule(f" {written.replace(' ', '  ')} ")
    assert next_fire(parse_schedule("@weekly"), utc(2026, 3, 4)) == utc(2026, 3, 8)  # a Sunday, 0
    assert next_fire(parse_schedule("0 0 * * 7"), utc(2026, 3, 4)) == utc(2026, 3, 8)  # and 7
    assert next_fire(parse_schedule("0 0 * * mon"), utc(2026, 3, 4)) == utc(2026, 3, 9)
    assert next_fire(parse_schedule("14 22-22/4 * * *"), utc(2026, 3, 4)) == utc(2026, 3, 4, 22, 14)
    assert next_fire(parse_schedule("0 0 29 2 *"), utc(2026, 3, 4)) == utc(2028, 2, 29)


@pytest.mark.case("C191")
def test_a_rhythm_keeps_its_beat_through_the_hour_that_comes_twice():
    schedule = parse_schedule("*/15 * * * *", "Europe/Berlin")
    found = list(fires(schedule, after=utc(2026, 10, 24, 23, 50), until=utc(2026, 10, 25, 3)))
    assert [later - earlier for earlier, later in pairwise(found)] == [timedelta(minutes=15)] * 12
    spring = list(fires(schedule, after=utc(2026, 3, 29), until=utc(2026, 3, 29, 2)))
    assert len(spring) == 8
    assert "02" not in {on_wall("Europe/Berlin", at)[:2] for at in spring}


def test_a_time_on_the_wall_comes_once_a_day_whatever_the_clock_does():
    nightly = parse_schedule("30 2 * * *", "Europe/Berlin")
    autumn = list(fires(nightly, after=utc(2026, 10, 24, 12), until=utc(2026, 10, 26, 12)))
    assert [on_wall("Europe/Berlin", at) for at in autumn] == ["02:30 +0200", "02:30 +0100"]
    spring = list(fires(nightly, after=utc(2026, 3, 28, 12), until=utc(2026, 3, 30, 12)))
    assert [on_wall("Europe/Berlin", at) for at in spring] == ["03:30 +0200", "02:30 +0200"]


SCHEDULES = (
    "*/15 * * * *", "0 * * * *", "7-59/20 */3 * * *", "* 2 * * 0", "*/10 1-3 * * *", "30 */2 * * *",
    "30 2 * * *", "0 0 * * *", "0,30 2 * * *", "15,45 1,2,3 * * *", "0 3 1 * *", "5 4 13 * 5", "59 23 31 12 *",
    "0 9-17/4 * * 1-5", "0 12 1-7 3,10 *", "10 2 * 3,4,10,11 0",
)  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_a_year_with_its_changes_of_the_clock_is_as_the_almanac_says(zone):
    start, end = utc(2026, 1, 1), utc(2027, 1, 1)
    almanac, second = Almanac(zone, start, end), timedelta(seconds=1)
    for text in SCHEDULES:
        found = list(fires(parse_schedule(text, zone), after=start - second, until=end - second))
        assert found == almanac.expected(text), text


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    part = number.map(str) | span | st.tuples(span, st.integers(1, 7)).map(lambda pair: f"{pair[0]}/{pair[1]}")
    step = st.integers(1, high).map(lambda number: f"*/{number}")
    return st.just("*") | step | st.lists(part, min_size=1, max_size=3).map(",".join)


BOUNDS = ((0, 59), (0, 23), (1, 28), (1, 12), (0, 6))
ANY = st.tuples(*(field(low, high) for low, high in BOUNDS)).map(" ".join)
MOMENTS = st.integers(0, 3 * 366 * 86_400).map(lambda seconds: utc(2024, 1, 1) + timedelta(seconds=seconds))


@settings(max_examples=40, deadline=None)
@given(
    ANY, st.sampled_from(ZONES), st.sampled_from([utc(2026, m, d) for m in (3, 4, 10, 11) for d in (1, 4, 8, 25, 29)])
)
def test_any_schedule_near_a_change_of_the_clock_is_as_the_almanac_says(text, zone, day):
    start, end = day - timedelta(days=1), day + timedelta(days=2)
    found = list(
        fires(parse_schedule(text, zone), after=start - timedelta(seconds=1), until=end - timedelta(seconds=1))
    )
    # What the clock left out shortly before is told of by the almanac only if it saw it.
    almanac = Almanac(zone, start - timedelta(hours=3), end)
    assert found == [at for at in almanac.expected(text) if at >= start]


@settings(max_examples=40, deadline=None)
@given(ANY, st.sampled_from(ZONES), MOMENTS, st.timedeltas(timedelta(), timedelta(days=9)))
def test_the_last_time_is_the_last_of_all_times(text, zone, after, span):
    schedule = parse_schedule(text, zone)
    every = list(fires(schedule, after=after, until=after + span)) if not Fields(text).is_rhythm else None
    last = last_fire(schedule, after=after, until=after + span)
    if every is not None:
        assert last == (every[-1] if every else None)
    if last is not None:
        assert after < last <= after + span
        assert next_fire(schedule, last) > after + span
    else:
        assert next_fire(schedule, after) > after + span
