"""What `nightcrew doctor` found, one thing at a time."""

from dataclasses import dataclass, replace
from enum import Enum


class Level(Enum):
    """UNKNOWN: it could not be looked at, which says nothing of how it is. MENDED: it was wrong, and was put right."""

    OK = "ok"
    MENDED = "mended"
    UNKNOWN = "unknown"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`what` was looked at, `words` say how it is, `hint` what to do about it (a command or a sentence). `done` is what
    was done about it, or why that could not be done."""

    what: str
    level: Level
    words: str
    hint: str = ""
    done: str = ""

    def mended(self, done: str) -> "Diagnosis":
        return replace(self, level=Level.MENDED, hint="", done=done)
