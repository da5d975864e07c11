"""Reading what a CLI printed: JSON lines among other lines, and values inside them. Nothing here knows any CLI."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """A program's output: its lines that are JSON objects, in order, and its other lines that are not blank."""

    objects: tuple[Line, ...]
    plain: tuple[str, ...]


def parse_stream(output: bytes) -> Stream:
    """Split raw output into JSON objects and plain lines. Bytes that are not UTF-8 are replaced; a last line without
    a line end counts. Only line feeds divide: other separators may stand inside a JSON text."""
    objects: list[Line] = []
    plain: list[str] = []
    for raw in output.split(b"\n"):
        line = raw.decode("utf-8", "replace").strip()
        if not line:
            continue
        found = parse_object(line) if line.startswith("{") else None
        if found is None:
            plain.append(strip_terminal(line))
        else:
            objects.append(found)
    return Stream(tuple(objects), tuple(plain))


def parse_document(output: bytes) -> Stream:
    """The same for a CLI that prints one JSON document over many lines, perhaps among other lines: the last one that
    begins a line is taken, and a list of objects is taken as its members."""
    text = output.decode("utf-8", "replace")
    decoder = json.JSONDecoder(strict=False)
    for match in reversed(list(re.finditer(r"^[{\[]", text, re.MULTILINE))[-200:]):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        plain = tuple(strip_terminal(line) for line in text[: match.start()].split("\n") if line.strip())
        if isinstance(value, dict):
            return Stream((value,), plain)
        if isinstance(value, list) and any(isinstance(member, dict) for member in value):
            return Stream(tuple(member for member in value if isinstance(member, dict)), plain)
    return Stream((), tuple(strip_terminal(line) for line in text.split("\n") if line.strip()))


def parse_object(text: str) -> Line | None:
    """A JSON object, or None for anything else."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def find_value(line: object, path: str) -> Any:
    """The value at a dotted path of objects; None if it is not there. `a.b[]` gives the members of a list."""
    values = list(_walk(line, path.split(".")))
    return values[-1] if values else None


def find_text(line: object, path: str) -> str:
    """The text at a dotted path, "" if there is none; of several (a path through a list) all, as lines."""
    return "\n".join(value for value in _walk(line, path.split(".")) if isinstance(value, str))


def find_number(line: object, path: str) -> float | None:
    """The number at a dotted path; None for anything else, and for what no counter can be."""
    value = find_value(line, path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < 1e15 else None


def find_count(line: object, path: str) -> int | None:
    """A whole number at a dotted path."""
    number = find_number(line, path)
    return None if number is None else int(number)


def find_moment(line: object, path: str) -> datetime | None:
    """The time at a dotted path, in UTC: an ISO text with its zone, or seconds or milliseconds since 1970."""
    text, number = find_text(line, path), find_number(line, path)
    try:
        if number is not None:
            return datetime.fromtimestamp(number / (1000 if number > 1e11 else 1), UTC)
        at = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    return at.astimezone(UTC) if at.tzinfo is not None else None


def has_open(lines: Iterable[Line], *, began: Callable[[Line], list[str]], ended: Callable[[Line], list[str]]) -> bool:
    """Whether something that a line says to have begun, by its id, is not said to have ended by a later one."""
    open_ids: set[str] = set()
    for line in lines:
        open_ids.update(began(line))
        open_ids.difference_update(ended(line))
    return bool(open_ids)


def _walk(value: object, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    inner = value.get(step.removesuffix("[]")) if isinstance(value, Mapping) else None
    if step.endswith("[]"):
        for member in inner if isinstance(inner, list) else ():
            yield from _walk(member, rest)
    elif inner is not None:
        yield from _walk(inner, rest)


def strip_terminal(text: str) -> str:
    """Text without terminal codes and control characters; everything else, of any script, is kept as it is."""
    return _CONTROL.sub("", _ESCAPES.sub("", text)).strip()
