"""A diff in a few lines: which files, and how many lines came and went. How diffs are made is not known here."""

import re

_HEAD = re.compile(r"^diff --git a/(?P<old>.*) b/(?P<new>.*)$")


def summarize_diff(diff: str, *, most: int = 40) -> str:
    """`path +3 -1` for each file of a unified diff, at most so many, each on a line of its own."""
    files: list[tuple[str, int, int]] = []
    in_hunk = False
    for line in diff.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            files.append((head["new"], 0, 0))
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif files and in_hunk and line[:1] in ("+", "-"):
            path, added, removed = files[-1]
            files[-1] = (path, added + (line[0] == "+"), removed + (line[0] == "-"))
    lines = [f"{path} +{added} -{removed}" for path, added, removed in files[:most]]
    if len(files) > most:
        lines.append(f"… and {len(files) - most} more files")
    return "\n".join(lines)
