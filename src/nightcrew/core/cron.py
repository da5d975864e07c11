"""When a schedule fires: five cron fields, or a short form such as `@daily`, on the clock of one time zone.

croniter reads the fields and walks over the times on the wall, which know no zone. What happens where a zone's clock is
set is decided here, as cron(8) does it. A schedule that names its hour and its minute fires once for each time on the
wall: one that comes twice counts at its first coming, one that is left out fires as much later as the clock was moved.
A schedule with `*` for its minute or hour is a rhythm: it fires whenever the clock shows such a time, so that
`*/15 * * * *` keeps firing every fifteen minutes through the hour that comes twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from heapq import heappop, heappush
from itertools import takewhile
from zoneinfo import ZoneInfo

from nightcrew.core.errors import NightcrewError

SHORT_FORMS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIELDS = re.compile(r"[0-9A-Za-z*/,#-]+(?: [0-9A-Za-z*/,#-]+){4}")
_CHANCE = re.compile(r"(?:^|[ ,])[hr](?![a-z])", re.IGNORECASE)
"""What croniter would fill in by chance."""
_POINT = re.compile(r"\b(\w+)-\1\b(?:/[0-9]+)?")
"""A range of one number, which croniter takes for all numbers there are."""
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(?:/[A-Za-z0-9_+-]{1,30}){0,2}")
_YEARS = 9
"""How far the next time may be away: 29 February comes twice in so many years, whatever the century."""
_DAY = timedelta(days=1)
_AROUND = timedelta(hours=26)
"""More than any zone is away from UTC, or has ever moved its clock."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule that was read: its five fields, the name of its zone, and whether it is a rhythm."""

    fields: str
    zone: str
    is_rhythm: bool


@lru_cache(maxsize=1024)
def parse_schedule(text: str, zone: str = "UTC") -> Schedule:
    """Read five fields or a short form; raises NightcrewError for anything else, and for one that never fires."""
    if _ZONE.fullmatch(zone) is None:
        raise NightcrewError(f"{zone!r} is not a time zone; write it like Europe/Berlin, or UTC")
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise NightcrewError(f"there is no time zone {zone!r}; write it like Europe/Berlin, or UTC") from None
    from croniter.croniter import CroniterBadDateError, CroniterError

    written = " ".join(text.split())
    fields = _POINT.sub(r"\1", SHORT_FORMS.get(written.lower(), written))
    if _FIELDS.fullmatch(fields) is None or _CHANCE.search(fields):
        forms = ", ".join(SHORT_FORMS)
        raise NightcrewError(f"{text!r} is not a schedule; write minute hour day month weekday, or one of {forms}")
    minute, hour = fields.split(" ")[:2]
    try:
        schedule = Schedule(fields, zone, is_rhythm=minute.startswith("*") or hour.startswith("*"))
        next(_walls(fields, datetime(2026, 1, 1)))  # noqa: DTZ001 - a time on the wall
    except CroniterBadDateError:
        raise NightcrewError(f"{text!r} is a day that never comes") from None
    except (CroniterError, ValueError, KeyError) as error:
        raise NightcrewError(f"{text!r} is not a schedule: {error}") from None
    return schedule


@lru_cache(maxsize=4096)
def next_fire(schedule: Schedule, after: datetime) -> datetime:
    """The first time strictly after `after`, in UTC."""
    return next(walk(schedule, after=after))


def last_fire(schedule: Schedule, *, after: datetime, until: datetime) -> datetime | None:
    """The last time after `after` and not after `until`; None if there is none."""
    span = timedelta(hours=1)
    while until > after:
        start = max(after, until - span)
        found = None
        for at in fires(schedule, after=start, until=until):
            found = at
        if found is not None or start == after:
            return found
        span *= 6
    return None


def fires(schedule: Schedule, *, after: datetime, until: datetime) -> Iterator[datetime]:
    """Every time after `after` and not after `until`, in order."""
    return takewhile(lambda at: at <= until, walk(schedule, after=after))


def walk(schedule: Schedule, *, after: datetime) -> Iterator[datetime]:
    """Every time strictly after `after`, in order, without end."""
    zone, after = ZoneInfo(schedule.zone), after.astimezone(UTC)
    found = _beats(schedule.fields, zone, after) if schedule.is_rhythm else _on_wall(schedule.fields, zone, after)
    return (at for at in found if at > after)


def _walls(fields: str, after: datetime) -> Iterator[datetime]:
    """The times on the wall after one, without a zone."""
    from croniter import croniter  # with it comes more than all of the core; who has no jobs does without

    walking = croniter(fields, after, ret_type=datetime, max_years_between_matches=_YEARS, implement_cron_bug=True)
    while True:
        yield walking.get_next(datetime)


def _beats(fields: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Through each stretch in which the zone's clock runs evenly; at its end, on with the clock as it is set then."""
    start, seen, offset = after, after, _offset(zone, after)
    while True:
        for wall in _walls(fields, (start + offset).replace(tzinfo=None)):
            at = wall.replace(tzinfo=UTC) - offset
            change = _first_change(zone, seen, at)
            if change is not None:
                # A moment before, by the clock as it is set then: the change itself may be such a time.
                start, seen, offset = change - timedelta(microseconds=1), change, _offset(zone, change)
                break
            seen = at
            yield at


def _on_wall(fields: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Each time on the wall once. Near a change of the clock those that were left out may come after later ones."""
    near = _first_change(zone, after - _AROUND, after + _AROUND) is not None
    start = after + _offset(zone, after) - (_AROUND if near else timedelta())
    waiting: list[datetime] = []
    last = after
    for wall in _walls(fields, start.replace(tzinfo=None)):
        at = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
        is_even = _first_change(zone, at - _AROUND, at + _AROUND) is None
        bound = at if is_even else wall.replace(tzinfo=UTC) - _AROUND
        heappush(waiting, at)
        while waiting and waiting[0] <= bound:
            found = heappop(waiting)
            if found > last:
                last = found
                yield found


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def _first_change(zone: ZoneInfo, after: datetime, until: datetime) -> datetime | None:
    """The first minute after `after`, and not after `until`, at which the zone's clock is set differently."""
    low, offset = after, _offset(zone, after)
    while low < until:
        high = min(low + _DAY, until)
        if _offset(zone, high) != offset:
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) / 2
                low, high = (middle, high) if _offset(zone, middle) == offset else (low, middle)
            # Clocks are set at whole minutes, and the search ends less than a second after it.
            return high.replace(second=0, microsecond=0)
        low = high
    return None
