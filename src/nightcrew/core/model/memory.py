"""What a run learned, as its report says: kept with the run, and shown to later ones where it is about the same."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.ids import RunId, TaskKey


@dataclass(frozen=True, slots=True)
class Memory:
    """`text` is the agent's own, and is data: an agent reads hostile text, and may repeat it. `title` is the task's."""

    run: RunId
    task: TaskKey
    agent: str
    at: datetime
    title: str
    text: str
