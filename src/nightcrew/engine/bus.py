"""Facts for whoever follows along. They are read from the store, where they were written with the change itself, so
nothing is lost: the bus only says that there may be news."""

import asyncio
from collections.abc import AsyncIterator

from nightcrew.core.model.event import Event
from nightcrew.ports.store import Store

_BATCH = 200
_LOOK_EVERY_S = 5.0


class Bus:
    """Wakes followers. Publishing never blocks and never fails."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._news = asyncio.Event()

    def ring(self) -> None:
        """There may be news."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    @property
    def news(self) -> asyncio.Event:
        """Set at the next ring. Taken before one looks, nothing is missed."""
        return self._news

    async def follow(self, *, after: int | None = None) -> AsyncIterator[Event]:
        """Every event behind `after` (None: from now on), in order, for ever. A slow reader holds up nobody."""
        last = after if after is not None else await self._newest()
        while True:
            news = self._news
            events = await self._store.load_events(after=last, limit=_BATCH)
            for event in events:
                last = event.id
                yield event
            if len(events) < _BATCH:
                try:
                    async with asyncio.timeout(_LOOK_EVERY_S):
                        await news.wait()
                except TimeoutError:
                    continue

    async def _newest(self) -> int:
        events = await self._store.load_events(limit=1, newest=True)
        return events[-1].id if events else 0
