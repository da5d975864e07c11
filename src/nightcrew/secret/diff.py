"""Reading what a unified diff of git's adds, file by file. Only the text itself is trusted, never its headers' form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_NAMED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(slots=True)
class Added:
    """What is added to one file: its new path, and each line with its number there."""

    path: str
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def parse_added(diff: str) -> Iterator[Added]:
    """The files of a diff that get lines. Files without text changes (binary, renamed, removed) do not come."""
    current: Added | None = None
    removed = added = number = 0
    for line in _lines(diff):
        if removed > 0 or added > 0:  # inside a hunk: nothing here is a header
            mark = line[:1]
            if mark == "+":
                if current is not None:
                    current.lines.append(line[1:])
                    current.numbers.append(number)
                number, added = number + 1, added - 1
            elif mark == "-":
                removed -= 1
            elif mark != "\\":
                number, removed, added = number + 1, removed - 1, added - 1
        elif hunk := _HUNK.match(line):
            removed, number, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        elif line.startswith("+++ "):
            if current is not None and current.lines:
                yield current
            current = Added(_path(line[4:]))
    if current is not None and current.lines:
        yield current


def _lines(text: str) -> Iterator[str]:
    """Lines as git counts them: only a line feed ends one."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _path(name: str) -> str:
    """The path behind `+++ `: quoted as git quotes it, with a tab behind it where it has a space, and `b/` before."""
    name = name.rstrip("\r").removesuffix("\t")
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        raw = _ESCAPE.sub(_unescape, name[1:-1].encode("utf-8", "surrogateescape"))
        name = raw.decode("utf-8", "replace")
    return name.removeprefix("b/")


def _unescape(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _NAMED.get(code, code)
