"""When to try again, as vendors say it: one parser for every form that has been seen.

It reads a line of an error channel, never an agent's work. Only what stands behind a word like "resets" or "try again"
counts as a time. A window ("5-hour limit") counts from when the line was printed; of a week, a month or a billing cycle
nothing tells when it began, so they give no time and the table of cooldowns decides.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import datetime, time, tzinfo

from nightcrew.core.retry_form import FARTHEST, FLAGS, Form, find_forms, read_amounts
from nightcrew.core.wall_time import SLACK, Place, find_next

MARGIN = SLACK
"""Added to every time, since vendors round and clocks differ; so it is also the shortest wait."""

_TEXT_LIMIT = 4_000
_GAP_LIMIT = 60
_SPACES = {0xA0: " ", 0x202F: " ", 0x2009: " ", 0x200A: " "}  # how many locales part a number from what follows

_MARKER = re.compile(
    r"try(?:ing)?(?:\sit)?\sagain|retry(?:ing)?|resets?|refresh(?:es|ed)?|renews?|available\s(?:again|in|at|on)"
    r"|ends\son|wait|limit\sreached\||limited\suntil",
    FLAGS,
)
_MARKER_BEHIND = re.compile(r".{0,12}?(?:重置|恢复|刷新)")
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")
_PERIOD = re.compile(r"(?:\bevery|\beach|\bper|/)\s?$", FLAGS)
_FULL = re.compile(r"\bused\D{0,10}100\b", FLAGS)
_WINDOW = re.compile(
    r"\b\d{1,3}[- ]?(?:hours?|hrs?|h|days?|d)[- ](?:[a-z]{1,12}\s){0,2}(?:limit|window|quota)\b"
    r"|\blimit\sreached\sfor\s\d{1,3}[- ]?(?:hours?|h|days?|d)\b",
    FLAGS,
)
_PER_DAY = re.compile(r"per[- ]?day|\bdaily\s(?:[a-z]{1,12}\s){0,2}(?:limit|quota)", FLAGS)
_NAMED = re.compile(rf"(?:{_MARKER.pattern})[^.!?\n]{{0,{_GAP_LIMIT}}}?\d", FLAGS)


def parse_retry_at(
    text: str,
    *,
    printed_at: datetime,
    host_zone: tzinfo,
    find_zone: Callable[[str], tzinfo | None],
    vendor_zone: tzinfo | None = None,
) -> datetime | None:
    """When the text says to try again, in UTC, with MARGIN added; always later than `printed_at` (aware). None if it
    names no time, or one that cannot be understood, is past, or lies more than a year ahead.

    A time without a zone is read in `vendor_zone`, the zone in which this vendor is known to print its times and to end
    its days, and else in `host_zone`, that of the machine which ran the CLI. `find_zone` finds an IANA zone or None.
    """
    text = text[:_TEXT_LIMIT].translate(_SPACES)
    place = Place(printed_at, vendor_zone or host_zone, find_zone)
    # Of several windows those that are used up count, and of these the last to come back.
    full = [part for part in text.split(";") if _FULL.search(part)]
    said = [next(_read(part, place), None) for part in full]
    if not any(said):
        said = [next(_read(text, place), None)]
    if not any(said) and (window := _WINDOW.search(text)):
        said.append(_settle(read_amounts(window[0], place), place))
    if vendor_zone is not None and _PER_DAY.search(text):
        said.append(_settle(find_next(time(), place), place))
    return max((at for at in said if at is not None), default=None)


def names_time(text: str) -> bool:
    """Whether the text seems to say when to try again, be it understood or not."""
    return _NAMED.search(text[:_TEXT_LIMIT].translate(_SPACES)) is not None


def _read(text: str, place: Place) -> Iterator[datetime]:
    """The times that are meant, in the order of the text."""
    markers = [marker.end() for marker in _MARKER.finditer(text)]
    for form, match in find_forms(text):
        if not form.marked and not _is_meant(text, match, form, markers):
            continue
        try:
            at = form.read(match, place)
        except (ValueError, OverflowError):  # no clock or calendar shows it
            continue
        if (settled := _settle(at, place)) is not None:
            yield settled


def _is_meant(text: str, match: re.Match[str], form: Form, markers: list[int]) -> bool:
    start = match.start()
    before = bisect_right(markers, start)
    if before and start - markers[before - 1] <= _GAP_LIMIT:
        gap = text[markers[before - 1] : start]
        if not _SENTENCE_END.search(gap) and not _PERIOD.search(gap):
            return True
    return form.dated and _MARKER_BEHIND.match(text, match.end()) is not None


def _settle(at: datetime | None, place: Place) -> datetime | None:
    if at is None or at - place.printed_at > FARTHEST or not place.is_ahead(at):
        return None
    return max(at, place.printed_at) + MARGIN
