"""The write lane: writes go one at a time, with a least time between them. Reads do not pass here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from nightcrew.ports.clock import Clock

Sleep = Callable[[float], Awaitable[None]]


class WriteLane:
    """GitHub asks for serial writes with a second between them ("Best practices for using the REST API"); a local
    forge needs no interval. One lane a forge, so that a busy project does not speed up the whole."""

    def __init__(self, interval_s: float, *, clock: Clock, sleep: Sleep) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._sleep = sleep
        self._lock = asyncio.Lock()
        self._free_at = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the lane. The interval counts from the end of the write before."""
        async with self._lock:
            wait_s = self._free_at - self._clock.monotonic()
            if wait_s > 0:
                await self._sleep(min(wait_s, self._interval_s))
            try:
                yield
            finally:
                self._free_at = self._clock.monotonic() + self._interval_s
