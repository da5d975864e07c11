"""Whether there is room on the disk. What a full one does to a write is told where it is written."""

import shutil
from pathlib import Path

from nightcrew.core.policy.filling import enough_bytes, is_full


def find_free_bytes(folder: Path) -> int | None:
    """The room on the disk that holds the folder; None if it cannot be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def find_lack_of_room(folder: Path, *, least_mb: int, was_full: bool = False) -> str:
    """What a person should know of the disk that holds the folder; empty if there is room, or it cannot be told."""
    free = find_free_bytes(folder)
    if free is None or not is_full(free, least_mb=least_mb, was_full=was_full):
        return ""
    enough = enough_bytes(least_mb) / 1e6
    return f"only {free / 1e6:.0f} MB are free at {folder}: nothing new is started until there are {enough:.0f}"
