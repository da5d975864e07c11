"""Keeping an independent part alive: started again with growing pauses when it fails. The engine itself is not kept so:
if it dies the process ends, and the operating system's service manager starts it again."""

import asyncio
from collections.abc import Awaitable, Callable

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0


async def supervise(
    name: str,
    start: Callable[[], Awaitable[None]],
    *,
    report: Callable[[str, BaseException], None],
    first_pause_s: float = FIRST_PAUSE_S,
) -> None:
    """Run `start` again each time it raises, after 1, 2, 4, … up to 60 s; return when it returns."""
    pause_s = first_pause_s
    while True:
        try:
            await start()
        except Exception as error:  # noqa: BLE001 - the boundary that this function is there for
            report(name, error)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        else:
            return
