"""Cutting text to a budget at borders a reader can live with: line ends, whole characters, closed fences."""

import unicodedata

MARK = "\n[… {left} more characters were cut]\n"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text` with a mark that says how much is missing. The cut falls on a line end
    where one is near, never inside a combined character or emoji, and an open code fence is closed before the mark."""
    if len(text) <= limit:
        return text
    room = max(0, limit - len(MARK.format(left=len(text))) - 4)
    at = room
    line_end = text.rfind("\n", 0, room)
    if line_end > room * 0.6:
        at = line_end
    while at > 0 and not _is_border(text, at):
        at -= 1
    head = text[:at]
    if head.count("```") % 2:
        head += "\n```"
    return (head + MARK.format(left=len(text) - at))[: max(limit, 0)]


def cut_front(text: str, limit: int) -> str:
    """Like `cut`, but keeps the end: for logs, where the last lines matter."""
    if len(text) <= limit:
        return text
    mark = MARK.format(left=len(text)).strip() + "\n"
    start = len(text) - max(0, limit - len(mark))
    line_end = text.find("\n", start)
    if line_end != -1 and line_end - start < 400:
        start = line_end + 1
    while start < len(text) and not _is_border(text, start):
        start += 1
    return (mark + text[start:])[: max(limit, 0)]


def _is_border(text: str, at: int) -> bool:
    """Whether text may be cut before index `at` without tearing a character apart for a reader."""
    if at <= 0 or at >= len(text):
        return True
    following, before = text[at], text[at - 1]
    joined = following in "\u200d\ufe0f\ufe0e" or before == "\u200d"
    return not joined and unicodedata.combining(following) == 0 and unicodedata.category(following) not in ("Mn", "Me")
