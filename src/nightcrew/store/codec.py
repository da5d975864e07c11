"""Values as SQLite keeps them: times as integers, nested dataclasses as JSON. No SQL here.

Times are microseconds since the epoch, UTC: exact both ways, smaller than text, and compared by SQLite as numbers,
where ISO text compares rightly only while all of it is written with the same precision and offset.

JSON follows the dataclass: a key a field, an enum by its value, a time as above, a tuple as a list; one of several
dataclasses is told by its `is`. A key that an older row lacks takes the field's default, and one that is no longer a
field is passed over, so a field can be added or dropped without rewriting rows.
"""

import json
import math
import types
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from nightcrew.core.errors import Bug, NightcrewError
from nightcrew.core.model.report import AssistantReport, AuthorReport, ReviewReport, RouterReport

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_TAGS: dict[type, str] = {
    AuthorReport: "author",
    ReviewReport: "review",
    RouterReport: "router",
    AssistantReport: "assistant",
}
_TAG_KEY = "is"


def render_time(at: datetime) -> int:
    """Microseconds since the epoch; a time without a zone is a Bug."""
    if at.tzinfo is None:
        raise Bug(f"a time without a zone: {at!r}")
    return (at - _EPOCH) // _MICROSECOND


def parse_time(stored: int) -> datetime:
    return _EPOCH + timedelta(microseconds=stored)


def render_optional_time(at: datetime | None) -> int | None:
    return None if at is None else render_time(at)


def parse_optional_time(stored: int | None) -> datetime | None:
    return None if stored is None else parse_time(stored)


def render_json(value: object) -> str:
    """JSON text of a dataclass, a tuple of them, or plain JSON values; Bug for anything else."""
    try:
        return json.dumps(_render(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Bug(f"not a value that can be kept as JSON: {error}") from error


def render_optional_json(value: object | None) -> str | None:
    return None if value is None else render_json(value)


def parse_json(kind: type[T], text: str) -> T:
    """The value of type `kind` (a dataclass or a tuple of something) that `render_json` wrote.

    NightcrewError if the text is something else, which only a hand in the database can have done.
    """
    try:
        return cast("T", _parser(cast("Hashable", kind))(json.loads(text)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NightcrewError(f"a stored {getattr(kind, '__name__', kind)} cannot be read: {error!r}") from error


def parse_optional_json(kind: type[T], text: str | None) -> T | None:
    return None if text is None else parse_json(kind, text)


def parse_object(text: str) -> dict[str, object]:
    """Plain JSON values, as an event's data holds them."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise NightcrewError(f"stored data cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise NightcrewError("stored data cannot be read: not an object")
    return value


def parse_enum(kind: type[E], stored: str) -> E:
    try:
        return kind(stored)
    except ValueError as error:
        raise NightcrewError(f"the database says {stored!r} where a {kind.__name__} belongs") from error


def storable(value: T) -> T | str:
    """Text that SQLite can keep: half a surrogate pair, which outside text may hold, becomes U+FFFD."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _render(value: object) -> object:
    match value:
        case float() if not math.isfinite(value):
            return repr(value)  # JSON has no such numbers; `float` reads the word back
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return value.value
        case datetime():
            return render_time(value)
        case tuple() | list():
            return [_render(item) for item in value]
        case dict():
            return value
        case _:
            return _render_dataclass(value)


def _render_dataclass(value: object) -> object:
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    body = {field.name: _render(getattr(value, field.name)) for field in fields(value)}
    tag = _TAGS.get(type(value))
    return body if tag is None else {_TAG_KEY: tag, **body}


Parser = Callable[[Any], object]


@cache
def _parser(kind: Any) -> Parser:
    """How to read a type; made once for each."""
    if isinstance(kind, NewType):
        return _parser(kind.__supertype__)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _union_parser(tuple(one for one in arguments if one is not types.NoneType))
    if origin is tuple:
        item = _parser(arguments[0])
        return lambda stored: tuple(item(one) for one in stored)
    if kind is datetime:
        return parse_time
    if kind is float:
        return float
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if is_dataclass(kind):
        return _dataclass_parser(cast("type", kind))
    return lambda stored: stored


def _union_parser(kinds: tuple[Any, ...]) -> Parser:
    if len(kinds) == 1:
        only = _parser(kinds[0])
        return lambda stored: None if stored is None else only(stored)
    by_tag = {_TAGS[kind]: _parser(kind) for kind in kinds}
    return lambda stored: None if stored is None else by_tag[stored[_TAG_KEY]](stored)


def _dataclass_parser(kind: type) -> Parser:
    hints = get_type_hints(kind)
    parsers = {field.name: _parser(hints[field.name]) for field in fields(kind)}

    def parse(stored: dict[str, object]) -> object:
        return kind(**{name: read(stored[name]) for name, read in parsers.items() if name in stored})

    return parse
