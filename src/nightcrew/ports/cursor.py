"""Where a reader of somebody else's stream is: kept, so that what was taken before a restart is not taken again."""

from typing import Protocol


class Cursor(Protocol):
    """One position of one stream."""

    async def load(self) -> int | None:
        """The position that was kept last, None if none ever was."""
        ...

    async def save(self, position: int) -> None:
        """Keep it; returns once it is kept."""
        ...
