"""Where messages to agents are kept; part of the store."""

from collections.abc import Mapping
from typing import Protocol

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.saying import Saying


class SayingStore(Protocol):
    """What `ports.store.Store` says of its methods holds here. `record_run` gives an author's run every message of its
    task that waits, in its own transaction; `save_run` with RUNNING makes them delivered."""

    async def record_saying(self, saying: Saying, *, event: Event, command: SettledCommand | None = None) -> bool:
        """Insert a message as queued, with the command that asked for it as settled. False, and nothing written, if
        there is one with its id; Missing if there is no such task; Conflict if the command was settled before."""
        ...

    async def settle_saying(
        self, settled: SettleSaying, *, event: Event, notice: Notice | None = None
    ) -> Saying | None:
        """What became of a message, at the event's time; as it stands then. None, and nothing written, if it is not
        open any more or has another run."""
        ...

    async def load_sayings(self, *, task: TaskKey | None = None) -> Mapping[TaskKey, tuple[Saying, ...]]:
        """In the order in which they were recorded."""
        ...
