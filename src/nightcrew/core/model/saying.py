"""What a person says to the agent of a task: a message that becomes the next turn of the agent's own session."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import RunId, TaskKey

LONGEST = 8_000
"""Characters of a message."""


class SayingState(Enum):
    """QUEUED: it waits, or (with a run) that run is being started with it. DELIVERED: the run was started, and it
    stands in its prompt. SEEN: the agent has answered in that run. UNDELIVERED: it never will be delivered."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    SEEN = "seen"
    UNDELIVERED = "undelivered"


@dataclass(frozen=True, slots=True)
class Saying:
    """One message. `id` names it, and is kept once; `text` is without control characters. `receiver` is the place in a
    chat that it came from (`telegram:12`), empty for other ways. `interrupts`: the turn at work is ended for it. `run`
    is the one whose prompt it stands in; `tries` how many runs had it before, and ended without a sign of the agent;
    `session` the CLI's own session in which it was seen; `why` what a person is told of how it went."""

    id: str
    task: TaskKey
    author: str
    text: str
    said_at: datetime
    receiver: str = ""
    interrupts: bool = False
    state: SayingState = SayingState.QUEUED
    run: RunId | None = None
    tries: int = 0
    delivered_at: datetime | None = None
    seen_at: datetime | None = None
    session: str = ""
    why: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in (SayingState.QUEUED, SayingState.DELIVERED)

    @property
    def waits(self) -> bool:
        """Whether it is for the next run that starts."""
        return self.state is SayingState.QUEUED and self.run is None
