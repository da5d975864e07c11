"""A GitHub Enterprise server: REST under /api/v3, GraphQL at /api/graphql, and git at the root, over the local forge
mounted there."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github import AppKey, AppToken, GitHubForge, Token
from nightcrew.forges.github.repository import may_carry_token
from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.git import Git, Signature
from nightcrew.forges.local.origin import commit_files
from nightcrew.ports.scm import NewPull
from tests.adapters.github.stage import Reply, Script, StillClock, forge_over
from tests.adapters.github.test_app import GRANTED, a_pair
from tests.fakes.store import MemoryStore

HOST = "https://git.example"
PROJECT = "crew/sample"
Scope = MutableMapping[str, Any]


class Mounted:
    """The forge as an Enterprise server has it. What is asked for anywhere else is not there."""

    def __init__(self, local: LocalForge) -> None:
        self._app = create_app(local)
        self.strays: list[str] = []

    async def __call__(self, scope: Scope, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]) -> None:
        path = scope["path"]
        if path.startswith("/api/v3/") and path != "/api/v3/graphql":
            root = "/api/v3"
        elif path == "/api/graphql":
            root = "/api"
        else:
            self.strays.append(path)
            root = "/nowhere"
        await self._app({**scope, "root_path": root}, receive, send)


@asynccontextmanager
async def enterprise(folder: Path, *, as_app: bool = False) -> AsyncIterator[tuple[GitHubForge, LocalForge, Mounted]]:
    clock = StillClock()
    local = LocalForge(folder / "forge", clock=clock.now)
    local.ensure_user("crew", token="crew-token")
    bare = await local.create_repository(PROJECT, files={"README.md": "x\n"})
    git = Git(bare)
    stamp = Signature("Ada", "ada@example.invalid", clock.now().isoformat())
    sha = await commit_files(git, {"w.py": "1\n"}, stamp=stamp, message="W\n", parent=await git.branch("main"))
    await git.set_ref("refs/heads/work", sha)
    mounted = Mounted(local)
    transport = httpx.ASGITransport(mounted)
    settings = ForgeSettings("ghe", base_url=f"{HOST}/api/v3", write_interval_s=0.0)
    token: Token | AppToken = Token("crew-token", "a test")
    if as_app:
        private, public = a_pair()
        app, installation = local.install_app("night-bot", owner="crew", public_key=public, permissions=GRANTED)
        local.set_permission(PROJECT, "night-bot[bot]", "write")
        key = AppKey(app, installation, private)
        token = AppToken(key, base_url=settings.base_url, clock=clock, jitter=lambda: 0.5, transport=transport)
    forge = GitHubForge(
        settings,
        token=token,
        store=MemoryStore(),
        clock=clock,
        jitter=lambda: 0.5,
        transport=transport,
        sleep=clock.sleep,
    )
    try:
        yield forge, local, mounted
    finally:
        await forge.close()
        local.close()


async def test_rest_lists_and_moved_repositories_stay_under_the_prefix(tmp_path):
    async with enterprise(tmp_path) as (forge, local, mounted):
        for number in range(120):
            await forge.create_issue(PROJECT, title=f"Issue {number}", body="", labels=())
        issues = await forge.list_open_issues(PROJECT)  # two pages, the second by its Link
        assert len(issues) == 120
        local.rename_repository(PROJECT, "newer")
        assert (await forge.fetch_issue(PROJECT, issues[0].number)).title == issues[0].title
        assert (await forge.fetch_repository(PROJECT)).slug == "crew/newer"
        assert mounted.strays == []


async def test_graphql_is_beside_rest(tmp_path):
    async with enterprise(tmp_path) as (forge, _local, mounted):
        pull = await forge.create_pull(PROJECT, NewPull("A change", "", "work", "main", draft=True))
        await forge.mark_ready(PROJECT, pull.number)
        assert not (await forge.fetch_pull(PROJECT, pull.number)).is_draft
        assert await forge.list_threads(PROJECT, pull.number) == ()
        assert mounted.strays == []


async def test_an_app_gets_its_tokens_there(tmp_path):
    async with enterprise(tmp_path, as_app=True) as (forge, local, mounted):
        assert await forge.fetch_login() == "night-bot[bot]"
        assert await forge.list_open_issues(PROJECT) == ()
        assert local.log.matching("POST", "/app/installations/")
        assert mounted.strays == []


async def test_git_is_at_the_root_of_the_same_host_with_the_token():
    script = Script()
    home = {"id": 1, "full_name": "o/r", "default_branch": "main", "clone_url": f"{HOST}/o/r.git"}
    script.on("GET", "/api/v3/repos/o/r", Reply(200, home))
    async with forge_over(script, base_url=f"{HOST}/api/v3", token=Token("secret", "a test")) as forge:
        remote = await forge.fetch_remote("o/r")
    assert remote.url == f"{HOST}/o/r.git"
    assert remote.env["GIT_CONFIG_KEY_0"] == f"http.{HOST}/.extraHeader"
    basic = remote.env["GIT_CONFIG_VALUE_0"].removeprefix("Authorization: Basic ")
    assert base64.b64decode(basic) == b"x-access-token:secret"
    assert not may_carry_token("https://elsewhere.example/o/r.git", api_base_url=f"{HOST}/api/v3")
