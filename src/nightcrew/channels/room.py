"""Work for the places of a chat: in order at one place, side by side at different ones, so that a place whose platform
says "later" holds up no other. Bounded: what comes to a place that is too far behind is not taken, and counted."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from nightcrew.ports.channel import Place

MOST_WAITING = 50
"""Orders of one place that wait. A person who gave so many has sent the same ones over and over."""

Work = Callable[[], Awaitable[None]]


@asynccontextmanager
async def open_rooms() -> AsyncIterator["Rooms"]:
    """Rooms whose work ends with the block. What is raised in it comes out as it is, not within a group."""
    try:
        async with asyncio.TaskGroup() as group:
            yield Rooms(group)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors


@dataclass(slots=True)
class Rooms:
    """One queue a place, each with a task of its own while there is something in it. Work must not raise."""

    group: asyncio.TaskGroup
    refused: int = 0
    _waiting: dict[Place, deque[Work]] = field(default_factory=dict)

    def put(self, place: Place, work: Work) -> bool:
        """Have `work` done after what waits at its place. False: too much waits there."""
        queue = self._waiting.get(place)
        if queue is not None and len(queue) >= MOST_WAITING:
            self.refused += 1
            return False
        if queue is None:
            queue = self._waiting[place] = deque()
            queue.append(work)
            self.group.create_task(self._drain(place, queue), name=f"chat:{place}")
        else:
            queue.append(work)
        return True

    async def _drain(self, place: Place, queue: deque[Work]) -> None:
        try:
            while queue:
                await queue[0]()
                queue.popleft()
        finally:
            self._waiting.pop(place, None)
