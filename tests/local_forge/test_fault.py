"""The fault knobs: each does what it says to as many requests as it was armed for, and to no other."""

import asyncio

import httpx
import pytest

from nightcrew.forges.local.fault import FaultKind
from tests.local_forge.world import REPO, TOKENS, World, served


async def test_error_does_nothing_and_counts_nothing(world: World):
    world.forge.faults.arm("error", method="POST", path=f"{REPO}/issues*", times=2, status=503)
    for _ in range(2):
        assert (await world.octo.post(f"{REPO}/issues", json={"title": "x"})).status_code == 503
        assert (await world.octo.get(f"{REPO}/issues")).json() == []
    assert (await world.octo.post(f"{REPO}/issues", json={"title": "x"})).json()["number"] == 1
    assert not world.forge.faults.armed


async def test_lost_answer_leaves_the_effect(world: World):
    await world.issue()
    world.forge.faults.arm("lost_answer", method="POST", path="*/comments")
    assert (await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "x"})).status_code == 502
    assert (await world.octo.get(f"{REPO}/issues/1")).json()["comments"] == 1


async def test_primary_limit_on_demand(world: World):
    world.forge.faults.arm("primary_limit", path=REPO, seconds=1440)
    refused = await world.octo.get(REPO)
    assert (refused.status_code, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert int(refused.headers["x-ratelimit-reset"]) == int(world.clock().timestamp()) + 1440
    assert (await world.octo.get("/user")).status_code == 403
    world.clock.move(1440)
    assert (await world.octo.get("/user")).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(0.0, 403), (90.0, 429)])
async def test_secondary_limit_on_demand(world: World, seconds: float, status: int):
    world.forge.faults.arm("secondary_limit", method="POST", seconds=seconds, status=status)
    refused = await world.octo.post(f"{REPO}/issues", json={"title": "x"})
    assert refused.status_code == status
    assert "You have exceeded a secondary rate limit" in refused.json()["message"]
    assert refused.headers.get("retry-after") == ("90" if seconds else None)
    assert refused.headers["x-ratelimit-remaining"] != "0"
    assert (await world.octo.get(f"{REPO}/issues")).json() == []


async def test_stale_lists_answer_from_when_they_were_armed(world: World):
    await world.issue("Before")
    world.forge.faults.arm("stale", method="GET", path=f"{REPO}/issues", times=2)
    await world.issue("After")
    counts = [len((await world.octo.get(f"{REPO}/issues")).json()) for _ in range(3)]
    assert counts == [1, 1, 2]
    assert (await world.octo.get(f"{REPO}/issues/2")).status_code == 200


async def test_mergeable_is_unknown_at_first(world: World):
    world.clone().commit("a", {"a": "a"}, branch="a")
    await world.pull("a")
    world.forge.faults.arm(FaultKind.MERGEABLE_UNKNOWN, path=f"{REPO}/pulls/1", times=2)
    seen = [(await world.octo.get(f"{REPO}/pulls/1")).json() for _ in range(3)]
    assert [(p["mergeable"], p["mergeable_state"]) for p in seen] == [
        (None, "unknown"), (None, "unknown"), (True, "clean"),
    ]  # fmt: skip


async def test_base_that_moves_under_a_merge(world: World):
    world.clone().commit("a", {"a": "a"}, branch="a")
    await world.pull("a")
    world.forge.faults.arm("base_moved")
    refused = await world.octo.put(f"{REPO}/pulls/1/merge")
    assert refused.status_code == 405
    assert refused.json()["message"] == "Base branch was modified. Review and try the merge again."
    assert (await world.octo.put(f"{REPO}/pulls/1/merge")).status_code == 200


async def test_truncated_body_and_the_door_over_http(world: World):
    await world.issue()

    def ask(url: str) -> None:
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKENS['octo']}"}) as client:
            armed = client.post("/_forge/faults", json={"kind": "truncated", "path": f"{REPO}/issues"})
            assert (armed.status_code, armed.json()) == (201, {"armed": 1})
            with pytest.raises(httpx.RemoteProtocolError):
                client.get(f"{REPO}/issues")
            assert len(client.get(f"{REPO}/issues").json()) == 1
            assert client.post("/_forge/faults", json={"kind": "nonsense"}).status_code == 422
            assert client.post("/_forge/faults", json={"kind": "error", "times": "many"}).status_code == 422
            client.post("/_forge/faults", json={"kind": "error", "times": 9})
            assert client.delete("/_forge/faults").status_code == 204
            assert client.get("/user").status_code == 200

    with served(world.forge) as url:
        await asyncio.to_thread(ask, url)


async def test_latency_delays_only_what_it_was_armed_for(world: World):
    world.forge.faults.arm("latency", path="/user", seconds=0.5)
    order: list[str] = []

    async def ask(path: str) -> None:
        await world.octo.get(path)
        order.append(path)

    async with asyncio.TaskGroup() as group:
        group.create_task(ask("/user"))
        group.create_task(ask("/rate_limit"))
    assert order == ["/rate_limit", "/user"]
