"""Whether there is room on the disk. What a full one does to a write is told where it is written."""

import shutil
from pathlib import Path

LEAST_BYTES = 500_000_000
"""With less than this free, worktrees and what agents print may not fit."""


def find_lack_of_room(folder: Path, *, least_bytes: int = LEAST_BYTES) -> str:
    """What a person should know of the disk that holds the folder; empty if there is room, or it cannot be told."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return ""
    return f"only {free / 1e6:.0f} MB are free at {folder}; free some space" if free < least_bytes else ""
