"""Fenced code blocks in Markdown: where one ends, and which is left open. Rules: CommonMark 0.31, section 4.5."""

import re

_OPENING = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t\r]*$", re.MULTILINE)


def find_opening(line: str) -> str:
    """The fence that a line opens a code block with; empty if it opens none."""
    match = _OPENING.match(line.rstrip("\n"))
    return match[1] if match else ""


def open_fence(text: str) -> str:
    """The fence of the code block that `text` leaves open, so that a line of it would close the block; else empty."""
    fence = ""
    for line in text.split("\n"):
        if not fence:
            fence = find_opening(line)
        elif closes(line, fence):
            fence = ""
    return fence


def closes(line: str, fence: str) -> bool:
    """Whether a line ends the code block that `fence` began."""
    match = _CLOSING.match(line)
    return match is not None and match[1][0] == fence[0] and len(match[1]) >= len(fence)


class Closings:
    """The lines of a text that can close a code block, looked for from front to back without going over it again for
    each fence that nothing closes."""

    def __init__(self, text: str) -> None:
        self._lines = [(match.start(), match.end(), match[1]) for match in _CLOSING.finditer(text)]
        self._next = 0
        self._unclosed: dict[str, int] = {}

    def find_end(self, after: int, fence: str) -> int | None:
        """Where the block ends that `fence` opens before index `after`; None if nothing closes it."""
        if len(fence) >= self._unclosed.get(fence[0], len(fence) + 1):
            return None
        while self._next < len(self._lines) and self._lines[self._next][0] < after:
            self._next += 1
        for index in range(self._next, len(self._lines)):
            _, end, closing = self._lines[index]
            if closing[0] == fence[0] and len(closing) >= len(fence):
                return end
        self._unclosed[fence[0]] = len(fence)
        return None
