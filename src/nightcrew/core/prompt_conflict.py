"""What an author is told whose branch conflicts with its base, and how marks of a conflict are known."""

from collections.abc import Callable, Iterable

from nightcrew.core.neutral import one_line

_MARKS = ("<<<<<<< ", ">>>>>>> ")
_MOST_PATHS = 100


def render_conflict(paths: tuple[str, ...], base_ref: str, section: Callable[[str, str], str]) -> list[str]:
    """The sections; none without a conflict. `section` fences what comes from outside."""
    if not paths:
        return []
    shown = [one_line(path, 300) for path in paths[:_MOST_PATHS]]
    if len(paths) > _MOST_PATHS:
        shown.append(f"[{len(paths) - _MOST_PATHS} more]")
    words = (
        f"Your branch conflicts with {base_ref}. A merge of {base_ref} into it has been begun for you in this worktree "
        "and waits for you: `git status` shows it, and the files below have conflict marks. This comes first. Resolve "
        "every conflict so that what both sides wanted still holds, take out every mark, run the tests, and commit the "
        "merge (`git commit`; what you leave uncommitted is committed for you). Do not abort the merge, and do not "
        "rebase. A mark that is left behind counts as failure."
    )
    return [words, section("Files in conflict", "\n".join(shown))]


def has_conflict_marks(text: str) -> bool:
    """Whether a file still has the marks of a conflict, both of them at the beginning of a line."""
    lines = text.splitlines()
    return all(_has_line(lines, mark) for mark in _MARKS)


def _has_line(lines: Iterable[str], mark: str) -> bool:
    return any(line.startswith(mark) for line in lines)
