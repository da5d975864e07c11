"""Noticing that the database file was deleted or replaced under the service. SQLite would go on with a file that nobody
finds again: better to end, be started again, and build the state anew from the forge."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LOOK_EVERY_S = 2.0


async def watch_file(path: Path, *, lost: Callable[[], None], every_s: float = LOOK_EVERY_S) -> None:
    """Call `lost` once the file at `path` is not the one that was there at first."""
    first = _identity(path)
    while True:
        await asyncio.sleep(every_s)
        with suppress(OSError):  # whether it is there is not known then
            if _identity(path) != first:
                return lost()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino
