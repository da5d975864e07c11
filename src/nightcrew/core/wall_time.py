"""Wall clocks of the world: turning dates and clock times, as people and programs write them, into instants.

No zone is loaded here, since that reads files: zones come through `Place.find_zone`. Where a wall time names two
instants (clocks set back) or none (set forward), the later reading is taken, so that nothing happens too early.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

SLACK = timedelta(minutes=1)
"""A moment that has passed by less than this still counts as the one that is meant."""

_DAY = timedelta(days=1)
_HALF_YEAR = timedelta(days=183)
_MIDNIGHT = time()

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE | re.ASCII)
_ETC = re.compile(r"Etc/GMT([+-])(\d{1,2})", re.IGNORECASE | re.ASCII)
_ABBREVIATION = re.compile(r"[A-Z]{2,5}")

# Names that people write instead of a place; those that mean several places (CST, IST, BST) are left out on purpose.
_PLACES = {
    **dict.fromkeys(("pt", "pst", "pdt", "pacific"), "America/Los_Angeles"),
    **dict.fromkeys(("mt", "mdt", "mountain"), "America/Denver"),
    **dict.fromkeys(("ct", "cdt", "central"), "America/Chicago"),
    **dict.fromkeys(("et", "est", "edt", "eastern"), "America/New_York"),
    **dict.fromkeys(("cet", "cest"), "Europe/Berlin"),
    "beijing": "Asia/Shanghai",
    "jst": "Asia/Tokyo",
}


@dataclass(frozen=True, slots=True)
class Place:
    """When a text was printed (aware, UTC), the zone of a time that names none, and how zones are found by name."""

    printed_at: datetime
    zone: tzinfo
    find_zone: Callable[[str], tzinfo | None]

    @property
    def today(self) -> date:
        return self.printed_at.astimezone(self.zone).date()

    def is_ahead(self, at: datetime) -> bool:
        return at + SLACK > self.printed_at


def find_named_zone(name: str, find_zone: Callable[[str], tzinfo | None]) -> tzinfo | None:
    """A zone by its IANA name, offset (`+02:00`, `UTC+8`) or a common abbreviation. None if it is not known."""
    name = name.strip()
    if name.upper() in ("Z", "UTC", "GMT", "ETC/UTC", "ETC/GMT"):
        return UTC
    if etc := _ETC.fullmatch(name):  # the sign of these names is the other way round
        return _fixed("-" if etc[1] == "+" else "+", etc[2], None)
    if offset := _OFFSET.fullmatch(name):
        return _fixed(offset[1], offset[2], offset[3])
    return find_zone(_PLACES.get(_first_word(name), name))


def looks_like_zone(name: str) -> bool:
    """Whether a word in brackets behind a time can only be meant as a zone."""
    return "/" in name or _first_word(name) in _PLACES or _ABBREVIATION.fullmatch(name) is not None


def _first_word(name: str) -> str:
    return name.split(" ", maxsplit=1)[0].lower()


def _fixed(sign: str, hours: str, minutes: str | None) -> tzinfo | None:
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-offset if sign == "-" else offset) if offset < _DAY else None


def find_instant(day: date, clock: time, zone: tzinfo) -> datetime:
    """The moment, in UTC, when a wall clock of the zone shows this; the later one if there are two or none."""
    wall = datetime.combine(day, clock)
    return max(wall.replace(fold=fold, tzinfo=zone).astimezone(UTC) for fold in (0, 1))


def find_next(clock: time, place: Place, *, weekday: int | None = None) -> datetime | None:
    """The next moment that shows this clock time, on this day of the week (0 is Monday) if one is given."""
    days = (place.today + _DAY * ahead for ahead in range(-1, 9))
    wanted = (day for day in days if weekday is None or day.weekday() == weekday)
    return next((at for day in wanted if place.is_ahead(at := find_instant(day, clock, place.zone))), None)


def find_on_day(day: date, clock: time | None, place: Place) -> datetime | None:
    """That clock time of that day; without one, the day's begin, or its end if it has begun. None if it is past."""
    if abs(day.year - place.printed_at.year) > 2:
        return None
    moments = (
        [find_instant(day, clock, place.zone)]
        if clock is not None
        else [find_instant(one, _MIDNIGHT, place.zone) for one in (day, day + _DAY)]
    )
    return next((at for at in moments if place.is_ahead(at)), None)


def find_in_year(month: int, day: int, clock: time | None, place: Place) -> datetime | None:
    """The same for a day without a year: of the year in which it is nearest, so that what was yesterday is past and no
    year away."""
    for one in _dates(month, day, range(place.today.year, place.today.year + 2)):
        at = find_on_day(one, clock, place)
        if at is not None and at - place.printed_at <= _HALF_YEAR:
            return at
    return None


def _dates(month: int, day: int, years: Iterable[int]) -> Iterable[date]:
    for year in years:
        try:
            yield date(year, month, day)
        except ValueError:
            continue
