"""How long `nightcrew serve` takes from its start to the end of its first look, beside a Python that only imports."""

import asyncio
import subprocess
import sys
import time
from typing import Any

from bench.figure import Figure, median, spread
from bench.seed import EMPTY_REPOSITORY, seed_issues
from bench.stage import child, configuration, environment, forge_elsewhere, loopback, throw_away_home
from nightcrew.config.home import Home
from nightcrew.service.local import OWNER, open_local_forge

AIM = 2.0
FLOOR = (sys.executable, "-c", "import httpx, pydantic_settings, aiosqlite")
SLUG = f"{OWNER}/repository"
WITHIN_S = 120.0


def measure(*, tiny: bool = False) -> list[Figure]:
    """Medians in ms, measured in turns, for a forge over HTTP and for the embedded one."""
    rounds = 1 if tiny else 11
    with throw_away_home() as home:
        asyncio.run(_fill(home))
        with forge_elsewhere(home) as url:
            figures = [_measure("a forge over HTTP", home, loopback(url, home), rounds)]
        return [*figures, _measure("the embedded forge", home, {"kind": "local"}, rounds)]


def _measure(case: str, home: Home, forge: dict[str, Any], rounds: int) -> Figure:
    configuration(home, [SLUG], forge=forge)
    _start_ms(home)  # makes the database
    ours, floor = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(FLOOR, env=environment(home), check=True)
        floor.append((time.perf_counter() - began) * 1000)
        ours.append(_start_ms(home))
    notes = (f"service: {spread(ours, 'ms')}", f"imports alone: {spread(floor, 'ms')}")
    return Figure("start", f"to the first look, {case}", median(ours), "ms", median(floor), AIM, notes)


def _start_ms(home: Home) -> float:
    """From before the process is made to the line of its log that says that the first look is over."""
    home.log.unlink(missing_ok=True)
    began = time.perf_counter()
    with child("serve", "--background", home=home):
        while not (home.log.is_file() and b'"looked"' in home.log.read_bytes()):
            if time.perf_counter() - began > WITHIN_S:
                raise TimeoutError("the first look did not come")
            time.sleep(0.002)
        return (time.perf_counter() - began) * 1000


async def _fill(home: Home) -> None:
    async with open_local_forge(home.forge) as local:
        await local.forge.create_repository(SLUG, files=EMPTY_REPOSITORY)
        seed_issues(local.forge, SLUG, 10)
