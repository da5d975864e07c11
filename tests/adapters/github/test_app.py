"""Being a GitHub App: claims signed with a real key and judged by the forge, tokens that are renewed in time and once,
and what was read under an older token."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError, Denied, Invalid, Missing, Unavailable
from nightcrew.core.model.forge import AppSettings, ForgeSettings
from nightcrew.forges.github import AppKey, AppToken, GitHubForge
from nightcrew.forges.github.repository import fetch_remote
from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.forge import LocalForge
from nightcrew.service.connection import resolve_app
from tests.adapters.github.stage import Breaking, Reply, Script, StillClock, forge_over
from tests.contract.forge_stage import Judged
from tests.fakes.store import MemoryStore

PROJECT = "crew/sample"
GRANTED = {"contents": "write", "issues": "write", "pull_requests": "write", "checks": "read", "metadata": "read"}
BASE_URL = "http://127.0.0.1:8123"


@lru_cache(maxsize=2)
def a_pair(_which: str = "ours") -> tuple[str, str]:
    """A private key and its public one."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = made.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class Installed:
    """An App that is installed on a local forge with one project, and a client that is that App."""

    def __init__(self, local: LocalForge, clock: StillClock, key: AppKey) -> None:
        self.local, self.clock, self.key = local, clock, key
        self.wire = Breaking(Judged(httpx.ASGITransport(create_app(local))))
        self.learned: list[str] = []
        self.store = MemoryStore()
        self.token = self.token_of(key)
        self.forge = GitHubForge(
            ForgeSettings("local", base_url=BASE_URL, write_interval_s=0.0),
            token=self.token,
            store=self.store,
            clock=clock,
            jitter=lambda: 0.5,
            transport=self.wire,
            sleep=clock.sleep,
        )

    def token_of(self, key: AppKey, clock: Any = None) -> AppToken:
        return AppToken(
            key,
            base_url=BASE_URL,
            clock=clock or self.clock,
            jitter=lambda: 0.5,
            learn=self.learned.extend,
            transport=self.wire,
            sleep=self.clock.sleep,
        )

    @property
    def renewals(self) -> int:
        return sum(entry.status == 201 for entry in self.local.log.matching("POST", "/access_tokens"))


@asynccontextmanager
async def installed(folder: Path, permissions: dict[str, str] | None = None) -> AsyncIterator[Installed]:
    clock = StillClock()
    local = LocalForge(folder / "forge", clock=clock.now)
    await local.create_repository(PROJECT, files={"README.md": "x\n"})
    private, public = a_pair()
    app, installation = local.install_app(
        "night-bot", owner="crew", public_key=public, permissions=permissions or GRANTED
    )
    local.set_permission(PROJECT, "night-bot[bot]", "write")
    made = Installed(local, clock, AppKey(app, installation, private))
    try:
        yield made
    finally:
        await made.forge.close()
        local.close()


@pytest.fixture
async def app(tmp_path):
    async with installed(tmp_path) as made:
        yield made


async def test_an_app_reads_and_writes_as_its_bot(app):
    assert await app.forge.fetch_login() == "night-bot[bot]"
    issue = await app.forge.create_issue(PROJECT, title="Found", body="it", labels=())
    assert issue.author == "night-bot[bot]"
    assert app.renewals == 1
    assert len(app.learned) == 1
    assert app.learned[0].startswith("ghs_")


async def test_what_it_may_do_is_told_by_its_grant(tmp_path):
    async with installed(tmp_path / "a") as app:
        assert (await app.forge.fetch_repository(PROJECT)).can_push
    async with installed(tmp_path / "b", {"contents": "read", "issues": "write"}) as app:
        assert not (await app.forge.fetch_repository(PROJECT)).can_push


async def test_a_token_is_renewed_well_before_it_ends(app):
    first = await app.token.current()
    app.clock.advance(3600 - 660)
    assert await app.token.current() == first
    app.clock.advance(120)
    second = await app.token.current()
    assert second != first
    assert app.renewals == 2
    # A whole working day: an hour each, less what is left when it is renewed.
    for _ in range(8 * 60):
        app.clock.advance(60)
        await app.forge.list_open_issues(PROJECT)
    assert app.renewals <= 2 + 8 * 60 // 50 + 1


async def test_all_who_wait_share_one_renewal(app):
    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(app.forge.list_open_issues(PROJECT))
    assert app.renewals == 1


async def test_one_who_gives_up_does_not_take_the_renewal_from_the_others(app):
    async with asyncio.TaskGroup() as group:
        first = group.create_task(app.token.current())
        others = [group.create_task(app.token.current()) for _ in range(3)]
        await asyncio.sleep(0)
        first.cancel()
    assert len({task.result() for task in others}) == 1
    assert app.renewals == 1


async def test_a_renewal_that_fails_is_unavailable_and_an_old_token_serves_as_long_as_it_holds(app):
    app.wire.before = [httpx.ConnectError("down")] * 30
    with pytest.raises(Unavailable):
        await app.token.current()
    app.wire.before = []
    held = await app.token.current()

    app.clock.advance(3600 - 300)
    app.wire.before = [httpx.ConnectError("down")] * 4
    assert await app.token.current() == held
    tried = len(app.wire.before)
    assert await app.token.current() == held  # and it is not tried again at once
    assert len(app.wire.before) == tried
    app.wire.before = []
    app.clock.advance(120)
    assert await app.token.current() != held


async def test_a_token_that_was_taken_back_is_made_anew_once(app):
    first = await app.token.current()
    app.clock.advance(120)
    app.local.store.run("DELETE FROM token")
    assert await app.forge.list_open_issues(PROJECT) == ()
    second = await app.token.current()
    assert second != first
    assert app.renewals == 2
    # Made just now, and refused again: another would be refused too.
    app.local.store.run("DELETE FROM token")
    with pytest.raises(Denied):
        await app.forge.list_open_issues(PROJECT)
    assert app.renewals == 2


async def test_a_new_token_keeps_what_was_read_and_asks_whether_it_holds(app):
    await app.forge.create_issue(PROJECT, title="Found", body="it", labels=())
    first = await app.forge.list_open_issues(PROJECT)
    reads = len(app.local.log.matching("GET", "/issues"))
    assert await app.forge.list_open_issues(PROJECT) is first
    assert app.local.log.matching("GET", "/issues")[-1].status == 304

    app.clock.advance(3600)
    assert await app.forge.list_open_issues(PROJECT) is first  # the same object, though the answer was whole
    whole = app.local.log.matching("GET", "/issues")[-1]
    assert (whole.status, len(app.local.log.matching("GET", "/issues"))) == (200, reads + 2)
    assert await app.forge.list_open_issues(PROJECT) is first
    assert app.local.log.matching("GET", "/issues")[-1].status == 304
    await app.forge.flush()
    assert {one.principal for one in app.store.validators.values()} == {app.key.principal}


async def test_a_wrong_clock_is_put_right_by_the_forges(tmp_path):
    """Claims are judged by the forge's clock, and tokens end by it."""
    private, _ = a_pair()
    clock = StillClock()
    there = clock.now() + timedelta(hours=3)
    script = Script()
    date = {"date": there.strftime("%a, %d %b %Y %H:%M:%S GMT")}

    def answer(asked: Any) -> Reply:
        part = asked.headers["authorization"].split(".")[1]
        claim = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        if not claim["iat"] <= there.timestamp() < claim["exp"]:
            return Reply(401, {"message": "'Expiration time' claim ('exp') has passed"}, date)
        ends = (there + timedelta(hours=1)).isoformat()
        return Reply(201, {"token": "ghs_x", "expires_at": ends, "permissions": {}}, date)

    script.on("POST", "/app/installations/7/access_tokens", answer)
    token = AppToken(
        AppKey(3, 7, private),
        base_url="https://forge.test",
        clock=clock,
        jitter=lambda: 0.5,
        transport=httpx.ASGITransport(script),
        sleep=clock.sleep,
    )
    grant = await token.fetch_grant()
    assert grant.until_at == clock.now() + timedelta(hours=1)
    assert script.count("POST") == 2
    await token.close()


async def test_a_key_that_is_not_the_apps_is_refused_in_words(app):
    other, _ = a_pair("another")
    for key in (
        AppKey(app.key.id, app.key.installation, other),
        AppKey(9999, app.key.installation, app.key.private_key),
    ):
        token = app.token_of(key)
        with pytest.raises(Denied, match="does not take the key of App"):
            await token.current()
        await token.close()


async def test_where_it_is_installed_is_looked_up(app):
    assert await app.token.fetch_installation(PROJECT) == app.key.installation
    await app.local.create_repository("crew/other", files={"a": "a"})
    for elsewhere in ("crew/other", "crew/nowhere"):
        with pytest.raises(Missing, match="is not installed"):
            await app.token.fetch_installation(elsewhere)
    with pytest.raises(Invalid):
        await app.token.fetch_installation("../../x")


async def test_what_it_has_left_is_told_by_app_and_installation(app):
    await app.forge.list_open_issues(PROJECT)
    (told,) = app.forge.quota.standings([PROJECT])
    assert told.source == f"App {app.key.id}, installation {app.key.installation}"
    assert (told.projects, told.words, told.purses[0].left) == (1, "", 4999)


async def test_git_gets_the_token_of_the_moment(app):
    def carried(remote) -> str:
        return base64.b64decode(remote.env["GIT_CONFIG_VALUE_0"].removeprefix("Authorization: Basic ")).decode()

    script = Script()
    home = {"id": 1, "full_name": "o/r", "default_branch": "main", "clone_url": f"{BASE_URL}/o/r.git"}
    script.on("GET", "/repos/o/r", Reply(200, home))
    async with forge_over(script, base_url=BASE_URL) as forge:
        first = await fetch_remote(await forge._api("o/r"), "o/r", app.token)
        assert carried(first) == f"x-access-token:{await app.token.current()}"
        app.clock.advance(3500)
        assert carried(await fetch_remote(await forge._api("o/r"), "o/r", app.token)) != carried(first)
    assert all(carried(first).partition(":")[2] not in repr(thing) for thing in (app.token, app.forge, app.key))


def test_the_key_is_read_at_the_start_and_said_to_be_wrong(tmp_path):
    home = Home(tmp_path)
    private, _ = a_pair()
    (tmp_path / "app.pem").write_text(private)
    (tmp_path / "no.pem").write_text("not a key")
    forge = ForgeSettings("gh")
    key = resolve_app(forge, AppSettings(3, 7, "file:app.pem"), home=home)
    assert (key.id, key.installation, key.private_key) == (3, 7, private.strip())
    assert private.splitlines()[5] in key.secrets()
    for reference in ("file:no.pem", "file:nowhere.pem", "env:NOT_SET_ANYWHERE"):
        with pytest.raises(ConfigError, match=r"forges\.gh\.app\.private_key"):
            resolve_app(forge, AppSettings(3, 7, reference), home=home)
