"""Requests that GitHub would count in an hour in which nothing happens, by how many repositories are looked after."""

import asyncio

from bench.figure import Figure
from bench.idle import read_traffic, sample_agents
from bench.seed import EMPTY_REPOSITORY, seed_issues
from bench.stage import configuration, throw_away_home, until
from nightcrew.config.home import Home
from nightcrew.engine.loop import Loop
from nightcrew.engine.recover import recover
from nightcrew.forges.github.traffic import Traffic
from nightcrew.service.compose import composed
from nightcrew.service.local import OWNER, open_local_forge

TICKS_AN_HOUR = 80
TICKS = 4
READS = 4
"""Ticks before it counts: a project is quiet after two reads, and the first of them may be late."""
MOST_COUNTED = 5_000


def measure(*, tiny: bool = False) -> list[Figure]:
    """Counted requests of an idle hour, for 10, 100 and 500 repositories."""
    return [_measure(count) for count in ((2,) if tiny else (10, 100, 500))]


def _measure(repositories: int) -> Figure:
    slugs = [f"{OWNER}/repository{number}" for number in range(repositories)]
    with throw_away_home() as home:
        used = asyncio.run(_count(home, slugs, max(0.5, repositories / 50)))
    notes = (f"{used.requests / TICKS:g} requests a tick, {used.received / TICKS:g} bytes of bodies a tick",)
    counted = used.counted / TICKS * TICKS_AN_HOUR
    return Figure("hour", f"{repositories} repositories", counted, "counted an hour", aim=MOST_COUNTED, notes=notes)


async def _count(home: Home, slugs: list[str], interval_s: float) -> Traffic:
    """At an interval that leaves time for reading all."""
    async with open_local_forge(home.forge) as local:
        for slug in slugs:
            await local.forge.create_repository(slug, files=EMPTY_REPOSITORY)
            seed_issues(local.forge, slug, 10)
    agents = sample_agents(home.root)
    given = configuration(
        home, slugs, forge={"kind": "local"}, agents=agents, merge={"mode": "ask"}, interval_s=interval_s
    )
    async with composed(home, given) as service, asyncio.TaskGroup() as group:
        await recover(service.ports)
        engine = group.create_task(service.loop.run())
        loop, observer = service.loop, service.means.observer
        try:
            await until(lambda: all(observer.base_sha(slug) for slug in slugs), within_s=600)
            await _ticks(loop, READS, interval_s)
            before = read_traffic(service)
            await _ticks(loop, TICKS, interval_s)
            return read_traffic(service) - before
        finally:
            loop.stop()
            await engine


async def _ticks(loop: Loop, count: int, interval_s: float) -> None:
    """So many looks at the interval, each to its end."""
    for _ in range(count):
        ticks = loop.state.ticks
        await until(lambda before=ticks: loop.state.ticks > before, within_s=600)
        await asyncio.sleep(interval_s / 2)
