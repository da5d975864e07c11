"""Conditional requests and limits: what costs what, and what is said about it."""

from pathlib import Path

import pytest

from nightcrew.forges.local.limit import LimitPolicy
from tests.local_forge.world import REPO, World, forge_world


def remaining(headers: object) -> int:
    return int(headers["x-ratelimit-remaining"])  # type: ignore[index]  # any mapping of headers


async def test_unchanged_costs_nothing_and_says_so(world: World):
    await world.issue()
    url = f"{REPO}/issues?state=all&sort=updated"
    first = await world.octo.get(url)
    assert first.headers["etag"].startswith('W/"')
    assert first.headers["cache-control"].startswith("private, max-age=60")
    assert "last-modified" not in first.headers
    assert {"accept", "authorization"} <= {v.strip().lower() for v in first.headers["vary"].split(",")}
    for tag in (first.headers["etag"], first.headers["etag"].removeprefix("W/")):
        same = await world.octo.get(url, headers={"If-None-Match": tag})
        assert (same.status_code, same.content) == (304, b"")
        assert remaining(same.headers) == remaining(first.headers)
    assert [entry.counted for entry in world.forge.log.entries[-3:]] == [True, False, False]
    await world.octo.post(f"{REPO}/issues/1/labels", json={"labels": ["x"]})
    changed = await world.octo.get(url, headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


async def test_validator_is_strong_without_compression(world: World):
    plain = await world.octo.get(f"{REPO}/labels", headers={"Accept-Encoding": "identity"})
    assert plain.headers["etag"].startswith('"')
    assert "content-encoding" not in plain.headers
    packed = await world.octo.get(f"{REPO}/labels")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["etag"] == "W/" + plain.headers["etag"]


async def test_validator_belongs_to_token_and_url(world: World):
    world.forge.add_token("octo", "second-token")
    tag = (await world.octo.get(f"{REPO}/labels")).headers["etag"]
    second = world.client("second-token")
    assert (await second.get(f"{REPO}/labels", headers={"If-None-Match": tag})).status_code == 200
    assert (await world.octo.get(f"{REPO}/labels?page=1", headers={"If-None-Match": tag})).status_code == 200
    assert (await world.octo.get(f"{REPO}/labels", headers={"If-None-Match": tag})).status_code == 304
    await second.aclose()


async def test_change_on_page_two_leaves_page_one_as_it_was(world: World):
    for number in range(4):
        await world.issue(str(number))
    url = f"{REPO}/issues?per_page=2&direction=asc"
    tag = (await world.octo.get(url)).headers["etag"]
    await world.octo.patch(f"{REPO}/issues/4", json={"title": "changed"})
    assert (await world.octo.get(url, headers={"If-None-Match": tag})).status_code == 304


async def test_primary_limit_is_per_person_and_ends_by_the_clock(tmp_path: Path):
    async with forge_world(tmp_path, policy=LimitPolicy(core_per_hour=3)) as world:
        world.forge.add_token("octo", "second-token")
        second = world.client("second-token")
        left = [remaining((await client.get("/user")).headers) for client in (world.octo, second, world.octo)]
        assert left == [2, 1, 0]
        refused = await second.get("/user")
        assert refused.status_code == 403
        assert refused.json()["message"] == "API rate limit exceeded for user ID 1."
        assert (refused.headers["x-ratelimit-remaining"], refused.headers["x-ratelimit-used"]) == ("0", "3")
        assert int(refused.headers["x-ratelimit-reset"]) == int(world.clock().timestamp()) + 3600
        told = (await world.octo.get("/rate_limit")).json()
        assert told["resources"]["core"] == {
            "limit": 3, "used": 3, "remaining": 0, "reset": int(refused.headers["x-ratelimit-reset"]),
        }  # fmt: skip
        assert (await world.bob.get("/user")).status_code == 200
        world.clock.move(3600)
        assert remaining((await world.octo.get("/user")).headers) == 2
        await second.aclose()


async def test_search_has_its_own_limit(world: World):
    query = {"q": "repo:octo/demo"}
    for _ in range(30):
        answer = await world.octo.get("/search/issues", params=query)
        assert answer.headers["x-ratelimit-resource"] == "search"
    assert (await world.octo.get("/search/issues", params=query)).status_code == 403
    assert (await world.octo.get("/user")).status_code == 200
    world.clock.move(60)
    assert (await world.octo.get("/search/issues", params=query)).status_code == 200


@pytest.mark.parametrize("status", [403, 429])
async def test_secondary_limits_of_github(tmp_path: Path, status: int):
    policy = LimitPolicy(points_per_minute=900, content_per_minute=80, content_per_hour=500, status=status)
    async with forge_world(tmp_path, policy=policy) as world:
        await world.issue()
        for _ in range(79):
            assert (await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "x"})).status_code == 201
        world.clock.move(20)
        refused = await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "x"})
        assert (refused.status_code, refused.headers["retry-after"]) == (status, "40")
        assert "secondary rate limit" in refused.json()["message"]
        assert remaining(refused.headers) > 4000
        assert (await world.octo.get(f"{REPO}/issues/1")).json()["comments"] == 79
        world.clock.move(40)
        assert (await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "x"})).status_code == 201


async def test_points_of_one_endpoint(tmp_path: Path):
    async with forge_world(tmp_path, policy=LimitPolicy(points_per_minute=3, retry_after=False)) as world:
        assert [(await world.octo.get("/user")).status_code for _ in range(4)] == [200, 200, 200, 403]
        refused = await world.octo.get("/user")
        assert "retry-after" not in refused.headers
        assert (await world.octo.get(REPO)).status_code == 200
        world.clock.move(60)
        assert (await world.octo.get("/user")).status_code == 200


def test_github_policy_has_the_documented_numbers():
    policy = LimitPolicy.github()
    assert (policy.core_per_hour, policy.points_per_minute, policy.content_per_minute) == (5000, 900, 80)
    assert policy.content_per_hour == 500
