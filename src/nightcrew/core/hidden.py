"""Taking out of a text what a reader of the rendered page would not see, so that nobody can hide words for an agent.

Where Markdown and HTML could be read in two ways, a comment counts as hidden: what is shown as code keeps it.
"""

import re
from bisect import bisect_left

from nightcrew.core.fence import Closings, find_opening

_BACKTICKS = re.compile(r"(?<![\\`])`+")
_HTML_LINE = re.compile(r" {0,3}<(?:[/?A-Za-z]|![A-Za-z])")
_RAW_HTML = re.compile(r"<(?:pre|script|style|textarea)\b", re.IGNORECASE)


def strip_comments(text: str) -> tuple[str, int]:
    """The text without HTML comments (one that is never closed reaches to the end), and how many there were. Fenced
    code blocks and code spans within one line are kept as they are."""
    kept: list[str] = []
    count = at = 0
    closings = Closings(text)
    in_html = in_raw = False
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end]
        at_line_start = at == 0 or text[at - 1] == "\n"
        fence = find_opening(line) if at_line_start and not in_html and not in_raw else ""
        block_end = closings.find_end(end, fence) if fence else None
        if block_end is not None:
            kept.append(text[at:block_end])
            at = block_end
            continue
        in_html = bool(line.strip()) and (in_html or _HTML_LINE.match(line) is not None)
        in_raw = in_raw or _RAW_HTML.search(line) is not None
        comments = _find_comments(text, at, end)
        for start, close in comments:
            kept.append(text[at:start])
            at = close
        count += len(comments)
        kept.append(text[at:end])
        at = max(at, end)
    return "".join(kept), count


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end == -1 else end + 1


def _find_comments(text: str, at: int, end: int) -> list[tuple[int, int]]:
    """The comments that begin in a line, but for those in code spans; the last may end beyond it."""
    found: list[tuple[int, int]] = []
    start = text.find("<!--", at, end)
    if start == -1:
        return found
    spans = _Spans(text[at:end], at)
    while start != -1:
        after = spans.skip(at, start)
        if after > start:
            at = after
        else:
            close = text.find("-->", start + 2)
            at = len(text) if close == -1 else close + 3
            found.append((start, at))
        start = text.find("<!--", at, end)
    return found


class _Spans:
    """The code spans of one line, gone through from front to back."""

    def __init__(self, line: str, offset: int) -> None:
        self._runs = [(match.start() + offset, match.end() - match.start()) for match in _BACKTICKS.finditer(line)]
        self._by_size: dict[int, list[int]] = {}
        for start, size in self._runs:
            self._by_size.setdefault(size, []).append(start)
        self._next = 0

    def skip(self, at: int, target: int) -> int:
        """The end of the span that `target` is in, spans being looked for from `at` on; `at` or less if in none."""
        while self._next < len(self._runs) and self._runs[self._next][0] < target:
            start, size = self._runs[self._next]
            self._next += 1
            same = self._by_size[size]
            closing = bisect_left(same, start + size)
            if start < at or closing == len(same):
                continue
            at = same[closing] + size
            if at > target:
                return at
        return at
