"""Watching run folders: one look a second at each, so that an exit is seen at once, and a run that does nothing but
repeat a limit. It only wakes the loop."""

import asyncio
from collections.abc import Callable

from nightcrew.core.errors import PortError
from nightcrew.core.ids import RunId
from nightcrew.core.model.run import Run
from nightcrew.engine.ports import Ports
from nightcrew.engine.view.record import Records, RecordView
from nightcrew.engine.view.run import find_limit

LOOK_EVERY_S = 1.0

Sight = tuple[RunId, bool]
"""A run for which something is to be done, and whether it has ended."""


async def watch_runs(in_force: Callable[[], Ports], wake: Callable[[], None], *, every_s: float = LOOK_EVERY_S) -> None:
    """Wake the loop once for each run whose result appears, and once for each that repeats a limit. Runs for ever."""
    records, seen = RecordView(in_force().store), Records()
    open_runs: list[Run] = []
    told: set[Sight] = set()
    while True:
        await asyncio.sleep(every_s)
        ports = in_force()
        try:
            current = await records.read()
            if current is not seen:
                seen, open_runs = current, [run for runs in current.runs.values() for run in runs if run.is_open]
                told &= {(run.id, ended) for run in open_runs for ended in (True, False)}
            fresh = {sight for run in open_runs if (sight := _look(run, ports)) is not None} - told
        except (PortError, OSError):
            continue  # the store or the disk does not answer: the loop says so
        if fresh:
            told |= fresh
            wake()


def _look(run: Run, ports: Ports) -> Sight | None:
    if ports.runtime.look(ports.home / run.folder).has_result:
        return run.id, True
    return (run.id, False) if find_limit(run, ports) else None
