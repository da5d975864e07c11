"""The stores that the contract is tried on."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from nightcrew.ports.store import Store
from nightcrew.store import SqliteStore
from tests.adapters.store.sample import (
    FixedClock,
)
from tests.fakes.store import MemoryStore

Opened = Callable[[], AbstractAsyncContextManager[Store]]


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens a store; opened again, it is the same one with what was kept in it."""
    memory = MemoryStore()

    @asynccontextmanager
    async def open_one() -> AsyncIterator[Store]:
        if request.param == "memory":
            yield memory
        else:
            async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
                yield store

    return open_one


async def kinds(store: Store) -> list[str]:
    return [event.kind for event in await store.load_events()]
