"""Watching run folders: one look a second at each, so that an exit is seen at once. It only wakes the loop."""

import asyncio
from collections.abc import Callable

from nightcrew.core.errors import PortError
from nightcrew.core.ids import RunId
from nightcrew.core.model.run import Run
from nightcrew.engine.ports import Ports
from nightcrew.engine.view.record import Records, RecordView

LOOK_EVERY_S = 1.0


async def watch_runs(ports: Ports, wake: Callable[[], None], *, every_s: float = LOOK_EVERY_S) -> None:
    """Wake the loop once for each run whose result appears. Runs for ever."""
    records, seen = RecordView(ports.store), Records()
    open_runs: list[Run] = []
    told: set[RunId] = set()
    while True:
        await asyncio.sleep(every_s)
        try:
            current = await records.read()
            if current is not seen:
                seen, open_runs = current, [run for runs in current.runs.values() for run in runs if run.is_open]
                told &= {run.id for run in open_runs}
            fresh = {
                run.id
                for run in open_runs
                if run.id not in told and ports.runtime.look(ports.home / run.folder).has_result
            }
        except (PortError, OSError):
            continue  # the store or the disk does not answer: the loop says so
        if fresh:
            told |= fresh
            wake()
