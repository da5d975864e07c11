"""Reading single fields out of GitHub's JSON: what may be null or absent gets a plain default, what must be there and
is not makes the answer unreadable. Texts are taken as they are; whoever shows them escapes them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import Sha, parse_sha
from nightcrew.core.model.issue import GHOST

Json = Mapping[str, Any]


class Unreadable(ValueError):
    """An answer lacks what every answer of its kind has."""


def as_object(value: Any) -> Json:
    if not isinstance(value, Mapping):
        raise Unreadable(f"an object is expected, not {type(value).__name__}")
    return value


def as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Unreadable(f"a list is expected, not {type(value).__name__}")
    return value


def child(raw: Json, name: str) -> Json:
    """The object under this name, empty if there is none."""
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def children(raw: Json, name: str) -> list[Json]:
    """The objects in the list under this name."""
    value = raw.get(name)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def text(raw: Json, name: str) -> str:
    """The text under this name, empty if there is none."""
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def number(raw: Json, name: str) -> int:
    """The whole number that must be there."""
    value = raw.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unreadable(f"{name} is not a number")
    return value


def count(raw: Json, name: str) -> int:
    """The whole number under this name, 0 if there is none."""
    value = raw.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def moment(raw: Json, name: str) -> datetime:
    """The time that must be there."""
    found = find_moment(raw, name)
    if found is None:
        raise Unreadable(f"{name} is not a time")
    return found


def find_moment(raw: Json, name: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text(raw, name))
    except ValueError:
        return None
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def sha(raw: Json, name: str) -> Sha:
    """The commit id that must be there."""
    try:
        return parse_sha(text(raw, name))
    except NightcrewError as error:
        raise Unreadable(f"{name} is not a commit id") from error


def find_sha(raw: Json, name: str) -> Sha | None:
    try:
        return sha(raw, name)
    except Unreadable:
        return None


def login(raw: Json, name: str = "user") -> str:
    """The account under this name; a deleted one is null there and is called ghost."""
    return text(child(raw, name), "login") or GHOST


def is_bot(raw: Json, name: str = "user") -> bool:
    return text(child(raw, name), "type") == "Bot"


def label_names(raw: Json) -> tuple[str, ...]:
    """Names of the labels, which GitHub's description allows to be plain strings as well."""
    value = raw.get("labels")
    entries = value if isinstance(value, list) else []
    names = (entry if isinstance(entry, str) else text(entry, "name") for entry in entries if entry)
    return tuple(name for name in names if name)
