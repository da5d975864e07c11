"""Naming a failure by a vendor's words: tables of patterns, and how they are tried. The tables stand beside what they
describe: each CLI's own words in its adapter, the words of model vendors in `vendor`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nightcrew.core.failures import FailureKind, Scope

_LINE_LIMIT = 4_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """Words (a regular expression, letter case ignored) that mean a kind of failure, and where they were seen. Without
    a kind they are a mere warning, and their line is passed over. `zone` is the IANA zone in which who says this prints
    its times and ends its days, where it is not that of the machine. `scope` is whom they are about, where they say
    so."""

    words: str
    kind: FailureKind | None
    source: str
    zone: str = ""
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A kind of failure, the line that named it, and the zone and scope of its pattern."""

    kind: FailureKind
    line: str
    zone: str = ""
    scope: Scope | None = None


STATUS_KINDS = {
    400: FailureKind.CRASH,
    401: FailureKind.AUTH,
    402: FailureKind.CREDITS,
    403: FailureKind.PERMISSION,
    404: FailureKind.MODEL_NOT_FOUND,
    408: FailureKind.NETWORK,
    413: FailureKind.CONTEXT_TOO_LONG,
    429: FailureKind.RATE_LIMIT,
    500: FailureKind.OVERLOADED,
    502: FailureKind.OVERLOADED,
    503: FailureKind.OVERLOADED,
    504: FailureKind.OVERLOADED,
    529: FailureKind.OVERLOADED,
}
"""What an HTTP status of a model's server means when its words say nothing."""

_STATUS = re.compile(
    r"(?:\bstatus(?:[ _]?code)?|\bcode|\bAPI Error|\bhttp|\berror)\b[\"']?\s*[:=(]?\s*(?P<one>[45]\d\d)\b"
    r"|(?:^|:\s)(?P<two>[45]\d\d)\s+[A-Za-z<]",
    re.IGNORECASE,
)


def find_kind(patterns: Sequence[Pattern], messages: Iterable[str]) -> Named | None:
    """The kind by the first line that any pattern knows; then by a status number that a line names.

    Messages are what a CLI itself said about its failure, never an agent's work. Within a line the earlier pattern
    wins, so a table lists what is particular before what is general.
    """
    lines = [line[:_LINE_LIMIT] for message in messages for line in message.split("\n") if line.strip()]
    serious = []
    for line in lines:
        known = next((pattern for pattern in patterns if re.search(pattern.words, line, re.IGNORECASE)), None)
        if known is None:
            serious.append(line)
        elif known.kind is not None:
            return Named(known.kind, line, known.zone, known.scope)
    for line in serious:
        named = _STATUS.search(line)
        if named and (kind := STATUS_KINDS.get(int(named["one"] or named["two"]))):
            return Named(kind, line)
    return None
