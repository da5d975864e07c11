"""When to try again: every form that vendors write, in every zone, and no form at all."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nightcrew.core.retry_time import MARGIN, names_time, parse_retry_at

BERLIN = ZoneInfo("Europe/Berlin")
BEIJING = timezone(timedelta(hours=8))
PRINTED = datetime(2026, 10, 9, 16, 0, tzinfo=UTC)  # a Friday, 18:00 in Berlin

ZONES = ("Europe/Berlin", "Asia/Kolkata", "Asia/Calcutta", "Etc/GMT+5", "America/New_York", "Pacific/Auckland",
         "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "Africa/Casablanca",
         "UTC")  # fmt: skip


def find_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def parse(text: str, at: datetime = PRINTED, *, host: tzinfo = BERLIN, vendor: tzinfo | None = None):
    return parse_retry_at(text, printed_at=at, host_zone=host, find_zone=find_zone, vendor_zone=vendor)


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


CLOCKS = {
    "resets 10:30pm (Europe/Berlin)": utc(2026, 10, 9, 20, 30),
    "resets 3:20am (Asia/Calcutta)": utc(2026, 10, 9, 21, 50),
    "resets 9:50pm (UTC)": utc(2026, 10, 9, 21, 50),
    "Your limit will reset at 1pm (Etc/GMT+5).": utc(2026, 10, 9, 18),
    "Resets at 10:00 UTC.": utc(2026, 10, 10, 10),
    "resets 10:00 UTC+8": utc(2026, 10, 10, 2),
    "resets 10:00 GMT-5": utc(2026, 10, 10, 15),
    "resets at 10:00 +05:30": utc(2026, 10, 10, 4, 30),
    "resets 3pm": utc(2026, 10, 10, 13),
    "resets 7pm": utc(2026, 10, 9, 17),
    "resets at 7 p.m. or later": utc(2026, 10, 9, 17),
    "resets 1pm PT": utc(2026, 10, 9, 20),
    "resets 1pm pdt": utc(2026, 10, 9, 20),
    "resets at midnight Pacific time": utc(2026, 10, 10, 7),
    "resets at noon Central Time": utc(2026, 10, 9, 17),
    "resets 22:15:30 Europe/Berlin": utc(2026, 10, 9, 20, 15, 30),
    "resets 10:30\u202fPM (Europe/Berlin)": utc(2026, 10, 9, 20, 30),
    "resets tomorrow at 5am": utc(2026, 10, 10, 3),
    "resets today, 23:00": utc(2026, 10, 9, 21),
    "resets 3pm (in three hours)": utc(2026, 10, 10, 13),
    "resets Monday 9am": utc(2026, 10, 12, 7),
    "resets Fri at 9:00 PM": utc(2026, 10, 9, 19),
    "resets Friday, 9am": utc(2026, 10, 16, 7),
    "resets on Wednesday.": utc(2026, 10, 13, 22),
}

DATES = {
    "resets Oct 24": utc(2026, 10, 23, 22),
    "resets Oct 9": utc(2026, 10, 9, 22),
    "resets Oct 10 at 5pm": utc(2026, 10, 10, 15),
    "resets Oct 9 at 5pm (America/New_York)": utc(2026, 10, 9, 21),
    "resets Oct 24 (Asia/Tokyo)": utc(2026, 10, 23, 15),
    "resets Jan 3, 9am": utc(2027, 1, 3, 8),
    "try again at Oct 23rd, 2026 4:15 AM.": utc(2026, 10, 23, 2, 15),
    "try again on 9 November 2026 at 17:00": utc(2026, 11, 9, 16),
    "available again on Sunday, 1 Nov 2026 07:28 UTC": utc(2026, 11, 1, 7, 28),
    "reset at 2026-10-14T00:00:00Z": utc(2026, 10, 14),
    "reset at 2026-10-14T00:00:00.123456-04:00": utc(2026, 10, 14, 4),
    "reset at 2026-10-14 19:01:25": utc(2026, 10, 14, 17, 1, 25),
    "reset at 2026-10-14": utc(2026, 10, 13, 22),
    "limits will reset when your monthly cycle ends on 11/17/2026.": utc(2026, 11, 16, 23),
    "resets 10/17/2026, 4:15:00 PM": utc(2026, 10, 17, 14, 15),
    "usage limit reached|1791600000": utc(2026, 10, 10, 2, 40),
    '{"resets_at":1791600000,"resets_in_seconds":13872}': utc(2026, 10, 10, 2, 40),
    "reset: 1791600000000": utc(2026, 10, 10, 2, 40),
    "retry-after: Wed, 21 Oct 2026 07:28:00 GMT": utc(2026, 10, 21, 7, 28),
}

DURATIONS = {
    "try again in 2 days 17 hours 14 minutes.": timedelta(days=2, hours=17, minutes=14),
    "try again in 3 hours 2 minutes.": timedelta(hours=3, minutes=2),
    "retrying in 9h": timedelta(hours=9),
    "Free usage exceeded with retry timer 73801s (grows)": timedelta(seconds=73_801),
    "Please try again in 58 hours. (Request ID 12:30)": timedelta(hours=58),
    "please try again after 1 seconds": timedelta(seconds=1),
    "try again in an hour and 5 minutes": timedelta(hours=1, minutes=5),
    "resets in 1h30m": timedelta(minutes=90),
    "reset in 1.5 hours": timedelta(minutes=90),
    "resets in 4:59:12": timedelta(hours=4, minutes=59, seconds=12),
    "wait 250 ms": timedelta(milliseconds=250),
    "retry-after: 30": timedelta(seconds=30),
    "Retry-After=3600 seconds": timedelta(hours=1),
    '"retryDelay": "34.07s"': timedelta(seconds=34.07),
    '"retry_after_ms": 1500,': timedelta(seconds=1.5),
    '{"resets_at":1777936568,"resets_in_seconds":13872}': timedelta(seconds=13_872),
    "primary used 100 %, window 300 min, reset after 13873 s; secondary used 80 %, reset after 316705 s":
        timedelta(seconds=13_873),
    "primary used 20 %, reset after 13873 s; secondary used 100 %, reset after 316705 s": timedelta(seconds=316_705),
    "primary used 100 %, reset after 13873 s; secondary used 100.0 %, reset after 316705 s":
        timedelta(seconds=316_705),
    "You have used 100% of it; try again in 2 days": timedelta(days=2),
    "You've reached your 5-hour usage limit": timedelta(hours=5),
    "Usage limit reached for 5 hour.": timedelta(hours=5),
    "Usage limit reached for 5 hour. It reset at 2026-10-01 10:00:00": timedelta(hours=5),
}  # fmt: skip

NOTHING = (
    "",
    "try again in a moment",
    "Please try again later.",
    "Please try again later. It is 10:00 UTC.",
    "wait for limits to reset (every 5h and every week.)",
    "Free quota used (30 requests / 5h).",
    "The server said so at 2026-10-14 10:00.",
    "Weekly/Monthly Limit Exhausted",
    "Your quota will be refreshed in the next cycle",
    "You have exceeded your monthly quota",
    "resets 2026-10-08 10:00",
    "resets Oct 8",
    "resets Oct 9 at 5pm",
    "resets today at 5pm",
    "resets 2027-12-31",
    "resets 9999-12-31 23:59",
    "resets 0001-01-01",
    "resets Feb 31",
    "resets Feb 31, 2027",
    "resets 2027-02-31 10:00",
    "resets 25:00",
    "resets 13pm",
    "resets 0am",
    "resets 3pm (Mars/Olympus)",
    "resets 3pm CST",
    "resets 10:00 +25:00",
    "try again in 0 seconds",
    "try again in 999999999 weeks",
    "retry-after: 0",
    "retry-after: -5",
    "reset: 9999999999",
    "quotaId GenerateRequestsPerDay",
)


@pytest.mark.parametrize("text", [*CLOCKS, *DATES])
def test_a_moment_is_read(text):
    assert parse(f"A limit: {text}") == (CLOCKS | DATES)[text] + MARGIN


@pytest.mark.parametrize("text", DURATIONS)
def test_a_duration_counts_from_when_the_line_was_printed(text):
    assert parse(text) == PRINTED + DURATIONS[text] + MARGIN


@pytest.mark.parametrize("text", NOTHING)
def test_what_names_no_time_to_come_gives_none(text):
    assert parse(text) is None


@pytest.mark.case("C133")
@pytest.mark.parametrize(("hour", "minute", "day"), [(14, 59, 9), (15, 0, 9), (15, 1, 10), (0, 0, 9), (23, 59, 10)])
def test_a_clock_time_is_the_next_such_time(hour, minute, day):
    printed = datetime(2026, 10, 9, hour, minute, tzinfo=BERLIN).astimezone(UTC)
    expected = datetime(2026, 10, day, 15, 0, tzinfo=BERLIN).astimezone(UTC) + MARGIN
    assert parse("resets 3pm", printed) == expected
    assert parse("resets 3pm (Europe/Berlin)", printed, host=UTC) == expected


@pytest.mark.case("C133")
def test_a_month_and_day_with_an_hour_is_exact_in_its_zone():
    assert parse("resets Oct 12 at 5pm", host=UTC) == utc(2026, 10, 12, 17, 1)
    assert parse("resets Oct 12 at 5pm (Asia/Tokyo)", host=UTC) == utc(2026, 10, 12, 8, 1)


@pytest.mark.case("C142")
@pytest.mark.parametrize("host", [UTC, BERLIN, ZoneInfo("America/Los_Angeles"), BEIJING])
def test_a_vendor_that_prints_its_own_time_is_read_in_its_own_zone(host):
    assert parse("reset at 2026-10-10 05:38:28", host=host, vendor=BEIJING) == utc(2026, 10, 9, 21, 39, 28)
    assert parse("将在 2026-10-10 05:38:28 重置", host=host, vendor=BEIJING) == utc(2026, 10, 9, 21, 39, 28)
    assert parse("reset at 2026-10-10 05:38:28Z", host=host, vendor=BEIJING) == utc(2026, 10, 10, 5, 39, 28)


def test_a_quota_of_a_day_ends_at_the_vendors_midnight():
    pacific = ZoneInfo("America/Los_Angeles")
    assert parse("quotaId GenerateRequestsPerDay", vendor=pacific) == utc(2026, 10, 10, 7, 1)
    assert parse("PerDay quota. Please retry in 34.07s.", vendor=pacific) == utc(2026, 10, 10, 7, 1)
    # 23:30 before the clocks go back: the day to come is 25 hours long, the midnight after next is not meant.
    assert parse("daily request limit", utc(2026, 11, 1, 6, 30), vendor=pacific) == utc(2026, 11, 1, 7, 1)


@pytest.mark.parametrize(
    ("text", "printed", "expected"),
    [
        # 02:30 does not exist on 2026-03-29 in Berlin: the clock shows 03:30 then.
        ("resets 2:30am", utc(2026, 3, 28, 22), utc(2026, 3, 29, 1, 30)),
        # 02:30 comes twice on 2026-10-25: the second one is never too early.
        ("resets 2:30am", utc(2026, 10, 24, 22), utc(2026, 10, 25, 1, 30)),
        ("resets 2:30am", utc(2026, 10, 25, 0, 45), utc(2026, 10, 25, 1, 30)),
        ("resets 2:30am", utc(2026, 10, 25, 1, 45), utc(2026, 10, 26, 1, 30)),
        ("resets 2026-10-25 02:30", utc(2026, 10, 20), utc(2026, 10, 25, 1, 30)),
        ("resets 9am", utc(2026, 10, 24, 22), utc(2026, 10, 25, 8)),
        ("resets Sunday 9am", utc(2026, 3, 27), utc(2026, 3, 29, 7)),
        ("try again in 24 hours", utc(2026, 10, 24, 22), utc(2026, 10, 25, 22)),
    ],
)
def test_clocks_that_are_set_forward_and_back(text, printed, expected):
    assert parse(text, printed) == expected + MARGIN


@pytest.mark.parametrize(
    ("printed", "text", "expected"),
    [
        (utc(2026, 12, 30), "resets Jan 3", utc(2027, 1, 2, 23)),
        (utc(2026, 10, 24, 10), "resets Oct 24", utc(2026, 10, 24, 22)),
        (utc(2028, 2, 20), "resets Feb 29 at 3pm", utc(2028, 2, 29, 14)),
        (utc(2026, 12, 30), "resets Dec 29 at 3pm", None),
        (utc(2026, 12, 30), "resets Jan 3, 2026", None),
    ],
)
def test_the_year_is_added_where_it_is_not_said(printed, text, expected):
    assert parse(text, printed) == (expected + MARGIN if expected else None)


def test_an_unread_time_is_noticed():
    assert names_time("resets at 25:99 o'clock")
    assert names_time("try again in 3 fortnights")
    assert not names_time("Please try again later. (429)")
    assert not names_time("usage limit exceeded (2056)")


MOMENTS = st.timedeltas(timedelta(0), timedelta(days=15 * 366)).map(lambda since: utc(2020, 1, 1) + since)
ZONE = st.sampled_from(ZONES)
MINUTES = st.integers(2, 60 * 24 - 70)


def render(at: datetime, form: str, name: str) -> str:
    """A moment as a vendor would write it in a zone."""
    local = at.astimezone(ZoneInfo(name))
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(local.day % 10 if local.day not in (11, 12, 13) else 0, "th")
    hour = local.hour % 12 or 12
    half = f"{hour}:{local:%M%p}"
    return {
        "clock": f"resets {half.lower()} ({name})",
        "clock24": f"Resets at {local:%H:%M} {name}",
        "weekday": f"resets {local:%A} {half} ({name})",
        "month": f"resets {local:%b} {local.day} at {half.lower()} ({name})",
        "ordinal": f"try again at {local:%b} {local.day}{suffix}, {local.year} {hour}:{local:%M %p} ({name})",
        "us": f"ends on {local.month}/{local.day}/{local.year}, {hour}:{local:%M:%S %p} ({name})",
        "iso": f"reset at {at:%Y-%m-%dT%H:%M:%S}Z",
        "isozone": f"reset at {local.isoformat()}",
        "http": f"retry-after: {at:%a, %d %b %Y %H:%M:%S} GMT",
        "epoch": f"limit reached|{at.timestamp():.0f}",
        "millis": f'"resetsAt":{at.timestamp() * 1000:.0f}',
    }[form]


@given(printed=MOMENTS, ahead=MINUTES, name=ZONE, host=ZONE,
       form=st.sampled_from(["clock", "clock24", "weekday", "month", "ordinal", "us", "iso", "isozone", "http", "epoch",
                             "millis"]))  # fmt: skip
def test_a_rendered_moment_is_read_back_wherever_the_host_stands(printed, ahead, name, host, form):
    at = (printed + timedelta(minutes=ahead)).replace(second=0, microsecond=0)
    read = parse(f"A limit. {render(at, form, name)} and so on", printed, host=ZoneInfo(host))
    assert read is not None
    # Never too early; late by one hour at most, where the clocks are set back.
    assert read - MARGIN == at or (
        at < read - MARGIN <= at + timedelta(hours=1) and form not in ("iso", "isozone", "http", "epoch", "millis")
    )


@given(printed=MOMENTS, days=st.integers(0, 30), hours=st.integers(0, 23), minutes=st.integers(0, 59),
       short=st.booleans())  # fmt: skip
def test_a_rendered_duration_is_read_back(printed, days, hours, minutes, short):
    wait = timedelta(days=days, hours=hours, minutes=minutes)
    assume(wait)
    words = [f"{number}{unit[0] if short else ' ' + unit}" for number, unit in
             ((days, "days"), (hours, "hours"), (minutes, "minutes")) if number]  # fmt: skip
    assert parse(f"try again in {' '.join(words)}.", printed) == printed + wait + MARGIN
    assert parse(f"retry-after: {wait.total_seconds():.0f}", printed) == printed + wait + MARGIN


PIECES = st.sampled_from(
    ["resets ", "try again in ", "retry-after: ", "used 100 %, ", "reset after ", "10:30pm ", "2:30am ", "3", " hours ",
     "5-hour limit ", "Oct 24", "Feb 29 ", " at ", "(Europe/Berlin)", " UTC", "2026-10-14", "T", "1791600000",
     "Monday ",     "tomorrow ", "11/17/2026",
     "/", "(", ")", ".", ";", "\n", "PerDay", "重置", "9" * 12, "-", ":", ", ", " CST",
     "Etc/GMT+5", "an hour", "in 4:59:12", "{\"resets_in_seconds\":", "٣", "\x00"]
)  # fmt: skip
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=14).map("".join)
FAR = st.timedeltas(timedelta(0), timedelta(days=9_990 * 365)).map(lambda since: utc(1, 1, 3) + since)


@given(text=TEXTS, printed=FAR, vendor=ZONE | st.none())
def test_no_text_raises_and_no_time_is_past(text, printed, vendor):
    read = parse(text, printed, vendor=ZoneInfo(vendor) if vendor else None)
    names_time(text)
    assert read is None or read >= printed + MARGIN


@given(text=TEXTS | st.sampled_from([*CLOCKS, *DATES, *DURATIONS]), printed=MOMENTS, later=st.integers(0, 60 * 60 * 50))
def test_the_same_line_printed_later_never_means_an_earlier_time(text, printed, later):
    first, second = parse(text, printed), parse(text, printed + timedelta(seconds=later))
    if first is not None and second is not None:
        assert second >= first


@pytest.mark.parametrize(
    "piece",
    ["resets ", "9", "1 ", "1h", "a ", "a b ", "Oct 1 ", "resets 1:1", "(A", "used ", "try again 1 h ", "mon, ",
     "2026-10-1",     "retry-after: 1", "per ", " ", "5-hour a b "],
)  # fmt: skip
def test_hostile_text_of_any_length_is_cut_and_read_in_little_work(piece):
    text = piece * (2_000_000 // len(piece))
    read = parse(text)
    assert read == parse(text[:4_000])
    names_time(text)
