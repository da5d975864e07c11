"""Watching run folders: one look a second at each, so that an exit is seen at once. It only wakes the loop."""

import asyncio
from collections.abc import Callable

from nightcrew.core.ids import RunId
from nightcrew.engine.ports import Ports
from nightcrew.engine.view.record import RecordView

LOOK_EVERY_S = 1.0


async def watch_runs(ports: Ports, wake: Callable[[], None], *, every_s: float = LOOK_EVERY_S) -> None:
    """Wake the loop once for each run whose result appears. Runs for ever."""
    records = RecordView(ports.store)
    told: set[RunId] = set()
    while True:
        await asyncio.sleep(every_s)
        current = await records.read()
        open_runs = [run for runs in current.runs.values() for run in runs if run.is_open]
        told &= {run.id for run in open_runs}
        fresh = {
            run.id for run in open_runs if run.id not in told and ports.runtime.look(ports.home / run.folder).has_result
        }
        if fresh:
            told |= fresh
            wake()
