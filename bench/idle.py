"""Requests that GitHub would count, and bytes, of a tick in which nothing has happened.

An answer 304 is not counted and has no body. Each repository has open issues that are no tasks; in the last case three
tasks of one repository have their pull request reviewed and wait for a person's word.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.seed import EMPTY_REPOSITORY, seed_issues
from bench.stage import configuration, throw_away_home, until
from nightcrew.config.home import Home
from nightcrew.core.lifecycle import Status
from nightcrew.engine.recover import recover
from nightcrew.forges.github.forge import GitHubForge
from nightcrew.forges.github.traffic import Traffic
from nightcrew.service.compose import Composed, composed
from nightcrew.service.local import OWNER, open_local_forge

TITLES = tuple(f"Add the {name} note" for name in ("first", "second", "third"))
TICKS = 3


def measure(*, tiny: bool = False) -> list[Figure]:
    """Counted requests of one idle tick, for each case."""
    if tiny:
        return [_measure(1, 3, reviewed=0)]
    return [
        _measure(1, 100, reviewed=0),
        _measure(10, 100, reviewed=0),
        _measure(50, 100, reviewed=0),
        _measure(1, 99, reviewed=0),
        _measure(1, 250, reviewed=0),
        _measure(1, 90, reviewed=len(TITLES)),
    ]


def _measure(repositories: int, issues: int, *, reviewed: int) -> Figure:
    slugs = [f"{OWNER}/repository{number}" for number in range(repositories)]
    with throw_away_home() as home:
        used = asyncio.run(_count(home, slugs, issues, reviewed))
    case = f"{repositories} {'repository' if repositories == 1 else 'repositories'} of {issues} issues"
    case += f", {reviewed} tasks in review" if reviewed else ""
    notes = f"{used.requests / TICKS:g} requests a tick, {used.received / TICKS:g} bytes of bodies a tick"
    return Figure("idle", case, used.counted / TICKS, "counted a tick", aim=0, notes=(notes,))


async def _count(home: Home, slugs: list[str], issues: int, reviewed: int) -> Traffic:
    async with open_local_forge(home.forge) as local:
        for slug in slugs:
            await local.forge.create_repository(slug, files=EMPTY_REPOSITORY)
            seed_issues(local.forge, slug, issues)
    given = configuration(home, slugs, forge={"kind": "local"}, agents=sample_agents(home.root), merge={"mode": "ask"})
    async with composed(home, given) as service, asyncio.TaskGroup() as group:
        await recover(service.ports)
        engine = group.create_task(service.loop.run())
        try:
            await until(lambda: service.loop.state.ticks)
            for title in TITLES[:reviewed]:
                await service.facade.add_task(slugs[0], title=title, body="Write it down.")
            await _come_to_rest(service, reviewed)
            before = read_traffic(service)
            for _ in range(TICKS):
                await _tick(service)
            return read_traffic(service) - before
        finally:
            service.loop.stop()
            await engine


async def _come_to_rest(service: Composed, reviewed: int) -> None:
    """Until as many tasks as were asked for are approved, and looking brings nothing new."""
    store = service.ports.store
    async with asyncio.timeout(120):
        while True:
            done = [verdict for verdict in await store.load_verdicts() if verdict.posted]
            tasks = [task for task in await store.load_tasks() if task.status is Status.IN_REVIEW]
            if len(done) == len(tasks) == reviewed and not await store.load_runs(open_only=True):
                break
            await asyncio.sleep(0.1)
    for _ in range(3):
        await _tick(service)


async def _tick(service: Composed) -> None:
    """A look at everything as at each interval, to its end."""
    ticks = service.loop.state.ticks
    await service.facade.wake()
    await until(lambda: service.loop.state.ticks > ticks)
    quiet = 0
    last = read_traffic(service).requests
    while quiet < 5:  # a look that is slow goes on beside the loop
        await asyncio.sleep(0.03)
        now = read_traffic(service).requests
        quiet = quiet + 1 if now == last and not service.loop.actor.in_flight else 0
        last = now


def read_traffic(service: Composed) -> Traffic:
    forge = service.ports.forges["bench"].tracker
    if not isinstance(forge, GitHubForge):
        raise TypeError("the forge does not count")
    return forge.traffic


def sample_agents(folder: Path) -> dict[str, Any]:
    """Two that write a note each, and approve the other's unseen."""
    issues = {
        title: {
            "attempts": [{"files": {f"{title}.md": "Noted.\n"}, "summary": "Noted.", "tested": "by reading it"}],
            "review": "approve",
            "review_says": {"approve": "It is noted.", "request_changes": "It is not."},
        }
        for title in TITLES
    }
    book = folder / "playbook.json"
    book.write_text(json.dumps({"pause_s": 0, "issues": issues}), encoding="utf-8")
    return {name: {"adapter": "scripted", "options": {"playbook": str(book)}} for name in ("owl", "fox")}
