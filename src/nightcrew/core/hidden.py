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
        start = _find_comment(line)
        kept.append(line if start is None else line[:start])
        if start is None:
            at = end
            continue
        count += 1
        close = text.find("-->", at + start + 2)
        at = len(text) if close == -1 else close + 3
    return "".join(kept), count


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end == -1 else end + 1


def _find_comment(line: str) -> int | None:
    """Where the first comment of a line begins that is not in a code span; None if there is none."""
    at = line.find("<!--")
    if at == -1 or "`" not in line[:at]:
        return at if at != -1 else None
    runs = [(match.start(), match.end()) for match in _BACKTICKS.finditer(line)]
    by_size: dict[int, list[int]] = {}
    for start, end in runs:
        by_size.setdefault(end - start, []).append(start)
    position = 0
    for start, end in runs:
        if start < position:
            continue
        if at < start:
            return at
        same = by_size[end - start]
        following = bisect_left(same, end)
        if following == len(same):
            continue
        position = same[following] + (end - start)
        if at < position:
            at = line.find("<!--", position)
            if at == -1:
                return None
    return at
