"""What GitHub counts for a task from its issue to its merge: one by itself, and several beside each other.

The service as composed for real, over the local forge and HTTP, at the default intervals, with scripted agents. CI is a
commit status that comes a few seconds after a head is there.
"""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.seed import EMPTY_REPOSITORY
from bench.stage import configuration, forge_here, loopback, throw_away_home
from nightcrew.config.home import Home
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.settings import Settings
from nightcrew.engine.recover import recover
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.moment import render_moment
from nightcrew.forges.local.request_log import Entry
from nightcrew.service.compose import Composed, composed
from nightcrew.service.local import OWNER

SLUG = f"{OWNER}/sample"
CI_S = 5.0
WRITES_ON_PAPER = 25
"""Five moves of two labels each, one comment that is made and edited, and what makes and merges a pull request."""
_NUMBER = re.compile(r"/(?:[0-9a-f]{40}|[0-9]+)(?=[/-]|$)")


def measure(*, tiny: bool = False) -> list[Figure]:
    """Counted requests per merged task."""
    return [figure for tasks in ((1,) if tiny else (1, 5)) for figure in _measure(tasks, ci_s=0.5 if tiny else CI_S)]


def _measure(tasks: int, *, ci_s: float) -> list[Figure]:
    with throw_away_home() as home:
        asked = asyncio.run(_count(home, tasks, ci_s))
    case = f"{tasks} {'task' if tasks == 1 else 'tasks at once'}"
    counted = [entry for entry in asked if entry.counted]
    writes = [entry for entry in counted if entry.method != "GET" and not entry.path.endswith("/graphql")]
    kinds = Counter(f"{entry.method} {_NUMBER.sub('/N', entry.path.partition(SLUG)[2])}" for entry in counted)
    notes = [f"{count / tasks:.1f} {kind}" for kind, count in kinds.most_common(16)]
    return [
        Figure("merged", case, len(counted) / tasks, "counted a task", notes=(
            f"{len(asked) / tasks:.0f} requests with those answered by 304; most of what counts, per task:", *notes,
        )),
        Figure("merged", case, len(writes) / tasks, "writes a task", notes=(f"on paper about {WRITES_ON_PAPER}",)),
    ]  # fmt: skip


async def _count(home: Home, tasks: int, ci_s: float) -> list[Entry]:
    titles = [f"Add note {number}" for number in range(tasks)]
    async with forge_here(home) as (local, url):
        await local.create_repository(SLUG, files=EMPTY_REPOSITORY)
        given = configuration(
            home,
            [SLUG],
            forge=loopback(url, home),
            agents=_agents(home.root, titles),
            interval_s=Settings().interval_s,
            max_runs=2 * tasks,
        )
        async with composed(home, given) as service, asyncio.TaskGroup() as group:
            await recover(service.ports)
            engine = group.create_task(service.loop.run())
            ci = group.create_task(_answer(local, ci_s))
            try:
                await asyncio.sleep(1.0)
                local.log.clear()
                for title in titles:
                    await service.facade.add_task(SLUG, title=title, body="Write it down.")
                await _come_to_an_end(service, tasks)
                return list(local.log.entries)
            finally:
                ci.cancel()
                service.loop.stop()
                await engine


async def _come_to_an_end(service: Composed, tasks: int) -> None:
    """Until all are merged, closed and said to be."""
    async with asyncio.timeout(600):
        while True:
            found = await service.ports.store.load_tasks(include_done=True)
            done = [task for task in found if task.status is Status.DONE and task.moving_to is None]
            if len(done) == tasks and not service.loop.actor.in_flight:
                break
            await asyncio.sleep(0.2)
    await asyncio.sleep(2.0)  # the last words on the issues


async def _answer(local: LocalForge, ci_s: float) -> None:
    """CI: some time after a head is there it is green."""
    repository = local.repository_id(SLUG)
    owner = local.store.count("SELECT owner_id FROM repository WHERE id = ?", repository)
    known: set[str] = set()
    while True:
        heads = {row["sha"] for row in local.store.all("SELECT sha FROM branch WHERE repository_id = ?", repository)}
        fresh = heads - known
        known |= fresh
        await asyncio.sleep(ci_s)
        for sha in fresh:
            local.store.insert(
                "status", repository_id=repository, sha=sha, state="success", context="ci", user_id=owner,
                created_at=render_moment(local.now()),
            )  # fmt: skip


def _agents(folder: Path, titles: list[str]) -> dict[str, Any]:
    """Two that write a note each, and approve the other's."""
    issues = {
        title: {
            "attempts": [{"files": {f"{title}.md": "Noted.\n"}, "summary": "Noted.", "tested": "by reading it"}],
            "review": "approve",
            "review_says": {"approve": "It is noted.", "request_changes": "It is not."},
        }
        for title in titles
    }
    book = folder / "playbook.json"
    book.write_text(json.dumps({"pause_s": 0, "issues": issues}), encoding="utf-8")
    return {
        name: {"adapter": "scripted", "max_runs": 2 * len(titles), "options": {"playbook": str(book)}}
        for name in ("owl", "fox")
    }
