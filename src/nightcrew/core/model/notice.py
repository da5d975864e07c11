"""What a person is to be told, as it is kept until it is delivered. How and where that is done is not known here."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import TaskKey


class Priority(Enum):
    """How much a notice matters. `urgent`: something stands still and is waited for; `action`: a person has to do
    something in time; `warning`: something is not well and is gone on with; `info`: good to know."""

    URGENT = "urgent"
    ACTION = "action"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice. `task` None: it is about the project as a whole; `project` empty: about none in particular, so that
    it is for all. `kind` is that of a reaction, or one of its own (`blocked`, `merged`, …); `words` are one or more
    sentences for a person, without secrets. With a `mark` it is kept once, however often it comes. `receiver` is the
    only one that is told it, a place in a chat such as `telegram:12`; empty: whoever wants to be told of the like.
    `id` is given by the store, 0 before that."""

    project: str
    kind: str
    priority: Priority
    words: str
    at: datetime
    task: TaskKey | None = None
    mark: str = ""
    id: int = 0
    receiver: str = ""
