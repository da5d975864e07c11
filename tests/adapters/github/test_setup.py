"""Setup with PyGithub, over real HTTP on loopback: what a token may do, and the labels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nightcrew.core.errors import Denied, Invalid, Missing, Unavailable
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github import Token
from nightcrew.forges.github.setup import ensure_labels, inspect_access
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve
from nightcrew.ports.tracker import LabelSpec
from tests.adapters.github.stage import StillClock

PROJECT = "crew/sample"
SPECS = {"status:new": LabelSpec("ededed", "asked for"), "status:done": LabelSpec("#00ff00", "merged")}


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[LocalForge, ForgeSettings]]:
    """A forge on loopback with one project, whose owner has `good-token`."""
    local = LocalForge(folder, clock=StillClock().now)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    try:
        await local.create_repository(PROJECT, files={"README.md": "sample\n"})
        local.ensure_user("crew", token="good-token")
        local.ensure_user("eve", token="eve-token")
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve(local, on_ready=ready.set_result))
            async with asyncio.timeout(20):
                url = await ready
            yield local, ForgeSettings("local", "local", url, write_interval_s=0.0)
            serving.cancel()
    finally:
        local.close()


async def test_a_token_that_may_all_has_no_problems(tmp_path):
    async with served(tmp_path / "forge") as (_, settings):
        access = await inspect_access(settings, token=Token("good-token", "a test"), project=PROJECT)
    assert (access.login, access.slug, access.default_branch) == ("crew", PROJECT, "main")
    assert (access.can_push, access.is_admin, access.can_read_checks, access.problems) == (True, True, True, ())
    assert access.remaining > 0


async def test_what_a_token_lacks_is_said_in_words(tmp_path):
    async with served(tmp_path / "forge") as (local, settings):
        local.configure(PROJECT, has_issues=False)
        local.protect_branch(PROJECT, "main", contexts=("ci",))
        local.add_token("eve", "fine", permissions={"contents": "read"})
        access = await inspect_access(settings, token=Token("fine", "a test"), project=PROJECT)
    assert not access.can_push
    assert not access.can_read_checks
    assert "write access" in access.problems[0]
    assert "issues are disabled" in access.problems[1]
    assert "administration=read" in access.problems[2]
    assert "check runs" in access.notes[0]


@pytest.mark.case("C181")
@pytest.mark.parametrize("kind", ["protection", "ruleset"])
async def test_what_only_people_can_give_is_told_beforehand(tmp_path, kind):
    async with served(tmp_path / "forge") as (local, settings):
        if kind == "protection":
            local.protect_branch(PROJECT, "main", approvals=1, switches=["required_signatures"])
        else:
            local.add_ruleset(PROJECT, "gate", approvals=1)
            local.add_rules(PROJECT, "signed", kinds=["required_signatures"])
        access = await inspect_access(settings, token=Token("good-token", "a test"), project=PROJECT)
    assert access.problems == ()
    assert [note.partition(":")[0] for note in access.notes] == [
        "main demands 1 approving review(s) by people",
        "main demands signed commits",
    ]


async def test_errors_are_typed(tmp_path):
    async with served(tmp_path / "forge") as (local, settings):
        with pytest.raises(Denied, match="token is not valid"):
            await inspect_access(settings, token=Token("bad-token", "a test"), project=PROJECT)
        with pytest.raises(Missing):
            await inspect_access(settings, token=Token("good-token", "a test"), project="crew/nowhere")
        local.faults.arm("secondary_limit")
        with pytest.raises(Unavailable, match="rate limit"):
            await inspect_access(settings, token=Token("good-token", "a test"), project=PROJECT)
        local.faults.arm("error", status=502)
        with pytest.raises(Unavailable):
            await inspect_access(settings, token=Token("good-token", "a test"), project=PROJECT)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await inspect_access(settings, token=Token("good-token", "a test"), project=PROJECT)


async def test_an_empty_repository_can_be_looked_at(tmp_path):
    async with served(tmp_path / "forge") as (local, settings):
        await local.create_repository("crew/empty")
        access = await inspect_access(settings, token=Token("good-token", "a test"), project="crew/empty")
    assert access.problems == ()


@pytest.mark.case("C015")
async def test_labels_are_created_once(tmp_path):
    async with served(tmp_path / "forge") as (_, settings):
        token = Token("good-token", "a test")
        assert await ensure_labels(settings, token=token, project=PROJECT, labels=SPECS) == (
            "status:new",
            "status:done",
        )
        assert await ensure_labels(settings, token=token, project=PROJECT, labels=SPECS) == ()
        again = {"STATUS:NEW": SPECS["status:new"]}
        assert await ensure_labels(settings, token=token, project=PROJECT, labels=again) == ()
        with pytest.raises(Invalid, match="status:bad"):
            await ensure_labels(settings, token=token, project=PROJECT, labels={"status:bad": LabelSpec("zz", "")})
