"""A CLI that repeats that a limit is reached, where others end. One such line may be the agent's own word; the
same line again and again, with nothing in between, is not."""

from collections.abc import Sequence

from nightcrew.agents.pattern import Pattern, find_kind
from nightcrew.agents.stream import strip_terminal
from nightcrew.core.failures import FailureKind
from nightcrew.core.report import clean_text

REPEATS = 5
"""How often the same line has to stand at the end."""

_LASTING = frozenset({FailureKind.USAGE_WINDOW, FailureKind.BILLING, FailureKind.CREDITS})
"""What no retry gets over. A CLI that retries after a mere rate limit may still go on."""

_LIMIT = 200


def find_repeated_limit(output: bytes, patterns: Sequence[Pattern]) -> str:
    """The line at the end of an output that says again and again that a limit is reached; empty if there is none. A
    last line that is not whole yet does not count."""
    whole = output.rpartition(b"\n")[0].decode("utf-8", "replace")
    last = [line for line in (strip_terminal(line) for line in whole.split("\n")) if line][-REPEATS:]
    if len(last) < REPEATS or len(set(last)) > 1:
        return ""
    named = find_kind(patterns, last[:1])
    return clean_text(last[0], limit=_LIMIT) if named is not None and named.kind in _LASTING else ""
