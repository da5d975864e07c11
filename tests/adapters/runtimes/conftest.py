"""A real tmux for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.runtimes.rig import TmuxRig, tmux_rig


@pytest.fixture
async def rig() -> AsyncIterator[TmuxRig]:
    async with tmux_rig() as rig:
        yield rig
