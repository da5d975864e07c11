"""Memory and open files of a service that runs for long: after 10,000 ticks, compared with after 100.

`nightcrew serve` as a process, on the local forge over HTTP, with the shortest interval that the settings take. Some
issues are no tasks, and three tasks have a pull request that is reviewed and waits for a person's word, so that each
tick reads what a tick of a busy project reads.
"""

import asyncio
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.idle import TITLES, sample_agents
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

SHORTEST_INTERVAL_S = 0.1
EARLY, LATE = 100, 10_000
WITHIN_S = 7200.0
SLUG = f"{OWNER}/repository"
"""Ratios that may pass for none: an allocator keeps some of what it had for a moment."""
MEMORY_AIM, FILES_AIM = 1.1, 1.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What the service holds at one tick."""

    tick: int
    resident_mb: float
    files: int


def measure(*, tiny: bool = False) -> list[Figure]:
    """Resident memory and open files late in the life of one process, over those early in it."""
    early, late = (5, 15) if tiny else (EARLY, LATE)
    samples = _sample(1 if tiny else 50, 0 if tiny else len(TITLES), marks=_marks(early, late))
    first, last = samples[0], samples[-1]
    notes = tuple(f"tick {one.tick}: {one.resident_mb:.1f} MB, {one.files} open files" for one in samples)
    case = f"after {last.tick} ticks, compared with after {first.tick}"
    return [
        Figure(
            "lasting", f"memory {case}", last.resident_mb, "MB", floor=first.resident_mb, aim=MEMORY_AIM, notes=notes
        ),
        Figure("lasting", f"open files {case}", last.files, "files", floor=first.files, aim=FILES_AIM),
    ]


def _marks(early: int, late: int) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys((early, *(late * part // 10 for part in range(1, 10) if late * part // 10 > early), late))
    )


def _sample(issues: int, reviewed: int, *, marks: tuple[int, ...]) -> list[Sample]:
    with throw_away_home() as home:
        asyncio.run(_fill(home, issues))
        with forge_elsewhere(home) as url:
            configuration(
                home,
                [SLUG],
                forge=loopback(url, home),
                agents=sample_agents(home.root),
                interval_s=SHORTEST_INTERVAL_S,
                merge={"mode": "ask"},
            )
            with child("serve", home=home) as process:
                wait_until(lambda: _ticks(home) > 0, every_s=0.5)
                for title in TITLES[:reviewed]:
                    _ask(home, "task", "add", title, "--body", "Write it down.")
                wait_until(lambda: _in_review(home) == reviewed, every_s=0.5)
                began = _ticks(home)
                return [_at(home, process.pid, began, tick) for tick in marks]


async def _fill(home: Home, issues: int) -> None:
    async with open_local_forge(home.forge) as local:
        await local.forge.create_repository(SLUG, files=EMPTY_REPOSITORY)
        seed_issues(local.forge, SLUG, issues)


def _at(home: Home, pid: int, began: int, tick: int) -> Sample:
    wait_until(lambda: _ticks(home) >= began + tick, within_s=WITHIN_S, every_s=0.5 if tick <= EARLY else 5)
    return Sample(_ticks(home) - began, _resident_mb(pid), len(list(Path(f"/proc/{pid}/fd").iterdir())))


def _ticks(home: Home) -> int:
    return int(_ask(home, "status").get("ticks", 0))


def _in_review(home: Home) -> int:
    projects = _ask(home, "status").get("projects", [])
    return sum(int(project["tasks"].get("in_review", 0)) for project in projects)


def _ask(home: Home, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        program().argv("--json", *words), env=environment(home), capture_output=True, text=True, check=False
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {}
    return answer


def _resident_mb(pid: int) -> float:
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(said.stdout) * 1024 / 1e6
