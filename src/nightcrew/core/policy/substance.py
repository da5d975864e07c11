"""Did a run change anything that counts? Notes that an agent wrote for us about its own work do not.

A note is a new text file at the root of the repository whose name says that it is one (`SUMMARY.md`,
`IMPLEMENTATION_NOTES.txt`), and that the issue does not name. Changes to a file that was there always count.
"""

import re

_NOTE = re.compile(
    r"(?:[A-Za-z0-9]+[_-]){0,4}(?:summary|report|notes?|progress|plan|findings|analysis)(?:[_-][A-Za-z0-9]+){0,2}"
    r"(?:\.(?:md|txt|rst|json))?",
    re.IGNORECASE,
)
_HEADERS = ("diff --git ", "+++ ")


def find_notes(diff: str) -> tuple[str, ...] | None:
    """The paths of a unified diff, if every file in it may be a note; None if something in it counts."""
    names = [line.removeprefix("+++ b/") for line in diff.split("\n") if line.startswith("+++ b/")]
    if not all(_NOTE.fullmatch(name) for name in names):
        return None
    allowed = {header for name in names for header in (f"diff --git a/{name} b/{name}", f"+++ b/{name}")}
    if any(line.startswith(_HEADERS) and line not in allowed for line in diff.split("\n")):
        return None
    if diff.strip() and not names:
        return None
    return tuple(dict.fromkeys(names))


def is_asked_for(path: str, *texts: str) -> bool:
    """Whether an issue names the file."""
    return any(path.lower() in text.lower() for text in texts)
