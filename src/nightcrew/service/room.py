"""Whether there is room on the disk. What a full one does to a write is told where it is written."""

import shutil
from pathlib import Path


def find_free_bytes(folder: Path) -> int | None:
    """The room on the disk that holds the folder; None if it cannot be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def find_lack_of_room(folder: Path, *, least_bytes: int) -> str:
    """What a person should know of the disk that holds the folder; empty if there is room, or it cannot be told."""
    free = find_free_bytes(folder)
    if free is None or free >= least_bytes:
        return ""
    return (
        f"only {free / 1e6:.0f} MB are free at {folder}: nothing new is started until there are {least_bytes / 1e6:.0f}"
    )
