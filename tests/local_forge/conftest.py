"""The world of each test, fresh."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.local_forge.world import World, forge_world


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with forge_world(tmp_path) as made:
        yield made
