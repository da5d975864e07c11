"""Several tokens at one forge: each project stays with one, and one that cannot be used stops nobody else."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from nightcrew.core.errors import Denied, Missing, Unavailable
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.quota import Pace, TokenStanding
from nightcrew.forges.github import GitHubForge, Token
from nightcrew.forges.github.seat import LACKING_FOR_S, REFUSED_FOR_S
from nightcrew.forges.local.access import digest
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.inprocess import BASE_URL, transport_to
from tests.adapters.github.stage import StillClock
from tests.fakes.store import MemoryStore

ONE, TWO = Token("token-one", "variable ONE"), Token("token-two", "variable TWO")
WIDGET, GADGET, SECRET = "acme/widget", "acme/gadget", "acme/secret"


class Town:
    """A local forge with two bots that may push to everything, but for one repository that only the second sees."""

    def __init__(self, folder) -> None:
        self.clock = StillClock()
        self.store = MemoryStore()
        self.local = LocalForge(folder, clock=self.clock.now)

    async def build(self) -> None:
        for login, token in (("one", ONE), ("two", TWO)):
            self.local.ensure_user(login, token=token.value)
        for slug in (WIDGET, GADGET, SECRET):
            await self.local.create_repository(slug, files={"a.txt": "a\n"}, private=slug == SECRET)
            for login in ("one", "two"):
                self.local.set_permission(slug, login, "none" if (slug, login) == (SECRET, "one") else "write")

    @asynccontextmanager
    async def forge(self, *tokens: Token) -> AsyncIterator[GitHubForge]:
        forge = GitHubForge(
            ForgeSettings("hub", base_url=BASE_URL, write_interval_s=0.0),
            token=tokens or (ONE, TWO),
            store=self.store,
            clock=self.clock,
            jitter=lambda: 0.5,
            transport=transport_to(self.local),
            sleep=self.clock.sleep,
        )
        try:
            yield forge
        finally:
            await forge.close()

    def asked(self, slug: str) -> list[str]:
        """Who asked about a repository since the last time."""
        found = [entry.login for entry in self.local.log.matching(path=slug)]
        self.local.log.clear()
        return found

    def use_up(self, login: str, *, left: int = 0) -> None:
        """Of this user's hour only so much is left."""
        user = self.local.ensure_user(login)
        self.local.limits.exhaust(user, self.clock.now(), reset_at=self.clock.now() + timedelta(seconds=1800))
        self.local.limits.count(user, "core", self.clock.now(), cost=-left)

    def revoke(self, token: Token) -> None:
        self.local.store.run("DELETE FROM token WHERE digest = ?", digest(token.value))


@pytest.fixture
async def town(tmp_path):
    built = Town(tmp_path)
    await built.build()
    yield built
    built.local.close()


def standings(forge: GitHubForge) -> Mapping[str, TokenStanding]:
    return {one.source: one for one in forge.quota.standings((WIDGET, GADGET, SECRET))}


async def test_projects_are_spread_and_each_stays_with_its_token(town):
    async with town.forge() as forge:
        for _ in range(3):
            for slug in (WIDGET, GADGET):
                await forge.list_open_issues(slug)
        assert set(town.asked(WIDGET)) == {"one"}
        await forge.list_open_issues(GADGET)
        assert set(town.asked(GADGET)) == {"two"}
        assert [one.projects for one in standings(forge).values()] == [1, 1]
        assert (await forge.fetch_login(WIDGET), await forge.fetch_login(GADGET)) == ("one", "two")
    async with town.forge(TWO, ONE) as forge:
        # What was read is asked for with the token that it was read with, also after a restart.
        await forge.list_open_issues(WIDGET)
        (entry,) = town.local.log.matching(path=WIDGET)
        assert (entry.login, entry.status) == ("one", 304)


async def test_a_single_token_looks_nothing_up(town):
    async with town.forge(ONE) as forge:
        await forge.list_open_issues(WIDGET)
    assert [entry.path for entry in town.local.log.entries] == [f"/repos/{WIDGET}/issues"]
    assert await town.store.load_values("forge.seat") == {}


async def test_one_that_lacks_access_is_left_out_and_said(town):
    async with town.forge() as forge:
        await forge.list_open_issues(SECRET)
        assert (await forge.fetch_repository(SECRET)).can_push
        told = standings(forge)["variable ONE"]
        assert told.words.startswith(f"no access to {SECRET} (")
        assert told.pace is Pace.OPEN
        town.local.log.clear()
        await forge.list_open_issues(SECRET)
        assert set(town.asked(SECRET)) == {"two"}


async def test_access_that_is_lost_is_found_with_another_token(town):
    async with town.forge() as forge:
        await forge.fetch_repository(WIDGET)
        town.local.configure(WIDGET, private=True)
        town.local.set_permission(WIDGET, "one", "none")
        town.local.log.clear()
        assert (await forge.fetch_repository(WIDGET)).slug == WIDGET
        assert town.local.log.entries[-1].login == "two"
        # Where none has access that is said, and the one that gets it back later is tried again.
        town.local.set_permission(WIDGET, "two", "none")
        with pytest.raises(Missing):
            await forge.fetch_repository(WIDGET)
        town.local.set_permission(WIDGET, "one", "write")
        town.clock.advance(LACKING_FOR_S)
        assert (await forge.fetch_repository(WIDGET)).can_push


async def test_one_that_may_only_read_serves_where_none_may_write(town):
    town.local.set_permission(WIDGET, "one", "read")
    async with town.forge() as forge:
        await forge.list_open_issues(WIDGET)
        assert town.local.log.entries[-1].login == "two"
        assert standings(forge)["variable ONE"].words == f"no access to {WIDGET} (may not push)"
    town.local.set_permission(WIDGET, "two", "read")
    town.store = MemoryStore()
    async with town.forge() as forge:
        await forge.list_open_issues(WIDGET)
        assert not (await forge.fetch_repository(WIDGET)).can_push


async def test_a_revoked_token_is_left_out_and_the_others_go_on(town):
    async with town.forge() as forge:
        for slug in (WIDGET, GADGET):
            await forge.list_open_issues(slug)
        town.revoke(ONE)
        with pytest.raises(Denied, match="token is not valid"):
            await forge.list_open_issues(WIDGET)
        for slug in (WIDGET, GADGET):
            await forge.list_open_issues(slug)
            assert town.local.log.entries[-1].login == "two"
        told = standings(forge)["variable ONE"]
        assert (told.pace, told.projects) == (Pace.CLOSED, 0)
        assert told.words == "the forge does not take it (it may have expired or been revoked)"
        assert standings(forge)["variable TWO"].pace is Pace.OPEN
        # It may be a passing trouble: after a while it is tried again, and if it is taken nothing is said any more.
        town.local.add_token("one", ONE.value)
        town.clock.advance(REFUSED_FOR_S)
        assert standings(forge)["variable ONE"].words == ""


async def test_a_project_moves_to_a_token_with_more_left_and_stays_there(town):
    async with town.forge() as forge:
        await forge.list_open_issues(WIDGET)
        town.use_up("one", left=400)
        await forge.list_open_issues(GADGET)
        await forge.list_open_issues(WIDGET)
        town.local.log.clear()
        await forge.fetch_repository(WIDGET)
        assert town.local.log.entries[-1].login == "two"
        town.clock.advance(2000)  # the first is whole again
        town.local.log.clear()
        await forge.list_open_issues(WIDGET)
        assert town.asked(WIDGET) == ["two"]


async def test_ones_breaker_does_not_stop_the_projects_of_another(town):
    async with town.forge() as forge:
        for slug in (WIDGET, GADGET):
            await forge.list_open_issues(slug)
        town.local.faults.arm("secondary_limit", path=f"/repos/{WIDGET}/*", seconds=120)
        with pytest.raises(Unavailable, match="rate limit"):
            await forge.list_open_issues(WIDGET)
        assert forge.quota.pace(WIDGET).pace is Pace.CLOSED
        assert forge.quota.pace(GADGET).pace is Pace.OPEN
        await forge.list_open_issues(GADGET)
        town.local.log.clear()
        # It is waited out: going on with another token is what such a limit forbids.
        with pytest.raises(Unavailable):
            await forge.list_open_issues(WIDGET)
        assert town.local.log.entries == ()
        town.clock.advance(120)
        await forge.list_open_issues(WIDGET)
        assert town.asked(WIDGET) == ["one"]


async def test_probes_go_to_the_token_of_each_project(town):
    async with town.forge() as forge:
        bases = dict.fromkeys((WIDGET, GADGET, SECRET), "main")
        for slug in bases:
            await forge.list_open_issues(slug)
        town.local.log.clear()
        assert set(await forge.fetch_prints(bases)) == set(bases)
        assert sorted(entry.login for entry in town.local.log.entries) == ["one", "two"]
        town.local.faults.arm("secondary_limit", path="/graphql", seconds=60)
        assert 0 < len(await forge.fetch_prints(bases)) < len(bases)


async def test_tokens_are_never_shown(town):
    async with town.forge() as forge:
        assert "token-one" not in repr(forge)
        assert "token-one" not in repr(standings(forge))
