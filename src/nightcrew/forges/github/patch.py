"""Which lines of a file a diff shows: a remark can only be tied to one of those."""

import re

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def parse_new_lines(patch: str) -> frozenset[int]:
    """Line numbers of the new version that the hunks show, unchanged lines around a change included."""
    shown: set[int] = set()
    at = 0
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if hunk is not None:
            at = int(hunk[1])
        elif at and line[:1] in ("+", " "):
            shown.add(at)
            at += 1
    return frozenset(shown)
