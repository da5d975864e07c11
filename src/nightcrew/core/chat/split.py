"""Cutting a message into parts that each fit a platform's limit: in order, nothing lost, no character cut in two.

The platform says what a piece costs in its own form and unit (Telegram counts UTF-16 units of the text after its
entities are read; Discord the characters of the markup that is sent), so a limit is never met by surprise.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from nightcrew.core.chat.message import Span
from nightcrew.core.cut import is_border

Cost = Callable[[Span], int]
"""What a piece costs of a part's limit, its markup included. It must not fall when text is added."""

_SPACE = re.compile(r"\s(?=\S)")
"""A break is taken only in the last half of what fits: a message of one long line is not cut into confetti."""


def split_spans(spans: Iterable[Span], *, limit: int, cost: Cost) -> tuple[tuple[Span, ...], ...]:
    """Parts that cost at most `limit` each. Their texts, one behind the other, are the text of `spans`. A code block
    that goes over a limit is a block in each part. ValueError if one character alone costs more than the limit."""
    parts: list[tuple[Span, ...]] = []
    part: list[Span] = []
    room = limit
    for span in spans:
        rest = span
        while rest.text:
            needed = cost(rest)
            if needed <= room:
                part.append(rest)
                room -= needed
                break
            at = _place(rest, room, cost=cost, may_be_none=bool(part))
            if at:
                part.append(replace(rest, text=rest.text[:at]))
                rest = replace(rest, text=rest.text[at:])
            parts.append(tuple(part))
            part, room = [], limit
    if part:
        parts.append(tuple(part))
    return tuple(parts)


def utf16_units(text: str) -> int:
    """The length of a text as Telegram and JavaScript count it: characters beyond the first plane count two."""
    return len(text) + sum(character > "\uffff" for character in text)


def _place(span: Span, room: int, *, cost: Cost, may_be_none: bool) -> int:
    """Where to cut the text so that the first piece fits into `room`; 0: not at all, begin a new part."""
    low, high = 0, len(span.text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if cost(replace(span, text=span.text[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    most = low
    while most and not is_border(span.text, most):
        most -= 1
    if most == 0:
        most = low  # one endless cluster: cut within it rather than never
    if most == 0 or cost(replace(span, text=span.text[:most])) > room:
        if may_be_none:
            return 0
        raise ValueError(f"a limit of {room} has no room for a single character")
    return _nicest(span.text, most, may_be_none=may_be_none)


def _nicest(text: str, most: int, *, may_be_none: bool) -> int:
    """The last line's end before `most`, or else the last space, or else `most`; the break stays with the first
    piece."""
    newline = text.rfind("\n", 0 if may_be_none else most // 2, most)
    if newline >= 0:
        return newline + 1
    return max((match.end() for match in _SPACE.finditer(text, most // 2, most)), default=most)
