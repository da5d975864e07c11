"""Cutting text to a budget at borders a reader can live with: line ends, whole characters, closed fences."""

import re
import unicodedata

from nightcrew.core.fence import open_fence

MARK = "\n[… {left} more characters were cut]\n"
FRONT_MARK = "[… {left} characters before this were cut]\n"
_TICKS = re.compile(r"`{4,}|~{4,}")


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text` with a mark that says how much is missing. The cut falls on a line end
    where one is near, never inside a combined character or emoji, and an open code fence is closed before the mark."""
    if len(text) <= limit:
        return text
    longest_fence = max((len(ticks) for ticks in _TICKS.findall(text, 0, max(limit, 0))), default=3)
    room = max(0, limit - len(MARK.format(left=len(text))) - longest_fence - 1)
    at = room
    line_end = text.rfind("\n", 0, room)
    if line_end > room * 0.6:
        at = line_end
    while at > 0 and not is_border(text, at):
        at -= 1
    head = text[:at]
    fence = open_fence(head)
    if fence:
        head += "\n" + fence
    return (head + MARK.format(left=len(text) - at))[: max(limit, 0)]


def cut_front(text: str, limit: int) -> str:
    """Like `cut`, but keeps the end: for logs, where the last lines matter."""
    if len(text) <= limit:
        return text
    start = len(text) - max(0, limit - len(FRONT_MARK.format(left=len(text))))
    line_end = text.find("\n", start)
    if line_end != -1 and line_end - start < 400:
        start = line_end + 1
    while start < len(text) and not is_border(text, start):
        start += 1
    return (FRONT_MARK.format(left=start) + text[start:])[: max(limit, 0)]


def is_border(text: str, at: int) -> bool:
    """Whether text may be cut before index `at`, inside it, without tearing a character apart for a reader."""
    following, before = text[at], text[at - 1]
    if before == "\r" and following == "\n":
        return False
    if following in "\u200d\ufe0f\ufe0e" or before == "\u200d" or unicodedata.combining(following):
        return False
    if unicodedata.category(following) in ("Mn", "Me", "Mc") or _is_part_of_emoji(following):
        return False
    return not (_is_flag_half(following) and _is_flag_half(before))


def _is_part_of_emoji(char: str) -> bool:
    """Skin tones, and the tags that spell a flag of a region: they belong to the character before them."""
    return "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f"


def _is_flag_half(char: str) -> bool:
    """Two of these are one flag; between two flags no cut is lost by not making it there."""
    return "\U0001f1e6" <= char <= "\U0001f1ff"
