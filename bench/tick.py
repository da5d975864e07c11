"""CPU time that a tick costs the service, with a thousand open issues and fifty sessions at work.

Real SQLite, real tmux, and a forge in a process of its own, so that only the service's own time counts: user and
system, all its threads, without its children. The figure with the aim is a tick that reads everything again, as at
each interval; a tick that was only woken, and one after a change in the store, are shown beside it.
"""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable

from bench.crowd import SLUG, Crowd, at_rest, settle, tick
from bench.figure import Figure, median, spread
from bench.stage import configuration, forge_elsewhere, loopback, throw_away_home
from nightcrew.config.home import Home
from nightcrew.service.compose import Composed

AIM_MS = 100.0


def measure(*, tiny: bool = False) -> list[Figure]:
    """Three figures in ms of CPU."""
    crowd, rounds = (Crowd(3, 1), 2) if tiny else (Crowd(1000, 50), 15)
    with throw_away_home() as home:
        asyncio.run(settle(home, crowd))
        with forge_elsewhere(home) as url:
            return asyncio.run(_measure(home, url, crowd, rounds))


async def _measure(home: Home, url: str, crowd: Crowd, rounds: int) -> list[Figure]:
    given = configuration(home, [SLUG], forge=loopback(url, home), max_runs=max(crowd.sessions, 1))
    what = f"{crowd.tasks} issues, {crowd.sessions} sessions"
    async with at_rest(home, given) as (service, group):
        measured = [
            ("at the interval", await _cpu(rounds, lambda: tick(service, group))),
            ("only woken", await _cpu(rounds, lambda: tick(service, group, due=False))),
            ("after a change", await _cpu(rounds, lambda: _changed(service, group))),
        ]
    return [
        Figure("tick", f"{what}, {case}", median(own), "ms", aim=AIM_MS, notes=(spread(own, "ms"), child))
        for case, (own, child) in measured
    ]


async def _changed(service: Composed, group: asyncio.TaskGroup) -> None:
    await service.ports.store.save_value("bench.count", str(time.monotonic()))
    await tick(service, group, due=False)


async def _cpu(rounds: int, once: Callable[[], Awaitable[None]]) -> tuple[list[float], str]:
    own, before = [], _children()
    for _ in range(rounds):
        began = time.process_time()
        await once()
        own.append((time.process_time() - began) * 1000)
    return own, f"its children (tmux) {(_children() - before) * 1000 / rounds:.1f} ms a tick"


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
