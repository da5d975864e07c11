"""What git itself must write when an agent commits in a linked worktree. Looks at two small files; runs nothing."""

from pathlib import Path

# Measured: with these writable a commit works; the hooks and the configuration beside them stay out of reach.
_INNER = ("objects", "refs", "logs")


def find_git_folders(workspace: Path) -> tuple[Path, ...]:
    """The folders that a commit in `workspace` writes: the worktree's own git folder and the shared ones that are
    there. Empty if it is no linked worktree, or cannot be read."""
    try:
        pointer = (workspace / ".git").read_text(encoding="utf-8").strip()
        own = (workspace / pointer.removeprefix("gitdir:").strip()).resolve(strict=True)
        shared = (own / (own / "commondir").read_text(encoding="utf-8").strip()).resolve(strict=True)
    except (OSError, ValueError):
        return ()
    return (own, *(folder for name in _INNER if (folder := shared / name).is_dir()))
