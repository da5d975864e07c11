"""When schedules fire, found out by asking every minute what a zone's clock shows. Nothing of the code under test is
used, and no library for cron: five lists of numbers, and what cron(8) says about clocks that are set."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def numbers(field: str, low: int, high: int) -> frozenset[int]:
    """The numbers of a field made of numbers, ranges, steps and commas."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        begin, end = (low, high) if span == "*" else (int(first), int(last or (high if step else first)))
        found |= set(range(begin, end + 1, int(step or 1)))
    return frozenset(found)


class Fields:
    """Five fields as sets."""

    def __init__(self, text: str) -> None:
        parts = text.split()
        pairs = zip(parts, _BOUNDS, strict=True)
        self.minute, self.hour, self.day, self.month, week = (numbers(part, *bounds) for part, bounds in pairs)
        self.week = frozenset(number % 7 for number in week)
        self.any_day, self.any_week = parts[2].startswith("*"), parts[4].startswith("*")
        self.is_rhythm = parts[0].startswith("*") or parts[1].startswith("*")

    def match(self, wall: datetime) -> bool:
        if wall.minute not in self.minute or wall.hour not in self.hour or wall.month not in self.month:
            return False
        day, week = wall.day in self.day, wall.isoweekday() % 7 in self.week
        return (day or week) if not (self.any_day or self.any_week) else (day and week)


class Almanac:
    """What the clock of a zone shows at every minute of [start, end), by the minute of the hour that it shows: for
    rhythms each time that it is shown, for others each time on the wall once (where it is shown first, or, left out, as
    far behind as the clock was moved)."""

    def __init__(self, zone: str, start: datetime, end: datetime) -> None:
        clock, at = ZoneInfo(zone), start.astimezone(UTC)
        self.shown: dict[int, list[tuple[datetime, datetime]]] = {minute: [] for minute in range(60)}
        self.once: dict[int, list[tuple[datetime, datetime]]] = {minute: [] for minute in range(60)}
        newest = last = at.astimezone(clock).replace(tzinfo=None, fold=0) - MINUTE
        while at < end:
            wall = at.astimezone(clock).replace(tzinfo=None, fold=0)
            self.shown[wall.minute].append((at, wall))
            left_out = last + MINUTE
            while left_out < wall:
                self.once[left_out.minute].append((at + (left_out - last - MINUTE), left_out))
                left_out += MINUTE
            if wall > newest:
                self.once[wall.minute].append((at, wall))
            newest, last = max(newest, wall), wall
            at += MINUTE

    def expected(self, text: str) -> list[datetime]:
        """Every time at which a schedule fires."""
        fields = Fields(text)
        pages = self.shown if fields.is_rhythm else self.once
        return sorted({at for minute in fields.minute for at, wall in pages[minute] if fields.match(wall)})
