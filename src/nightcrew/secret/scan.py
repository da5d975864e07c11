"""Finding secrets in what is about to be published. The rules are those of detect-secrets (`detector`), the newer
forms of keys (`shape`), and random-looking values under telling names.

Nothing that stands in the text makes a hit go away but the value itself (`dummy`): no comment is honoured.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from nightcrew.secret.detector import find_named, load_detectors, needs_strength
from nightcrew.secret.diff import parse_added
from nightcrew.secret.dummy import is_dummy, is_strong
from nightcrew.secret.finder import Finder
from nightcrew.secret.hit import Hit
from nightcrew.secret.mask import Masker
from nightcrew.secret.shape import TOKENS, USERINFO

MOST_HITS = 50
"""A text is not searched on after so many."""

_NAMED = re.compile(
    r"(?i)(?:token|secret|passw(?:or)?d|api_?key|access_?key|private_?key|credentials?)[\w\]\"']{0,20}\s{0,3}(?::=|=>|[=:])\s{0,3}"
    r"[\"'`]?([^\s\"'`,;]{16,512})"
)


def scan_diff(diff: str, *, known: Masker | None = None, most: int = MOST_HITS) -> tuple[Hit, ...]:
    """Hits among the lines that a unified diff adds, in the order of the diff; each line once. `known` adds the
    exact secrets that it masks."""
    hits: list[Hit] = []
    for added in parse_added(diff):
        hits += _scan(added.lines, added.numbers, added.path, known)
        if len(hits) >= most:
            break
    return tuple(hits[:most])


def scan_text(text: str, path: str = "", *, known: Masker | None = None, most: int = MOST_HITS) -> tuple[Hit, ...]:
    """Hits in a whole text."""
    lines = text.split("\n")
    return _scan(lines, range(1, len(lines) + 1), path, known)[:most]


def _scan(lines: Sequence[str], numbers: Sequence[int], path: str, known: Masker | None) -> tuple[Hit, ...]:
    text = "\n".join(lines)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found: dict[int, str] = {}
    for at, kind in _find(text, known.known if known is not None else None):
        found.setdefault(bisect_right(starts, at) - 1, kind)
    for index, line in enumerate(lines):
        if index not in found and any(is_strong(value) for value in find_named(line, path)):
            found[index] = "secret value"
    return tuple(Hit(path, numbers[index], found[index]) for index in sorted(found))


def _find(text: str, known: Finder | None) -> Iterator[tuple[int, str]]:
    """Where in the text something is found, and its kind. One form after the other."""
    for finder in (*((known,) if known is not None else ()), *TOKENS, USERINFO):
        pos = 0
        while span := finder.find(text, pos, 0):
            _, secret, end = span
            if finder is known or not is_dummy(text[secret:end]):
                yield secret, finder.kind
            pos = end
    for detector in load_detectors():
        weak = needs_strength(detector)
        for pattern in detector.denylist:
            for match in pattern.finditer(text):
                # The detector itself has the last word: some look closer than their pattern does.
                values = list(detector.analyze_string(match[0]))
                if any(map(is_strong, values)) if weak else values and not is_dummy(match[0]):
                    yield match.start(match.lastindex or 0), detector.secret_type
    for match in _NAMED.finditer(text):
        if is_strong(match[1]):
            yield match.start(1), "secret value"
