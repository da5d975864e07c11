"""Issues, labels and comments by GitHub's rules; pages of their lists; what is left of deleted accounts."""

import httpx
import pytest

from tests.local_forge.world import REPO, World, names


def flaw(answer: httpx.Response) -> tuple[int, str, dict[str, str]]:
    body = answer.json()
    return answer.status_code, body["message"], body["errors"][0]


@pytest.mark.case("C009")
async def test_pull_requests_share_list_and_numbers_with_issues(world: World):
    clone = world.clone()
    await world.issue("One")
    for name in ("a", "b", "c"):
        clone.commit(name, {name: name}, branch=name)
        await world.pull(name)
    listed = (await world.octo.get(f"{REPO}/issues", params={"direction": "asc"})).json()
    assert [(i["number"], "pull_request" in i) for i in listed] == [(1, False), (2, True), (3, True), (4, True)]
    pulls = (await world.octo.get(f"{REPO}/pulls")).json()
    assert [p["number"] for p in pulls] == [4, 3, 2]
    assert {p["id"] for p in pulls}.isdisjoint({i["id"] for i in listed})
    await world.octo.post(f"{REPO}/issues/2/labels", json={"labels": ["on-pull"]})
    assert names((await world.octo.get(f"{REPO}/pulls/2")).json()["labels"]) == ["on-pull"]
    assert (await world.octo.get(f"{REPO}/pulls/1")).status_code == 404


@pytest.mark.case("C010")
async def test_link_leads_through_every_page_and_goes_by_id(world: World):
    for number in range(230):
        await world.issue(f"Issue {number}")
    answer = await world.octo.get(f"{REPO}/issues?per_page=100&state=all&sort=created&direction=asc")
    seen, asked = [issue["number"] for issue in answer.json()], 1
    while "next" in answer.links:
        url = answer.links["next"]["url"]
        assert url.startswith("http://forge.test/repositories/1/issues?")
        answer = await world.octo.get(url)
        seen += [issue["number"] for issue in answer.json()]
        asked += 1
    assert (seen, asked) == (list(range(1, 231)), 3)
    assert {"first", "prev"} == set(answer.links)
    beyond = await world.octo.get(f"{REPO}/issues?per_page=100&page=9")
    assert beyond.json() == []


async def test_filters_and_order(world: World):
    await world.issue("One", labels=["A", "b"])
    world.clock.move(10)
    await world.issue("Two", labels=["a"])
    await world.bob.post(f"{REPO}/issues", json={"title": "Three"})
    await world.octo.patch(f"{REPO}/issues/3", json={"state": "closed", "state_reason": "not_planned"})

    async def ask(**query: str) -> list[int]:
        return [i["number"] for i in (await world.octo.get(f"{REPO}/issues", params=query)).json()]

    assert await ask() == [2, 1]
    assert await ask(state="all", direction="asc") == [1, 2, 3]
    assert await ask(labels="a") == [2, 1]
    assert await ask(labels="a,B") == [1]
    assert await ask(state="closed") == [3]
    assert await ask(state="all", creator="bob") == [3]
    assert await ask(since="2026-11-30T09:00:05Z") == [2]
    world.clock.move(10)
    await world.octo.post(f"{REPO}/issues/1/labels", json={"labels": ["new"]})
    assert await ask(sort="updated") == [1, 2]
    assert (await world.octo.get(f"{REPO}/issues?state=odd")).status_code == 422
    assert (await world.octo.get(f"{REPO}/issues/3")).json()["state_reason"] == "not_planned"


@pytest.mark.case("C015")
async def test_label_rules(world: World):
    url = f"{REPO}/labels"
    assert (await world.octo.get(url)).json() == []
    assert (await world.octo.post(url, json={"name": "status:New", "color": "FF0000"})).status_code == 201
    variant = await world.octo.post(url, json={"name": "STATUS:new", "color": "00ff00"})
    assert flaw(variant) == (
        422,
        "Validation Failed",
        {"resource": "Label", "code": "already_exists", "field": "name"},
    )
    colour = await world.octo.post(url, json={"name": "other", "color": "#12345"})
    assert flaw(colour)[2] == {"resource": "Label", "code": "invalid", "field": "color"}
    long = await world.octo.post(url, json={"name": "x" * 51, "color": "000000"})
    assert flaw(long)[2]["message"] == "name is too long (maximum is 50 characters)"
    wordy = await world.octo.post(url, json={"name": "wordy", "color": "000000", "description": "y" * 101})
    assert flaw(wordy)[2]["message"] == "description is too long (maximum is 100 characters)"
    renamed = await world.octo.patch(f"{url}/STATUS:NEW", json={"new_name": "a/b ü"})
    assert (renamed.status_code, renamed.json()["name"]) == (200, "a/b ü")
    assert (await world.octo.get(renamed.json()["url"])).json()["color"] == "ff0000"


@pytest.mark.case("C012")
async def test_an_issue_holds_a_hundred_labels(world: World):
    await world.issue(labels=[f"l{n:03}" for n in range(99)])
    url = f"{REPO}/issues/1/labels"
    assert (await world.octo.post(url, json={"labels": ["one more"]})).status_code == 200
    refused = await world.octo.post(url, json={"labels": ["too many"]})
    assert refused.status_code == 422
    assert refused.json()["message"] == "Validation Failed. Issues cannot have more than 100 labels"
    assert (await world.octo.get(f"{REPO}/labels/too%20many")).status_code == 404
    assert (await world.octo.post(url, json={"labels": ["L001"]})).status_code == 200
    removed = await world.octo.delete(f"{url}/l000")
    assert len(removed.json()) == 99
    assert (await world.octo.post(url, json={"labels": ["fits"]})).status_code == 200


async def test_labels_are_made_on_add_taken_singly_and_replaced_whole(world: World):
    await world.issue(labels=["Keep"])
    url = f"{REPO}/issues/1/labels"
    added = await world.octo.post(url, json={"labels": ["keep", "fresh"]})
    assert names(added.json()) == ["Keep", "fresh"]
    assert names((await world.octo.get(f"{REPO}/labels")).json()) == ["Keep", "fresh"]
    missing = await world.octo.delete(f"{url}/absent")
    assert (missing.status_code, missing.json()["message"]) == (404, "Label does not exist")
    long = await world.octo.post(url, json={"labels": ["z" * 51]})
    assert flaw(long)[2]["code"] == "invalid"
    assert names((await world.octo.put(url, json={"labels": ["only"]})).json()) == ["only"]
    assert names((await world.octo.patch(f"{REPO}/issues/1", json={"labels": []})).json()["labels"]) == []
    events = (await world.octo.get(f"{REPO}/issues/1/events")).json()
    told = [(e["event"], e["label"]["name"], e["actor"]["login"]) for e in events]
    assert told[:2] == [("labeled", "Keep", "octo"), ("labeled", "fresh", "octo")]
    assert [name for event, name, _ in told if event == "unlabeled"] == ["Keep", "fresh", "only"]


async def test_who_may_label_and_edit(world: World):
    made = await world.eve.post(f"{REPO}/issues", json={"title": "From outside", "labels": ["nightcrew"]})
    assert (made.status_code, made.json()["labels"], made.json()["author_association"]) == (201, [], "NONE")
    denied = await world.eve.post(f"{REPO}/issues/1/labels", json={"labels": ["nightcrew"]})
    assert (denied.status_code, denied.json()["message"]) == (403, "Must have admin rights to Repository.")
    assert (await world.eve.patch(f"{REPO}/issues/1", json={"title": "Mine"})).status_code == 200
    await world.issue("Not hers")
    assert (await world.eve.patch(f"{REPO}/issues/2", json={"title": "Hers"})).status_code == 403
    assert (await world.bob.post(f"{REPO}/issues/1/labels", json={"labels": ["nightcrew"]})).status_code == 200
    actor = (await world.octo.get(f"{REPO}/issues/1/timeline")).json()[-1]["actor"]["login"]
    assert actor == "bob"


async def test_comment_life(world: World):
    await world.issue()
    url = f"{REPO}/issues/1/comments"
    first = (await world.octo.post(url, json={"body": "one"})).json()
    second = (await world.bob.post(url, json={"body": "two"})).json()
    world.clock.move(30)
    edited = (await world.octo.patch(f"{REPO}/issues/comments/{first['id']}", json={"body": "ONE"})).json()
    assert (edited["id"], edited["created_at"]) == (first["id"], first["created_at"])
    assert edited["updated_at"] > first["updated_at"]
    assert [c["body"] for c in (await world.octo.get(url)).json()] == ["ONE", "two"]
    late = await world.octo.get(url, params={"since": "2026-11-30T09:00:20Z"})
    assert [c["body"] for c in late.json()] == ["ONE"]
    everywhere = await world.octo.get(f"{REPO}/issues/comments", params={"sort": "updated", "direction": "desc"})
    assert [c["id"] for c in everywhere.json()] == [first["id"], second["id"]]
    assert (await world.eve.delete(f"{REPO}/issues/comments/{second['id']}")).status_code == 403
    assert (await world.bob.delete(f"{REPO}/issues/comments/{second['id']}")).status_code == 204
    assert (await world.octo.get(f"{REPO}/issues/comments/{second['id']}")).status_code == 404
    assert (await world.octo.get(f"{REPO}/issues/1")).json()["comments"] == 1


async def test_bodies_end_at_65536_characters(world: World):
    await world.issue(body="ü" * 65_536)
    url = f"{REPO}/issues/1/comments"
    assert (await world.octo.post(url, json={"body": "ü" * 65_536})).status_code == 201
    long = await world.octo.post(url, json={"body": "x" * 65_537})
    assert flaw(long)[2] == {
        "resource": "IssueComment",
        "code": "unprocessable",
        "field": "data",
        "message": "Body is too long (maximum is 65536 characters)",
    }
    assert (await world.octo.post(url, json={"body": "  "})).status_code == 422
    issue = await world.octo.post(f"{REPO}/issues", json={"title": "t", "body": "x" * 65_537})
    assert flaw(issue)[2]["code"] == "custom"


@pytest.mark.case("C008")
async def test_deleted_account_leaves_null(world: World):
    clone = world.clone()
    clone.commit("a", {"a": "a"}, branch="a")
    await world.eve.post(f"{REPO}/issues", json={"title": "From eve"})
    await world.eve.post(f"{REPO}/issues/1/comments", json={"body": "me"})
    await world.pull("a")
    await world.eve.post(f"{REPO}/pulls/2/reviews", json={"event": "COMMENT", "body": "hm"})
    world.forge.delete_user("eve")
    assert (await world.octo.get(f"{REPO}/issues/1")).json()["user"] is None
    assert (await world.octo.get(f"{REPO}/issues/1/comments")).json()[0]["user"] is None
    assert (await world.octo.get(f"{REPO}/pulls/2/reviews")).json()[0]["user"] is None
    assert (await world.eve.get("/user")).status_code == 401


async def test_timeline_tells_what_happened_and_who_did_it(world: World):
    await world.issue("Old title")
    await world.bob.patch(f"{REPO}/issues/1", json={"title": "New title"})
    await world.bob.post(f"{REPO}/issues/1/assignees", json={"assignees": ["bob", "eve"]})
    await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "hello"})
    await world.octo.patch(f"{REPO}/issues/1", json={"state": "closed"})
    await world.bob.patch(f"{REPO}/issues/1", json={"state": "open"})
    events = (await world.octo.get(f"{REPO}/issues/1/timeline")).json()
    told = {(e["event"], e["actor"]["login"]) for e in events}
    assert told == {
        ("renamed", "bob"), ("assigned", "bob"), ("commented", "octo"), ("closed", "octo"), ("reopened", "bob"),
    }  # fmt: skip
    assert next(e for e in events if e["event"] == "renamed")["rename"] == {"from": "Old title", "to": "New title"}
    assert [a["login"] for a in (await world.octo.get(f"{REPO}/issues/1")).json()["assignees"]] == ["bob"]
    gone = await world.octo.request("DELETE", f"{REPO}/issues/1/assignees", json={"assignees": ["bob"]})
    assert gone.json()["assignees"] == []
    everywhere = (await world.octo.get(f"{REPO}/issues/events")).json()
    assert (everywhere[0]["event"], everywhere[0]["issue"]["number"]) == ("unassigned", 1)


async def test_search(world: World):
    await world.issue("Broken sum", labels=["bug"])
    await world.issue("Other")
    query = 'repo:octo/demo is:issue is:open label:bug "sum"'
    found = (await world.octo.get("/search/issues", params={"q": query})).json()
    assert [item["number"] for item in found["items"]] == [1]
    assert (await world.octo.get("/search/issues", params={"q": ""})).status_code == 422
