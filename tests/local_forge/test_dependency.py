"""Links between issues: what blocks one, its sub-issues, and what each issue says of them."""

from typing import Any

from tests.local_forge.world import REPO, World


async def ids(world: World, *numbers: int) -> list[int]:
    return [(await world.octo.get(f"{REPO}/issues/{number}")).json()["id"] for number in numbers]


async def summary(world: World, number: int) -> tuple[Any, Any]:
    body = (await world.octo.get(f"{REPO}/issues/{number}")).json()
    links, children = body["issue_dependencies_summary"], body["sub_issues_summary"]
    return tuple(links.values()), tuple(children.values())


async def test_blockers_are_added_listed_and_taken_out(world: World):
    for title in ("One", "Two", "Three"):
        await world.issue(title)
    one, two, three = await ids(world, 1, 2, 3)
    path = f"{REPO}/issues/1/dependencies/blocked_by"
    for key in (two, three):
        assert (await world.octo.post(path, json={"issue_id": key})).status_code == 201
    assert [issue["number"] for issue in (await world.octo.get(path)).json()] == [2, 3]
    blocking = await world.octo.get(f"{REPO}/issues/2/dependencies/blocking")
    assert [issue["number"] for issue in blocking.json()] == [1]
    await world.octo.patch(f"{REPO}/issues/2", json={"state": "closed"})
    assert (await summary(world, 1))[0] == (1, 0, 2, 0)
    assert (await summary(world, 3))[0] == (0, 1, 0, 1)
    for wrong in (one, two, "x"):
        assert (await world.octo.post(path, json={"issue_id": wrong})).status_code == 422
    assert (await world.octo.post(path, json={"issue_id": 4711})).status_code == 404
    assert (await world.eve.post(path, json={"issue_id": three})).status_code == 403
    assert (await world.octo.delete(f"{path}/{two}")).status_code == 200
    assert [issue["number"] for issue in (await world.octo.get(path)).json()] == [3]


async def test_an_issue_of_another_repository_may_block(world: World):
    await world.issue("One")
    await world.forge.create_repository("octo/other", files={"a": "a"})
    other = (await world.octo.post("/repos/octo/other/issues", json={"title": "There"})).json()
    path = f"{REPO}/issues/1/dependencies/blocked_by"
    assert (await world.octo.post(path, json={"issue_id": other["id"]})).status_code == 201
    (listed,) = (await world.octo.get(path)).json()
    assert listed["repository_url"].endswith("/repos/octo/other")
    world.forge.configure("octo/other", private=True)
    assert (await world.bob.get(path)).json() == []


async def test_sub_issues_have_one_parent(world: World):
    for title in ("One", "Two", "Three"):
        await world.issue(title)
    (three,) = await ids(world, 3)
    child = {"sub_issue_id": three}
    assert (await world.octo.post(f"{REPO}/issues/1/sub_issues", json=child)).status_code == 201
    assert (await world.octo.post(f"{REPO}/issues/2/sub_issues", json=child)).status_code == 422
    moved = await world.octo.post(f"{REPO}/issues/2/sub_issues", json={**child, "replace_parent": True})
    assert moved.status_code == 201
    assert (await world.octo.get(f"{REPO}/issues/1/sub_issues")).json() == []
    await world.octo.patch(f"{REPO}/issues/3", json={"state": "closed", "state_reason": "not_planned"})
    assert (await summary(world, 2))[1] == (1, 1, 100)
    assert (await world.octo.request("DELETE", f"{REPO}/issues/2/sub_issue", json=child)).status_code == 200
    assert (await summary(world, 2))[1] == (0, 0, 0)
