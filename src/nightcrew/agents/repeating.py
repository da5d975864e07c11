"""A CLI that repeats that a limit is reached, where others end. One such line may be the agent's own word; the same
message again and again, with nothing in between, is not."""

import re
from collections.abc import Sequence

from nightcrew.agents.pattern import Pattern, find_kind
from nightcrew.agents.stream import strip_terminal
from nightcrew.core.failures import FailureKind
from nightcrew.core.report_shape import clean_text

REPEATS = 5
"""How often the same message has to stand at the end."""

MESSAGE_LINES = 3
"""How many lines a message may have."""

_LASTING = frozenset({FailureKind.USAGE_WINDOW, FailureKind.BILLING, FailureKind.CREDITS})
"""What no retry gets over. A CLI that retries after a mere rate limit may still go on."""

_LIMIT = 200
_NUMBERED = re.compile(r"\S*\d\S*")


def find_repeated_limit(output: bytes, patterns: Sequence[Pattern]) -> str:
    """The line that says so in the message that an output ends with again and again; empty if there is none. Numbers in
    it may differ, as those of requests do. A last line that is not whole yet does not count."""
    whole = output.rpartition(b"\n")[0].decode("utf-8", "replace")
    lines = [line for line in (strip_terminal(line) for line in whole.split("\n")) if line]
    for length in range(1, MESSAGE_LINES + 1):
        last = lines[-length * REPEATS :]
        shapes = [_NUMBERED.sub("#", line) for line in last]
        if len(last) == length * REPEATS and shapes == shapes[:length] * REPEATS:
            named = find_kind(patterns, last[-length:])
            return clean_text(named.line, limit=_LIMIT) if named is not None and named.kind in _LASTING else ""
    return ""
