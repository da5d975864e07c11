"""One text that is kept over restarts for somebody who has no table of their own. What it says is theirs to know."""

from typing import Protocol


class Note(Protocol):
    """One text. Errors are those of the store."""

    async def load(self) -> str:
        """The text that was kept last, empty if none ever was."""
        ...

    async def save(self, text: str) -> None:
        """Keep it in the place of what was there; returns once it is kept."""
        ...
