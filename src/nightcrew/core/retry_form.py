"""The ways of writing a time in which vendors say when to try again: each a pattern, and how a match of it is read.

A reader gives the instant, None where it is past or too far to be meant, or raises ValueError for what no clock or
calendar shows and for a zone that is not known. Which of the times in a text is meant is not decided here.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

from nightcrew.core.wall_time import Place, find_in_year, find_named_zone, find_next, find_on_day, looks_like_zone

FARTHEST = timedelta(days=400)
"""A time that lies farther ahead is no time to try again."""

FLAGS = re.IGNORECASE | re.ASCII

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {
    "ms": 0.001, "milliseconds": 0.001, "millisecond": 0.001,
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "d": 86_400, "day": 86_400, "days": 86_400,
    "w": 604_800, "week": 604_800, "weeks": 604_800,
    "month": 2_678_400, "months": 2_678_400,
}  # fmt: skip

_AREAS = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc|US|Canada|Brazil|Mexico"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = (
    r"\b(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)\b"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_ZONE = (
    r"(?:\s?\((?P<bracket>[A-Za-z][\w+/-]{0,39}(?:\s[A-Za-z]{1,12}){0,2})\)"
    r"|\s?(?P<zone>(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?\b|Z\b|[+-]\d{2}:?\d{2}\b"
    rf"|(?:{_AREAS})/[\w+-]{{1,20}}(?:/[\w+-]{{1,20}})?"
    r"|(?:pacific|mountain|central|eastern|beijing)(?:\stime)?\b|[pmce][sd]?t\b|(?-i:[A-Z]{1,4}T)\b))?"
)
_CLOCK = (
    r"(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?!\d)(?::(?P<second>\d{2})(?!\d)(?:[.,]\d{1,9})?)?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?|\s?(?P<half_only>[ap])\.?m\b\.?)|(?P<word>noon|midnight)\b)"
)
_THEN_CLOCK = rf"(?:(?:T|,?\s(?:at\s)?){_CLOCK})?{_ZONE}"
_UNIT = "(?:" + "|".join(sorted(_UNITS, key=len, reverse=True)) + ")(?![A-Za-z])"
_AMOUNT = rf"(?:\d{{1,9}}(?:\.\d{{1,9}})?[ -]?|\ban?\s){_UNIT}"
_AMOUNTS = re.compile(rf"(?:(?P<number>\d{{1,9}}(?:\.\d{{1,9}})?)[ -]?|\ban?\s)(?P<unit>{_UNIT})", FLAGS)

Reader = Callable[[re.Match[str], Place], datetime | None]


@dataclass(frozen=True, slots=True)
class Form:
    """One way of writing a time. `marked`: it says itself that it is about trying again. `dated`: it is so plain that
    it may also stand before the word that says so."""

    pattern: str
    read: Reader
    marked: bool = False
    dated: bool = False


def find_forms(text: str) -> Iterator[tuple[Form, re.Match[str]]]:
    """All times in a text, in order; of those that overlap, the one that begins first, the longest of these."""
    found = [(form, match) for form in FORMS for match in _compiled(form.pattern).finditer(text)]
    end = 0
    for form, match in sorted(found, key=lambda one: (one[1].start(), -one[1].end())):
        if match.start() >= end:
            end = match.end()
            yield form, match


def read_amounts(words: str, place: Place) -> datetime | None:
    """The moment after a duration, which is the sum of the amounts in it."""
    parts = [(part["number"], _UNITS[part["unit"].lower()]) for part in _AMOUNTS.finditer(words)]
    return _after(sum(float(number or 1) * unit for number, unit in parts), place)


def _read_duration(match: re.Match[str], place: Place) -> datetime | None:
    return read_amounts(match[0], place)


def _read_stopwatch(match: re.Match[str], place: Place) -> datetime | None:
    return _after(int(match["hours"]) * 3600 + int(match["minutes"]) * 60 + int(match["seconds"]), place)


def _read_field(match: re.Match[str], place: Place) -> datetime | None:
    is_thousandth = (match["unit"] or "").lower().startswith("m")
    return _after(float(match["number"]) / (1000 if is_thousandth else 1), place)


def _after(seconds: float, place: Place) -> datetime | None:
    return place.printed_at + timedelta(seconds=seconds) if 0 < seconds <= FARTHEST.total_seconds() else None


def _read_epoch(match: re.Match[str], place: Place) -> datetime | None:
    del place
    digits = match["epoch"]
    return datetime.fromtimestamp(int(digits) / (1000 if len(digits) > 10 else 1), UTC)


def _read_date(match: re.Match[str], place: Place) -> datetime | None:
    where, clock, month = _read_place(match, place), _read_clock(match), match["month"]
    number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3].lower())
    if match["year"] is None:
        return find_in_year(number, int(match["day"]), clock, where)
    return find_on_day(date(int(match["year"]), number, int(match["day"])), clock, where)


def _read_weekday(match: re.Match[str], place: Place) -> datetime | None:
    weekday = _DAYS.index(match["weekday"][:3].lower())
    return find_next(_read_clock(match) or time(), _read_place(match, place), weekday=weekday)


def _read_clock_time(match: re.Match[str], place: Place) -> datetime | None:
    where, clock = _read_place(match, place), _read_clock(match) or time()
    if match["near"] is None:
        return find_next(clock, where)
    ahead = timedelta(days=int(match["near"].lower() == "tomorrow"))
    return find_on_day(where.today + ahead, clock, where)


def _read_clock(match: re.Match[str]) -> time | None:
    """The clock time of a match; None if it has none."""
    if match["word"] is not None:
        return time(12 if match["word"].lower() == "noon" else 0)
    if match["hour"] is None:
        return None
    hour, half = int(match["hour"]), (match["half"] or match["half_only"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(f"no clock shows {hour} {half}m")
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, int(match["minute"] or 0), int(match["second"] or 0))


def _read_place(match: re.Match[str], place: Place) -> Place:
    """The place, with the zone that stands behind the time."""
    bare, name = match["zone"], match["zone"] or match["bracket"]
    if name is None or (bare is None and not looks_like_zone(name)):
        return place
    zone = find_named_zone(name, place.find_zone)
    if zone is None:
        raise ValueError("the zone is not known")
    return Place(place.printed_at, zone, place.find_zone)


def _form(pattern: str, read: Reader, *, marked: bool = False, dated: bool = False) -> Form:
    return Form(pattern, read, marked, dated)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Only once a text is read: it takes as long as loading many rooms, and most services never need it."""
    return re.compile(pattern, FLAGS)


_YEAR = r"(?P<year>\d{4})\b"

FORMS = (
    # A field: `retry-after: 120`, `"resets_in_seconds":13872`, `retryAfterMs=500`.
    _form(
        r"(?<![A-Za-z])(?:retry[-_ ]?(?:after|in)|resets?[-_ ]?(?:in|after))[-_ ]?"
        r"(?P<unit>milliseconds|millis|ms|seconds|secs|s)?[\"']?\s?[:=]\s?[\"']?"
        r"(?P<number>\d{1,9}(?:\.\d{1,9})?)(?![\w:/-]|\.\d|\s?[A-Za-z])",
        _read_field,
        marked=True,
    ),
    # 1777936568, or with milliseconds.
    _form(r"(?<![\w.])(?P<epoch>\d{10}|\d{13})(?:\.\d{1,9})?(?!\w)", _read_epoch),
    # 2026-08-14T00:00:00Z, 2026-09-04 19:01:25, 2026-09-04.
    _form(rf"(?<![\w/.-])(?P<year>\d{{4}})[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}})(?!\d){_THEN_CLOCK}",
          _read_date, dated=True),
    # 11/17/2025: the month first.
    _form(rf"(?<![\w/.-])(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/{_YEAR}{_THEN_CLOCK}", _read_date),
    # Jul 23rd, 2026 4:15 AM; Oct 9 at 5pm; Oct 24.
    _form(rf"(?:{_WEEKDAY},?\s)?\b{_MONTH}\s?{_DAY}(?:,?\s{_YEAR})?{_THEN_CLOCK}", _read_date),
    # Wed, 21 Oct 2026 07:28:00 GMT; 9 October at 17:00.
    _form(rf"(?:{_WEEKDAY},?\s)?\b{_DAY}[ -](?:of\s)?{_MONTH}(?:[ ,-]\s?{_YEAR})?{_THEN_CLOCK}", _read_date),
    # Monday 9am; Fri.
    _form(rf"{_WEEKDAY}(?:,?\s(?:at\s)?{_CLOCK}|(?=\s?(?:[.)\]\"']|$))){_ZONE}", _read_weekday),
    # 10:30pm (Europe/Berlin); 3pm; tomorrow at 10:00 UTC.
    _form(rf"(?:\b(?P<near>today|tomorrow),?\s(?:at\s)?)?(?<![\w:.]){_CLOCK}{_ZONE}", _read_clock_time),
    # in 4:59:12.
    _form(r"\bin\s(?P<hours>\d{1,3}):(?P<minutes>\d{2}):(?P<seconds>\d{2})\b", _read_stopwatch),
    # 2 days 17 hours 14 minutes; 1h30m; 73801s; an hour.
    _form(rf"(?<![\w.])(?=[\da]){_AMOUNT}(?:(?:,?\s(?:and\s)?)?{_AMOUNT}){{0,6}}", _read_duration),
)  # fmt: skip
