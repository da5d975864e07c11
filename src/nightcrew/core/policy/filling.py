"""Is there too little room on the disk to start anything new?"""

MARGIN = 1.2
"""How much more than the least has to be free before something starts again: else each start would end the next one."""


def is_full(free_bytes: int | None, *, least_mb: int, was_full: bool) -> bool:
    """Full is a disk with less than the least free, and stays so until there is some more. Where the room cannot be
    told, it is as it was."""
    if least_mb <= 0:
        return False
    if free_bytes is None:
        return was_full
    return free_bytes < enough_bytes(least_mb) if was_full else free_bytes < least_mb * 1_000_000


def enough_bytes(least_mb: int) -> float:
    """From how much free room on a full disk is full no more."""
    return least_mb * 1_000_000 * MARGIN
