"""A note in memory, which outlives those who write it."""

import asyncio
from dataclasses import dataclass

from nightcrew.core.errors import Unavailable


@dataclass(slots=True)
class KeptNote:
    """Implements `nightcrew.ports.note.Note`. While `is_full` nothing can be saved."""

    text: str = ""
    is_full: bool = False

    async def load(self) -> str:
        await asyncio.sleep(0)  # others go on meanwhile, as with a real one
        return self.text

    async def save(self, text: str) -> None:
        await asyncio.sleep(0)
        if self.is_full:
            raise Unavailable("the disk is full")
        self.text = text
