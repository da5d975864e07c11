"""Waiting until other settings are in force. They are replaced as a value, which tells nobody, so that it is looked."""

import asyncio
from collections.abc import Callable

LOOK_EVERY_S = 0.5


async def until_changed(wanted: Callable[[], object], before: object) -> None:
    """Return once `wanted()` is not `before` any more."""
    while wanted() == before:  # noqa: ASYNC110 - there is nothing to wait for
        await asyncio.sleep(LOOK_EVERY_S)
