"""What GitHub would count in an hour in which nothing happens, by how many repositories are looked after.

The hour is simulated: the looks are the service's own, over the real client and a local forge in this process, on a
clock that is moved on from look to look. Only the engine's own repositories are stood in for.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from bench.figure import Figure
from bench.seed import EMPTY_REPOSITORY, a_key_pair, seed_issues
from bench.stage import throw_away_home
from nightcrew.config.home import Home
from nightcrew.core.ids import Sha
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.engine.observe import Observer
from nightcrew.engine.ports import Forge, Ports
from nightcrew.engine.view.first import AT_ONCE
from nightcrew.forges.github import AppKey, AppToken, GitHubForge, Token
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.inprocess import BASE_URL, transport_to
from nightcrew.forges.local.request_log import Entry
from nightcrew.ports.workspace import Workspace
from nightcrew.store.sqlite import SqliteStore

HOUR_S = 3600.0
OWNER, BOT = "crew", "night-bot[bot]"
PAPER = {100: 160, 500: 800}
"""What was reckoned beforehand for an hour at 45 s, by repositories: points of a flat probe."""
MOST_COUNTED = 5_000
LISTS = 2
"""Addresses of each repository that were reckoned with: so many answers come whole when an App's token changes."""


class SteppedClock:
    """Wall and monotonic time that move together, when they are told to. Whoever sleeps moves them."""

    def __init__(self) -> None:
        self._passed_s = 0.0

    def now(self) -> datetime:
        return datetime(2026, 3, 2, 8, 0, tzinfo=UTC) + timedelta(seconds=self._passed_s)

    def monotonic(self) -> float:
        return self._passed_s

    async def sleep(self, seconds: float) -> None:
        self._passed_s += seconds


class Mirror:
    """The engine's own repositories, as far as an idle look needs them: they have what the forge has."""

    def __init__(self, heads: Mapping[str, Sha]) -> None:
        self._heads = heads
        self._here: set[str] = set()

    async def fetch(self, project: str, *_remote: object) -> None:
        self._here.add(project)

    async def find_branch(self, project: str, *_branch: object) -> Sha | None:
        return self._heads[project] if project in self._here else None

    async def find_file(self, *_place: object, **_bounds: object) -> None:
        """None of them has settings of its own."""


@dataclass(frozen=True, slots=True)
class Hour:
    """What was asked in it. `peak` is the most in a minute, by GitHub's secondary limit (a request, a point)."""

    requests: int
    counted: int
    points: int
    peak: int


def measure(*, tiny: bool = False) -> list[Figure]:
    """An idle hour of 10, 100 and 500 repositories, with a person's token and as an App."""
    sizes = (2,) if tiny else (10, 100, 500)
    return [figure for size in sizes for is_app in (False, True) for figure in _measure(size, is_app=is_app)]


def _measure(size: int, *, is_app: bool) -> list[Figure]:
    with throw_away_home() as home:
        hour = asyncio.run(_live(home, size, is_app=is_app))
    case = f"{size} repositories, {'App' if is_app else 'token'}"
    reckoned, points = size * LISTS if is_app else 0, PAPER.get(size, 0)
    notes = (
        f"on paper {reckoned:,} counted requests and {points:,} points",
        f"{hour.requests:,} requests with those answered by 304; at most {hour.peak} in a minute (limit 900)",
    )
    return [
        Figure("hour", case, hour.counted, "counted", aim=MOST_COUNTED, notes=notes),
        Figure("hour", case, hour.points, "points", aim=MOST_COUNTED),
    ]


async def _live(home: Home, size: int, *, is_app: bool) -> Hour:
    clock = SteppedClock()
    local = LocalForge(home.forge, clock=clock.now)
    slugs = [f"{OWNER}/repository{number}" for number in range(size)]
    try:
        for slug in slugs:
            await local.create_repository(slug, files=EMPTY_REPOSITORY)
            seed_issues(local, slug, 10)
        mirror = Mirror(_heads(local, slugs))
        token = _app(local, slugs, clock) if is_app else _token(local)
        settings = Settings(
            projects={slug: ProjectSettings(slug, "hub") for slug in slugs},
            forges={"hub": ForgeSettings("hub", base_url=BASE_URL, write_interval_s=0)},
        )
        async with SqliteStore.open(home.database, clock=clock) as store:
            forge = GitHubForge(
                settings.forges["hub"],
                token=token,
                store=store,
                clock=clock,
                jitter=lambda: 0.5,
                transport=transport_to(local),
                sleep=clock.sleep,
            )
            observer = Observer(_ports(home, store, clock, forge, mirror), settings, patience_s=600)
            found = await _pass(observer, local, clock, settings)
            await forge.close()
            return found
    finally:
        local.close()


async def _pass(observer: Observer, local: LocalForge, clock: SteppedClock, settings: Settings) -> Hour:
    """Some looks until all is known, and then an hour of them."""
    for _ in range(4 + len(settings.projects) // AT_ONCE):
        await _look(observer)
        await clock.sleep(settings.interval_s)
    ends_s = clock.monotonic() + HOUR_S
    asked: list[Entry] = []
    points = 0
    while clock.monotonic() < ends_s:
        local.log.clear()
        before = _points(local)
        await _look(observer)
        asked += local.log.entries
        points += _points(local) - before
        await clock.sleep(min(settings.interval_s, max(observer.pause_s(), 1.0)))
    minutes = Counter(entry.at.replace(second=0) for entry in asked)
    counted = sum(entry.counted and not entry.path.endswith("/graphql") for entry in asked)
    return Hour(len(asked), counted, points, max(minutes.values(), default=0))


def _points(local: LocalForge) -> int:
    """Points used by everybody in the windows that there are now."""
    users = [row["id"] for row in local.store.all("SELECT id FROM user")]
    return sum(local.limits.standing(user, "graphql", local.now()).used for user in users)


async def _look(observer: Observer) -> None:
    """One look, and what it finds out that there is to be read."""
    woken = [True]
    while woken:
        woken.clear()
        async with asyncio.TaskGroup() as group:
            await observer.observe(group, wake=lambda: woken.append(True))


def _heads(local: LocalForge, slugs: Sequence[str]) -> dict[str, Sha]:
    rows = local.store.all("SELECT repository_id, sha FROM branch WHERE name = 'main'")
    by_id = {row["repository_id"]: Sha(row["sha"]) for row in rows}
    return {slug: by_id[local.repository_id(slug)] for slug in slugs}


def _token(local: LocalForge) -> Token:
    local.ensure_user(OWNER, token="bench-token")
    return Token("bench-token", "a benchmark")


def _app(local: LocalForge, slugs: Sequence[str], clock: SteppedClock) -> AppToken:
    private, public = a_key_pair()
    granted = {"contents": "write", "issues": "write", "pull_requests": "write", "checks": "read", "metadata": "read"}
    app, installation = local.install_app("night-bot", owner=OWNER, public_key=public, permissions=granted)
    for slug in slugs:
        local.set_permission(slug, BOT, "write")
    return AppToken(
        AppKey(app, installation, private),
        base_url=BASE_URL,
        clock=clock,
        jitter=lambda: 0.5,
        transport=transport_to(local),
        sleep=clock.sleep,
    )


def _ports(home: Home, store: SqliteStore, clock: SteppedClock, forge: GitHubForge, mirror: Mirror) -> Ports:
    """Only what a look asks for; what agents are started with is not there."""
    nothing: Any = None
    return Ports(
        store=store,
        clock=clock,
        ids=nothing,
        runtime=nothing,
        workspace=cast("Workspace", mirror),
        forges={"hub": Forge(forge, forge, quota=forge.quota)},
        agents={},
        home=home.root,
        resolve_env=nothing,
        find_program=nothing,
        overlay=lambda project, _text: project,
        base_env=nothing,
    )
