"""Room on the disk."""

from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.service.room import find_free_bytes

FEW_BYTES = 2_000_000_000
_HINT = "worktrees and run folders need room: nightcrew prune, or free some by hand"


def look_at_disk(home: Home, *, least_bytes: int) -> Diagnosis:
    """With less than `least_bytes` nothing new is started."""
    folder = _existing(home.root)
    free = find_free_bytes(folder)
    if free is None:
        return Diagnosis("disk", Level.UNKNOWN, f"how much is free at {folder} cannot be told")
    words = f"{free / 1e9:.1f} GB free at {folder}"
    if free < least_bytes:
        return Diagnosis("disk", Level.ERROR, f"{words}: nothing new is started", _HINT)
    return Diagnosis("disk", Level.WARNING, words, _HINT) if free < FEW_BYTES else Diagnosis("disk", Level.OK, words)


def _existing(folder: Path) -> Path:
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder
