"""How long `nightcrew task list` takes against the running service, beside a Python that does nothing."""

import asyncio
import json
import subprocess
import sys
import time

from bench.crowd import SLUG, Crowd, settle
from bench.figure import Figure, median, spread
from bench.stage import child, configuration, environment, program, throw_away_home, wait_until
from nightcrew.config.home import Home
from nightcrew.service.clock import SystemClock
from nightcrew.store.sqlite import SqliteStore

AIM = 6.0


def measure(*, tiny: bool = False) -> list[Figure]:
    """Medians in ms, measured in turns."""
    tasks, rounds = (2, 2) if tiny else (20, 25)
    with throw_away_home() as home:
        asyncio.run(settle(home, Crowd(tasks, 0)))
        asyncio.run(_pause(home))
        configuration(home, [SLUG], forge={"kind": "local"})
        with child("serve", home=home):
            argv = program().argv("task", "list")
            wait_until(lambda: _answers(home), every_s=0.2)
            ours, floor = [], []
            for _ in range(rounds):
                floor.append(_time_ms([sys.executable, "-c", "pass"], home))
                ours.append(_time_ms(argv, home))
    notes = (f"task list: {spread(ours, 'ms')}", f"python -c pass: {spread(floor, 'ms')}")
    return [Figure("cli", f"task list, {tasks} tasks", median(ours), "ms", median(floor), AIM, notes)]


async def _pause(home: Home) -> None:
    async with SqliteStore.open(home.database, clock=SystemClock()) as store:
        await store.save_value("engine.paused", "yes")


def _answers(home: Home) -> bool:
    """Whether the service itself answers, and has looked; the command would answer from its rows as well."""
    argv = program().argv("--json", "status")
    done = subprocess.run(argv, env=environment(home), capture_output=True, text=True, check=False)
    try:
        status = json.loads(done.stdout)
        return bool(status["running"]) and int(status["ticks"]) > 0
    except (ValueError, KeyError, TypeError):
        return False


def _time_ms(argv: list[str], home: Home) -> float:
    began = time.perf_counter()
    subprocess.run(argv, env=environment(home), stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000
