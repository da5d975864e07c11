"""Taking secrets out of texts and streams, in linear time. What is a secret: the values that one names, and the forms
in `shape`. Ordinary hashes and base64 stay.

A text may come in pieces of any size: the result is that of the whole. Masking a masked text changes nothing.
"""

import base64
import codecs
import json
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from nightcrew.secret.finder import HORIZON, Finder, Known, Span, wrapped
from nightcrew.secret.shape import MASKED

MASK = "[secret]"
"""Stands for what was taken out. No form of a secret has its characters."""

SHORTEST = 8
"""Values shorter than this are not looked for: they stand inside ordinary words."""

_SHORTEST_LINE = 16
_LONGEST_WRAPPED = 1_000
_LONGEST_VALUE = 10_000
_ADDRESS = re.compile(r"(?i:https?|wss?)://[^\s\"'<>`\\)\]}]{1,4096}")


class Masker:
    """Masks known values and known forms. `known` are exact secrets; their escapes in JSON and addresses, their base64
    (also as a password for git), and the long lines of those with several lines are taken for secrets too."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = sorted({form for value in known for form in _forms(value)}, key=lambda form: (-len(form), form))
        self.known: Finder | None = None
        """Finds the known values alone."""
        self._finders: tuple[Finder, ...] = MASKED
        self._horizon = HORIZON
        if forms:
            patterns = [wrapped(form) if len(form) <= _LONGEST_WRAPPED else re.escape(form) for form in forms]
            self.known = Known(re.compile("|".join(patterns)))
            self._finders = (self.known, *MASKED)
            self._horizon = max(HORIZON, 16 * _LONGEST_WRAPPED, *(len(form) for form in forms))

    def mask(self, text: str) -> str:
        """`text` with every secret replaced."""
        stream = self.stream()
        return stream.feed(text) + stream.end()

    def mask_bytes(self, data: bytes) -> bytes:
        """The same for bytes of any encoding that has ASCII in it."""
        return self.mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def stream(self) -> "MaskStream":
        """A fresh stream, for a text that comes in pieces."""
        return MaskStream(self._finders, self._horizon)

    def byte_stream(self) -> "ByteMaskStream":
        """The same for bytes."""
        return ByteMaskStream(self.stream())


class MaskStream:
    """Masks a text piece by piece. It holds back what may be the beginning of a secret."""

    def __init__(self, finders: Sequence[Finder], horizon: int) -> None:
        self._finders = finders
        self._horizon = horizon
        self._held: list[str] = []
        self._size = 0
        self.count = 0
        """How many secrets were taken out so far."""
        self._before = 0  # characters at the front that are out already, kept as what stands before

    def feed(self, piece: str) -> str:
        """Take a piece, and return what is certain by now."""
        self._held.append(piece)
        self._size += len(piece)
        # Each pass looks at the held part again, so it waits until there is as much that is new.
        if self._size < 2 * self._horizon + 1:
            return ""
        return self._release(self._size - self._horizon)

    def end(self) -> str:
        """The rest."""
        return self._release(self._size)

    def _release(self, limit: int) -> str:
        text = "".join(self._held)
        spans = self._spans(text, limit)
        self.count += len(spans)
        parts: list[str] = []
        at = self._before
        for _, secret, end in spans:
            parts += [text[at:secret], MASK]
            at = end
        cut = max(limit, at)
        parts.append(text[at:cut])
        # Behind a mask a word begins; elsewhere the last character says whether one does.
        self._before = 1 if cut > at or (not spans and self._before) else 0
        rest = text[cut - self._before :]
        self._held, self._size = [rest], len(rest)
        return "".join(parts)

    def _spans(self, text: str, limit: int) -> list[Span]:
        """What is secret and starts before `limit`: the first that starts, and on from its end."""
        pos, floor = self._before, 0
        following = [finder.find(text, pos, floor) for finder in self._finders]
        spans: list[Span] = []
        while True:
            span = min((found for found in following if found), key=lambda found: found[0], default=None)
            if span is None or span[0] >= limit:
                return spans
            spans.append(span)
            floor = span[2]
            inside_word = text[floor - 1].isalnum()
            for index, finder in enumerate(self._finders):
                found = following[index]
                if found and found[0] < floor:
                    following[index] = finder.find(text, floor, floor)
                elif inside_word:
                    following[index] = finder.find_here(text, floor) or found


class ByteMaskStream:
    """Masks bytes piece by piece."""

    def __init__(self, stream: MaskStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    @property
    def count(self) -> int:
        return self._stream.count

    def feed(self, piece: bytes) -> bytes:
        return _encode(self._stream.feed(self._decoder.decode(piece)))

    def end(self) -> bytes:
        return _encode(self._stream.feed(self._decoder.decode(b"", True)) + self._stream.end())


def hide_addresses(text: str) -> str:
    """`text` with web addresses cut to their host: a vendor's complaint may name one that holds a challenge or an
    account, which has no place in public."""
    return _ADDRESS.sub(lambda found: "/".join(found[0].split("/", 3)[:3]).split("?")[0].split("#")[0], text)


def _forms(value: str) -> set[str]:
    """The texts that show a value."""
    value = value.strip().replace("\r\n", "\n")
    if len(value) < SHORTEST or value in MASK:
        return set()
    forms = {line.strip() for line in value.split("\n") if len(line.strip()) >= _SHORTEST_LINE and " " not in line}
    if "\n" not in value or len(value) <= _LONGEST_WRAPPED:
        forms.add(value)
    for whole in (value, f"x-access-token:{value}"):
        if len(value) <= _LONGEST_VALUE:
            forms.add(base64.b64encode(whole.encode("utf-8", "surrogateescape")).decode().rstrip("="))
    escaped = {quote(form, safe="") for form in forms if "\n" not in form and len(form) <= _LONGEST_VALUE}
    escaped |= {json.dumps(form)[1:-1] for form in forms if "\n" not in form}
    escaped |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms if "\n" not in form}
    return {form for form in forms | escaped if len(form) >= SHORTEST}


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
