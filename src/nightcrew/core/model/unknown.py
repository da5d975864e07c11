"""What a CLI said about a failure that no pattern knows, kept so that people can make a pattern of it."""

import re
from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.ids import RunId

_PART = re.compile(r"[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*|[/~][^\s'\"]+")
_SHAPE_LIMIT = 300


@dataclass(frozen=True, slots=True)
class UnknownFailure:
    """One kind of text, without secrets: who said it, with which exit code, how often, and when. `text` is the newest
    one of its shape, `run` the newest run that said it."""

    agent: str
    exit_code: int
    text: str
    first_at: datetime
    last_at: datetime
    run: RunId
    count: int = 1

    @property
    def shape(self) -> str:
        """The text without what differs from run to run (numbers, ids, paths): texts of one shape are one row."""
        return " ".join(_PART.sub("#", self.text.lower()).split())[:_SHAPE_LIMIT]
