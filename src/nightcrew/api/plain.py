"""Any value as JSON, and times as text. Standard library only."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

Json = dict[str, object]


def render_moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC with a `Z`, to the millisecond."""
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def render_plain(value: object) -> object:
    """Any value as JSON: mappings and sequences within, times as text, what is unknown by its words."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return render_moment(value)
    if isinstance(value, Mapping):
        return {str(key): render_plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [render_plain(item) for item in value]
    return str(value)
