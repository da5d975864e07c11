"""A note in memory, which outlives those who write it."""

from dataclasses import dataclass

from nightcrew.core.errors import Unavailable


@dataclass(slots=True)
class KeptNote:
    """Implements `nightcrew.ports.note.Note`. While `is_full` nothing can be saved."""

    text: str = ""
    is_full: bool = False

    async def load(self) -> str:
        return self.text

    async def save(self, text: str) -> None:
        if self.is_full:
            raise Unavailable("the disk is full")
        self.text = text
