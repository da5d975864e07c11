"""Finding one form of secret in a text. Which forms there are is in `shape`.

A finder looks at most `HORIZON` characters ahead of where a find starts, so that a text can be worked on in pieces.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

Span = tuple[int, int, int]
"""Where a find starts, where in it the secret starts, and where both end."""

HORIZON = 24_000

WRAP = r"(?:\r?\n|(?:\\r)?\\n)[ \t]{0,8}"
"""Where a terminal or a JSON text breaks a line: the break itself or its escape, and the indentation after it."""

KNOWN = "known secret"
"""The kind of a secret that Nightcrew was given itself, as against one that only looks like one."""

_WRAP = re.compile(WRAP)
_MOST_WRAPS = 8
_LONGEST_RUN = 2_048
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][^A-Za-z]*\d|\d[^\d]*[A-Za-z]")


class Finder(Protocol):
    """Finds one form. `kind` is its name for a person. Whether there is a find at a place depends on what follows and
    on the character before it, never on where the search began."""

    @property
    def kind(self) -> str: ...

    def find(self, text: str, pos: int, floor: int) -> Span | None:
        """The first find that starts at `pos` or later. What stands before `floor` is not part of any word."""
        ...

    def find_here(self, text: str, pos: int) -> Span | None:
        """What is found at `pos` only because a word begins there."""
        ...


def wrapped(literal: str) -> str:
    """A pattern for a text that may be broken by line wraps anywhere inside."""
    return f"(?:{WRAP})?".join(WRAP if char == "\n" else re.escape(char) for char in literal)


@cache
def _any_of(literals: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(wrapped(literal) for literal in literals))


@cache
def _run_of(body: str) -> re.Pattern[str]:
    return re.compile(f"[{body}]{{1,{_LONGEST_RUN}}}")


@dataclass(frozen=True, slots=True)
class Token:
    """A token with a known beginning: `heads` (a pattern, or literals that a wrap may split), then characters of
    `body`, at least `least` of them and mostly `usual`. `whole` is what the unwrapped token must look like.

    A token that ends with its line goes on in the next one while it is shorter than usual and what follows looks as
    random as it does. One whose head stands inside a word is another word, if `guarded`.
    """

    kind: str
    heads: tuple[str, ...] | re.Pattern[str]
    body: str
    least: int
    usual: int
    guarded: bool = True
    whole: re.Pattern[str] | None = None

    def find(self, text: str, pos: int, floor: int) -> Span | None:
        if self._is_absent(text):
            return None
        while head := self._head.search(text, pos):
            start = head.start()
            pos = start + 1
            if self.guarded and start > floor and text[start - 1].isalnum():
                continue
            if span := self._span(text, head):
                return span
        return None

    def find_here(self, text: str, pos: int) -> Span | None:
        head = self._head.match(text, pos) if self.guarded else None
        return self._span(text, head) if head else None

    @property
    def _head(self) -> re.Pattern[str]:
        return self.heads if isinstance(self.heads, re.Pattern) else _any_of(self.heads)

    def _is_absent(self, text: str) -> bool:
        """Whether that is seen without a pattern: a literal that nothing wraps stands there as it is."""
        return (
            not isinstance(self.heads, re.Pattern)
            and "\n" not in text
            and "\\n" not in text
            and not any(literal in text for literal in self.heads)
        )

    def _span(self, text: str, head: re.Match[str]) -> Span | None:
        start, end = head.start(), self._end(text, head.end())
        if not end or (self.whole is not None and not self.whole.match(unwrap(text[start:end]))):
            return None
        return start, start, end

    def _end(self, text: str, at: int) -> int:
        """Where the token that has its body at `at` ends; 0 if it is too short for one."""
        length, end = 0, at
        for count in range(_MOST_WRAPS + 1):
            wrap = _WRAP.match(text, end) if count else None
            run = _run_of(self.body).match(text, wrap.end() if wrap else end) if wrap or not count else None
            if run is None:
                if count:
                    break
                continue  # the head may end with its line
            piece = run[0]
            if count and length >= self.least and not _MIXED.search(piece):
                break
            length, end = length + len(piece), run.end()
            if length >= self.usual:
                break
        return end if length >= self.least else 0


@dataclass(frozen=True, slots=True)
class Passage:
    """What the only group of a pattern, its end, holds, if `accepts` says so."""

    kind: str
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = bool

    def find(self, text: str, pos: int, floor: int) -> Span | None:  # noqa: ARG002 - no word borders here
        while found := self.pattern.search(text, pos):
            if self.accepts(found[1]):
                return found.start(), found.start(1), found.end()
            pos = found.start() + 1
        return None

    def find_here(self, text: str, pos: int) -> Span | None:  # noqa: ARG002 - as above
        return None


@dataclass(frozen=True, slots=True)
class Known:
    """Exact values, also split by line wraps."""

    pattern: re.Pattern[str]
    kind: str = KNOWN

    def find(self, text: str, pos: int, floor: int) -> Span | None:  # noqa: ARG002 - they are secret inside words too
        found = self.pattern.search(text, pos)
        return (found.start(), *found.span()) if found else None

    def find_here(self, text: str, pos: int) -> Span | None:  # noqa: ARG002 - as above
        return None


_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[23]:")
_END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_LINES = re.compile(r"(?:(?:\r?\n|(?:\\r)?\\n)[ \t+]{0,8}[A-Za-z0-9+/=]{20,120}){1,120}")
_LONGEST_KEY = 16_384


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key in PEM or a like armour, over its lines; one that is cut off too. A header without a key, as in
    code that looks for keys, is left alone."""

    kind: str = "private key"

    def find(self, text: str, pos: int, floor: int) -> Span | None:  # noqa: ARG002 - no word borders here
        for begin in _BEGIN.finditer(text, pos):
            end = self._end(text, begin.end())
            if end:
                return begin.start(), begin.start(), end
        return None

    def find_here(self, text: str, pos: int) -> Span | None:  # noqa: ARG002 - as above
        return None

    def _end(self, text: str, at: int) -> int:
        fence = text.find("-----", at, at + _LONGEST_KEY)
        if fence > at and (closing := _END.match(text, fence)) and re.search(r"[A-Za-z0-9+/=]{16}", text[at:fence]):
            return closing.end()
        lines = _LINES.match(text, at)
        return lines.end() if lines else 0


def unwrap(text: str) -> str:
    """Without line wraps."""
    return _WRAP.sub("", text)
