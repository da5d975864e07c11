"""Resident memory of the idle service: `nightcrew serve` as a process, after a number of ticks."""

import asyncio
import json
import subprocess
from contextlib import ExitStack
from typing import Any

from bench.figure import Figure
from bench.seed import EMPTY_REPOSITORY, seed_issues
from bench.stage import (
    child,
    configuration,
    environment,
    forge_elsewhere,
    loopback,
    program,
    throw_away_home,
    wait_until,
)
from nightcrew.config.home import Home
from nightcrew.service.local import OWNER, open_local_forge

AIM_MB = 90.0


def measure(*, tiny: bool = False) -> list[Figure]:
    """MB (of 1,000,000 bytes) by kind of forge and number of repositories."""
    cases = (
        [("local", 1, 10)] if tiny else [("local", 1, 10), ("github", 1, 10), ("local", 10, 100), ("github", 10, 100)]
    )
    return [_measure(kind, repositories, issues, 2 if tiny else 8) for kind, repositories, issues in cases]


def _measure(kind: str, repositories: int, issues: int, ticks: int) -> Figure:
    slugs = [f"{OWNER}/repository{number}" for number in range(repositories)]
    with throw_away_home() as home, ExitStack() as stack:
        asyncio.run(_fill(home, slugs, issues))
        forge: dict[str, Any] = {"kind": "local"}
        if kind == "github":
            forge = loopback(stack.enter_context(forge_elsewhere(home)), home)
        configuration(home, slugs, forge=forge, interval_s=1)
        with child("serve", home=home) as process:
            wait_until(lambda: _ticks(home) >= ticks, every_s=0.5)
            resident = _resident_mb(process.pid)
    case = f"{kind}, {repositories} {'repository' if repositories == 1 else 'repositories'} of {issues} issues"
    return Figure("memory", case, resident, "MB", aim=AIM_MB, notes=(f"after {ticks} ticks or more",))


async def _fill(home: Home, slugs: list[str], issues: int) -> None:
    async with open_local_forge(home.forge) as local:
        for slug in slugs:
            await local.forge.create_repository(slug, files=EMPTY_REPOSITORY)
            seed_issues(local.forge, slug, issues)


def _ticks(home: Home) -> int:
    done = subprocess.run(
        program().argv("--json", "status"), env=environment(home), capture_output=True, text=True, check=False
    )
    try:
        return int(json.loads(done.stdout)["ticks"])
    except (ValueError, KeyError, TypeError):
        return 0


def _resident_mb(pid: int) -> float:
    """As the system's own ps tells it, in units of 1,024 bytes."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(said.stdout) * 1024 / 1e6
