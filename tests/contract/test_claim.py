"""What every place of claims does, on real git and in memory alike. Two machines see one forge."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from nightcrew.core.errors import Conflict, Invalid, PortError, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.model.claim import ClaimNote, DueNote
from nightcrew.ports.claim import Claims
from nightcrew.ports.scm import Remote
from nightcrew.workspaces import GitWorkspaces
from nightcrew.workspaces.claim import CLAIMS, GitClaims
from nightcrew.workspaces.due import parse_due
from tests.adapters.workspaces.house import Clock, House, git
from tests.fakes.claim import FakeClaims

PROJECT = "acme/widget"
NOTE = ClaimNote("machine-one", "one.example", datetime(2026, 3, 4, 6, tzinfo=UTC), 1800.0, "nightcrew/7-spin")
OTHER = replace(NOTE, holder="machine-two", host="two.example")


class World(Protocol):
    one: Claims
    two: Claims
    remote: Remote

    def plant(self, number: int) -> None:
        """Anything that is no claim stands where one would."""


class RealWorld:
    """Two homes that have fetched one remote."""

    def __init__(self, root: Path) -> None:
        house = House(root)
        house.publish({"README.md": "hello"})
        self.remote, self.bare = house.remote, house.bare
        self.homes = (house.home, root / "other")
        self.homes[1].mkdir()
        self.one: Claims = GitClaims(self.homes[0], Clock())
        self.two: Claims = GitClaims(self.homes[1], Clock())

    async def fetch(self) -> None:
        for home in self.homes:
            await GitWorkspaces(home, Clock()).fetch(PROJECT, self.remote)

    def plant(self, number: int) -> None:
        git(self.bare, "update-ref", f"{CLAIMS}{number}", "refs/heads/main")


class FakeWorld:
    def __init__(self) -> None:
        self.fake = FakeClaims()
        self.one: Claims = self.fake
        self.two: Claims = self.fake
        self.remote = Remote("memory")

    def plant(self, number: int) -> None:
        self.fake.put(PROJECT, number, None)


@pytest.fixture(params=["git", "memory"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    if request.param == "memory":
        return FakeWorld()
    real = RealWorld(tmp_path / "w")
    await real.fetch()
    return real


async def test_a_claim_is_seen_by_all_as_it_was_made(world: World):
    sha = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    for claims in (world.one, world.two):
        (claim,) = await claims.list_claims(PROJECT, world.remote)
        assert (claim.number, claim.sha, claim.note) == (7, sha, NOTE)


async def test_there_are_none_at_first(world: World):
    assert await world.one.list_claims(PROJECT, world.remote) == ()


async def test_only_one_of_many_gets_it(world: World):
    notes = [replace(NOTE, holder=f"machine-{number}") for number in range(4)]

    async def try_it(claims: Claims, note: ClaimNote) -> Sha | None:
        try:
            return await claims.put_claim(PROJECT, world.remote, 7, note=note, expected=None)
        except Conflict:
            return None

    places = (world.one, world.two, world.one, world.two)
    won = await asyncio.gather(*(try_it(claims, note) for claims, note in zip(places, notes, strict=True)))
    assert len([sha for sha in won if sha is not None]) == 1
    (claim,) = await world.one.list_claims(PROJECT, world.remote)
    assert claim.note == notes[[sha is not None for sha in won].index(True)]


async def test_a_renewal_takes_effect_only_where_nobody_was_quicker(world: World):
    first = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    await world.two.list_claims(PROJECT, world.remote)
    taken = await world.two.put_claim(PROJECT, world.remote, 7, note=OTHER, expected=first)
    later = replace(NOTE, until_at=datetime(2026, 3, 4, 7, tzinfo=UTC))
    with pytest.raises(Conflict):
        await world.one.put_claim(PROJECT, world.remote, 7, note=later, expected=first)
    (claim,) = await world.one.list_claims(PROJECT, world.remote)
    assert (claim.sha, claim.note) == (taken, OTHER)


async def test_two_that_see_the_same_claim_expire_do_not_both_take_it(world: World):
    dead = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    await world.two.put_claim(PROJECT, world.remote, 7, note=OTHER, expected=dead)
    with pytest.raises(Conflict):
        await world.one.put_claim(PROJECT, world.remote, 7, note=replace(NOTE, holder="machine-three"), expected=dead)


async def test_a_claim_that_went_away_is_not_renewed(world: World):
    sha = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    await world.one.drop_claim(PROJECT, world.remote, 7, expected=sha)
    with pytest.raises(Conflict):
        await world.one.put_claim(PROJECT, world.remote, 7, note=OTHER, expected=sha)


async def test_giving_up_frees_it_and_twice_is_once(world: World):
    sha = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    await world.one.drop_claim(PROJECT, world.remote, 7, expected=sha)
    await world.one.drop_claim(PROJECT, world.remote, 7, expected=sha)
    assert await world.two.list_claims(PROJECT, world.remote) == ()
    await world.two.put_claim(PROJECT, world.remote, 7, note=OTHER, expected=None)


async def test_anothers_claim_is_not_given_up(world: World):
    first = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    taken = await world.two.put_claim(PROJECT, world.remote, 7, note=OTHER, expected=first)
    with pytest.raises(Conflict):
        await world.one.drop_claim(PROJECT, world.remote, 7, expected=first)
    assert [claim.sha for claim in await world.one.list_claims(PROJECT, world.remote)] == [taken]


async def test_the_same_claim_made_again_is_made_once(world: World):
    """The answer was lost, and it is asked for again with what was known before."""
    if isinstance(world, FakeWorld):
        pytest.skip("in memory each claim has an id of its own")
    first = await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    assert await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None) == first


async def test_what_is_no_claim_is_one_that_cannot_be_read(world: World):
    world.plant(9)
    (claim,) = await world.one.list_claims(PROJECT, world.remote)
    assert (claim.number, claim.note) == (9, None)
    await world.one.put_claim(PROJECT, world.remote, 9, note=NOTE, expected=claim.sha)
    assert [claim.note for claim in await world.two.list_claims(PROJECT, world.remote)] == [NOTE]


async def test_no_branch_comes_of_a_claim(tmp_path: Path):
    world = RealWorld(tmp_path / "w")
    await world.fetch()
    await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    assert git(world.bare, "branch", "--format=%(refname)") == "refs/heads/main"
    assert git(world.bare, "for-each-ref", "--format=%(refname)", "refs/nightcrew") == f"{CLAIMS}7"


async def test_an_unreachable_forge_says_so(tmp_path: Path):
    world = RealWorld(tmp_path / "w")
    await world.fetch()
    away = Remote("http://127.0.0.1:9/away.git")
    with pytest.raises(Unavailable):
        await world.one.list_claims(PROJECT, away)
    with pytest.raises(Unavailable):
        await world.one.put_claim(PROJECT, away, 7, note=NOTE, expected=None)


async def test_a_forge_that_takes_no_such_refs_is_told_from_a_quicker_machine(tmp_path: Path):
    world = RealWorld(tmp_path / "w")
    await world.fetch()
    hook = world.bare / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(Invalid) as raised:
        await world.one.put_claim(PROJECT, world.remote, 7, note=NOTE, expected=None)
    assert not isinstance(raised.value, Conflict)
    assert isinstance(raised.value, PortError)


DUE = DueNote("machine-one", "one.example", datetime(2026, 3, 4, 3, tzinfo=UTC))


async def test_a_due_time_is_taken_by_one_and_seen_by_all(world: World):
    assert await world.one.find_due(PROJECT, world.remote, "sweep") is None
    await world.one.put_due(PROJECT, world.remote, "sweep", note=DUE, expected=None)
    with pytest.raises(Conflict, match="the turn of sweep"):
        await world.two.put_due(PROJECT, world.remote, "sweep", note=replace(DUE, holder="two"), expected=None)
    seen = await world.two.find_due(PROJECT, world.remote, "sweep")
    assert seen is not None
    assert seen.note == DUE
    later = DueNote("machine-two", "two.example", datetime(2026, 3, 5, 3, tzinfo=UTC))
    await world.two.put_due(PROJECT, world.remote, "sweep", note=later, expected=seen.sha)
    with pytest.raises(Conflict):
        await world.one.put_due(PROJECT, world.remote, "sweep", note=replace(DUE, host="x"), expected=seen.sha)
    again = await world.one.find_due(PROJECT, world.remote, "sweep")
    assert again is not None
    assert again.note == later
    assert await world.one.find_due(PROJECT, world.remote, "other") is None
    assert await world.one.list_claims(PROJECT, world.remote) == ()


@pytest.mark.parametrize(
    "line", ["", "nightcrew-due", "nightcrew-due []", 'nightcrew-due {"due": 5}', 'nightcrew-due {"due": "2026-03-04"}']
)
def test_what_is_no_due_time_is_none(line: str):
    assert parse_due(line) is None
