"""What two trees differ in: git's own diff, taken apart by file. Rendering for the API is in `change`."""

from dataclasses import dataclass

from nightcrew.forges.local.git import Git

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a diff. `patch` holds the hunks, and is None where git shows none (binary, or mode only)."""

    path: str
    status: str
    sha: str
    additions: int
    deletions: int
    previous_path: str | None
    patch: str | None


async def diff_files(git: Git, old: str, new: str) -> list[FileChange]:
    """The changed files from `old` to `new`, in git's order, renames detected."""
    how = ("diff-tree", "-r", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index")
    table = await git.run(*how, "-z", "--raw", "--numstat", old, new)
    patches = await git.run(*how, "-p", old, new)
    return _join(table.stdout.decode("utf-8", "replace"), patches.stdout.decode("utf-8", "replace"))


def _join(table: str, patches: str) -> list[FileChange]:
    fields = table.split("\0")
    raw, at = _parse_raw(fields)
    counts = _parse_counts(fields[at:])
    hunks = _split_patches(patches)
    changes, used = [], 0
    for (letter, sha, old_path, path), (added, deleted) in zip(raw, counts, strict=True):
        # A change of type (file to link, say) is shown by git as a deletion and a creation.
        width = 2 if letter == "T" else 1
        text = "\n".join(part for part in hunks[used : used + width] if part) or None
        used += width
        status = _STATUS.get(letter, "changed")
        renamed = old_path if letter in "RC" else None
        changes.append(FileChange(path, status, sha, added, deleted, renamed, text))
    return changes


def _parse_raw(fields: list[str]) -> tuple[list[tuple[str, str, str, str]], int]:
    entries, at = [], 0
    while at < len(fields) and fields[at].startswith(":"):
        _, _, old_sha, new_sha, letter = fields[at].split(" ")
        letter = letter[0]
        old_path = fields[at + 1]
        path = fields[at + 2] if letter in "RC" else old_path
        entries.append((letter, old_sha if letter == "D" else new_sha, old_path, path))
        at += 3 if letter in "RC" else 2
    return entries, at


def _parse_counts(fields: list[str]) -> list[tuple[int, int]]:
    counts, at = [], 0
    while at < len(fields) and fields[at].count("\t") == 2:
        added, deleted, path = fields[at].split("\t")
        counts.append((int(added) if added != "-" else 0, int(deleted) if deleted != "-" else 0))
        at += 1 if path else 3
    return counts


def _split_patches(text: str) -> list[str]:
    """The hunks of each file. A line of content never starts with `diff --git`: it has a mark before it."""
    parts: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            parts.append([])
            inside = False
        elif parts:
            inside = inside or line.startswith("@@")
            if inside:
                parts[-1].append(line)
    return ["\n".join(part).rstrip("\n") for part in parts]
