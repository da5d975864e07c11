"""What chats that hang cost a tick: both take every connection and never answer, or drip, while notices for them wait.

Ticks without chats and with them are measured in turns, in one process, by the clock on the wall: what counts is
whether the loop is held up. The other side runs in processes of its own.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.crowd import SLUG, Crowd, at_rest, settle, tick
from bench.figure import Figure, median, spread
from bench.stage import configuration, forge_elsewhere, loopback, throw_away_home
from nightcrew.config.home import Home
from nightcrew.config.load import Configuration
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.engine.supervise import supervise
from nightcrew.service.compose import Composed

AIM = 1.1
"""None, as far as a tick can be measured: two medians of the same thing differ by as much."""
ROOT = Path(__file__).parents[1]


def measure(*, tiny: bool = False) -> list[Figure]:
    """Medians in ms of a tick that reads everything again."""
    crowd, turns, ticks = (Crowd(3, 1), 1, 2) if tiny else (Crowd(40, 5), 6, 10)
    with throw_away_home() as home:
        asyncio.run(settle(home, crowd))
        with forge_elsewhere(home) as url:
            return [
                asyncio.run(_measure(home, url, case, sessions=crowd.sessions, turns=turns, ticks=ticks))
                for case in ("silent", "dripping")
            ]


async def _measure(home: Home, url: str, case: str, *, sessions: int, turns: int, ticks: int) -> Figure:
    with silence(drips=case == "dripping") as telegram, silence(drips=case == "dripping") as discord:
        given = _configuration(home, url, (telegram, discord), sessions)
        async with at_rest(home, given) as (service, group):
            alone, beside = list[float](), list[float]()
            for _ in range(turns):
                alone += await _ticks(service, group, ticks)
                async with _chats(service):
                    await _notice(service)
                    await _ticks(service, group, 1)  # loads the libraries
                    beside += await _ticks(service, group, ticks)
    notes = (f"without chats: {spread(alone, 'ms')}", f"with both: {spread(beside, 'ms')}")
    return Figure("hanging", f"a tick, both chats {case}", median(beside), "ms", median(alone), AIM, notes)


async def _ticks(service: Composed, group: asyncio.TaskGroup, count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        await tick(service, group)
        took.append((time.perf_counter() - began) * 1000)
    return took


@asynccontextmanager
async def _chats(service: Composed) -> AsyncIterator[None]:
    """Both, and who brings notices, as the service runs them."""
    ports, bus = service.ports, service.means.bus
    async with asyncio.TaskGroup() as group:
        parts = [
            group.create_task(
                supervise(chat.name, partial(chat.run, service.facade, ports.clock, ports.store), report=_quiet)
            )
            for chat in service.chats
        ]
        tell = partial(service.notices.run, ports.store, ports.clock, bus)
        parts.append(group.create_task(supervise("notices", tell, report=_quiet)))
        yield
        for part in parts:
            part.cancel()


async def _notice(service: Composed) -> None:
    now = service.ports.clock.now()
    await service.ports.store.record_notice(Notice(SLUG, "blocked", Priority.URGENT, "It waits.", now))


def _quiet(_name: str, _error: BaseException) -> None:
    """That they cannot be reached is what this is about."""


def _configuration(home: Home, url: str, chats: tuple[int, int], sessions: int) -> Configuration:
    token = home.root / "chat-token"
    token.write_text("12345:nobody\n", encoding="utf-8")
    token.chmod(0o600)
    telegram, discord = chats
    common: dict[str, Any] = {"token": "file:chat-token", "users": ["7"]}
    top = {
        "channels": {
            "telegram": {**common, "base_url": f"http://127.0.0.1:{telegram}/bot"},
            "discord": {**common, "base_url": f"http://127.0.0.1:{discord}/api"},
        },
        "notices": {
            "desktop": False,
            "targets": [{"to": "telegram", "chat": "7"}, {"to": "discord", "chat": "600"}],
        },
    }
    return configuration(home, [SLUG], forge=loopback(url, home), max_runs=sessions, top=top)


@contextmanager
def silence(*, drips: bool) -> Iterator[int]:
    """The port of a process that never answers."""
    argv = [sys.executable, "-m", "bench.silence", *(["drips"] if drips else [])]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise AssertionError("it has no output")
            yield int(process.stdout.readline())
        finally:
            process.kill()
