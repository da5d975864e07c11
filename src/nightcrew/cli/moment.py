"""Times and durations in words for a person: how long ago, and when by their own clock."""

from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def parse_moment(text: str) -> datetime:
    """Read a time of the API (ISO 8601 with a zone)."""
    return datetime.fromisoformat(text)


def render_span(seconds: float) -> str:
    """A duration by its largest unit: `42s`, `3m`, `5h`, `2d`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    return f"{whole // _DAY}d"


def render_age(at: str | None, now: float) -> str:
    """How old something is; empty if it has no time. `now` is seconds since 1970."""
    return "" if at is None else render_span(now - parse_moment(at).timestamp())


def render_when(at: str | None, now: float) -> str:
    """Relative and absolute, as `3m ago (2026-11-30 08:12)`; the absolute part by the clock of this machine."""
    if at is None:
        return "never"
    moment = parse_moment(at)
    away = moment.timestamp() - now
    relative = f"in {render_span(away)}" if away > 0 else f"{render_span(-away)} ago"
    return f"{relative} ({moment.astimezone():%Y-%m-%d %H:%M})"


def render_clock(at: str) -> str:
    """The time of day by the clock of this machine, for lines that are printed as things happen."""
    return f"{parse_moment(at).astimezone():%H:%M:%S}"


def render_between(start: str | None, end: str | None, now: float) -> str:
    """How long something took, or takes so far; empty if it has not begun."""
    if start is None:
        return ""
    stop = now if end is None else parse_moment(end).timestamp()
    return render_span(stop - parse_moment(start).timestamp())
