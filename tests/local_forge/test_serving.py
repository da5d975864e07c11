"""Serving: loopback only, a clear line when it cannot, nothing left when it ends; the forge outlives its process."""

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

from nightcrew.core.errors import ConfigError, Conflict, Invalid, Missing
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve
from tests.local_forge.world import REPO, Clock, World, served
from tests.waiting import eventually


async def test_taken_port_and_foreign_address_are_refused(world: World):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="cannot listen on"):
        await serve(world.forge, port=taken.getsockname()[1])
    with pytest.raises(ConfigError, match="not a loopback address"):
        await serve(world.forge, host="0.0.0.0", port=0)


async def test_foreign_host_header_is_refused_and_the_door_is_shut_by_default(world: World):
    def ask(url: str) -> tuple[int, int]:
        with httpx.Client(base_url=url) as client:
            return client.get(REPO).status_code, client.get(REPO, headers={"Host": "evil.example"}).status_code

    with served(world.forge) as url:
        assert url.startswith("http://127.0.0.1:")
        assert await asyncio.to_thread(ask, url) == (200, 400)


async def test_port_is_free_once_serving_is_cancelled(world: World):
    urls: list[str] = []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(serve(world.forge, on_ready=urls.append))
        await eventually(lambda: urls)
        async with httpx.AsyncClient(base_url=urls[0]) as client:
            assert (await client.get(REPO)).status_code == 200
            task.cancel()
            await eventually(task.done)
        with pytest.raises(httpx.ConnectError):
            async with httpx.AsyncClient() as client:
                await client.get(urls[0])


async def test_writes_at_once_lose_nothing(world: World):
    await world.issue()

    async def label(number: int) -> None:
        answer = await world.octo.post(f"{REPO}/issues/1/labels", json={"labels": [f"l{number}"]})
        assert answer.status_code == 200

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(label(number))
    assert len((await world.octo.get(f"{REPO}/issues/1")).json()["labels"]) == 20


async def test_one_of_two_claims_wins(world: World):
    sha = world.bare_git("rev-parse", "main")
    statuses: list[int] = []

    async def claim() -> None:
        body = {"ref": "refs/heads/claim", "sha": sha}
        statuses.append((await world.octo.post(f"{REPO}/git/refs", json=body)).status_code)

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(claim())
    assert sorted(statuses) == [201, 422, 422, 422, 422]


async def test_forge_is_kept_in_its_folder(world: World, tmp_path: Path):
    await world.issue("Kept")
    second = LocalForge(tmp_path / "forge", clock=Clock())
    assert second.find_repository("octo/demo") == world.bare
    assert second.store.count("SELECT count(*) FROM issue") == 1
    assert second.log_key == world.forge.log_key
    second.close()


async def test_keeper_is_told_what_is_wrong(world: World, tmp_path: Path):
    forge = world.forge
    with pytest.raises(Conflict):
        await forge.create_repository("octo/demo")
    with pytest.raises(Invalid):
        await forge.create_repository("octo/../x")
    with pytest.raises(Invalid):
        await forge.create_repository("octo/bad-branch", default_branch="--x")
    with pytest.raises(Invalid, match="cannot import"):
        await forge.create_repository("octo/none", import_from=tmp_path / "nowhere")
    assert forge.find_repository("octo/none") is None
    with pytest.raises(Invalid):
        forge.configure("octo/demo", odd=True)
    with pytest.raises(Invalid):
        forge.set_permission("octo/demo", "bob", "owner")
    with pytest.raises(Missing):
        forge.set_permission("octo/demo", "nobody", "read")
    with pytest.raises(Missing):
        forge.delete_issue("octo/demo", 7)
    with pytest.raises(Missing):
        forge.rename_repository("octo/none", "x")
