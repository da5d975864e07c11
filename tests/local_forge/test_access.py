"""Tokens, privacy, renames, blocks and what is gone: each with GitHub's status and body."""

import json
from datetime import timedelta

import pytest

from tests.local_forge.world import REPO, World


async def test_credentials(world: World):
    bad, nobody = world.client("no-such-token"), world.client(None)
    refused = await bad.get("/user")
    assert (refused.status_code, refused.json()["message"]) == (401, "Bad credentials")
    assert (await bad.get(REPO)).status_code == 401
    assert (await nobody.get("/user")).json()["message"] == "Requires authentication"
    public = await nobody.get(REPO)
    assert (public.status_code, public.headers["x-ratelimit-limit"]) == (200, "60")
    assert (await nobody.post(f"{REPO}/issues", json={"title": "x"})).status_code == 401
    world.forge.add_token("octo", "short-lived", expires_at=world.clock() + timedelta(hours=1))
    short = world.client("short-lived")
    assert (await short.get("/user")).json()["login"] == "octo"
    world.clock.move(3600)
    assert (await short.get("/user")).status_code == 401
    basic = await nobody.get("/user", auth=("octo", "token-octo"))
    assert basic.json()["login"] == "octo"
    for client in (bad, nobody, short):
        await client.aclose()


async def test_private_is_not_found_for_outsiders(world: World):
    world.forge.configure("octo/demo", private=True)
    await world.issue()
    for path in ("", "/issues", "/issues/1", "/git/ref/heads/main"):
        refused = await world.eve.get(REPO + path)
        assert (refused.status_code, refused.json()["message"]) == (404, "Not Found")
    assert (await world.eve.post(f"{REPO}/issues", json={"title": "x"})).status_code == 404
    assert (await world.bob.get(REPO)).json()["private"] is True
    world.forge.set_permission("octo/demo", "bob", "none")
    assert (await world.bob.get(REPO)).status_code == 404


async def test_fine_grained_token_says_what_it_lacks(world: World):
    world.forge.add_token("octo", "fine", permissions={"issues": "read", "statuses": "write"})
    fine = world.client("fine")
    assert (await fine.get(f"{REPO}/issues")).status_code == 200
    denied = await fine.post(f"{REPO}/issues", json={"title": "x"})
    assert denied.status_code == 403
    assert denied.json()["message"] == "Resource not accessible by personal access token"
    assert denied.headers["x-accepted-github-permissions"] == "issues=write"
    assert (await fine.get(f"{REPO}/commits/main/check-runs")).status_code == 403
    sha = world.bare_git("rev-parse", "main")
    assert (await fine.post(f"{REPO}/statuses/{sha}", json={"state": "success"})).status_code == 201
    await fine.aclose()


@pytest.mark.case("C018")
async def test_renamed_repository_redirects_with_the_method_kept(world: World):
    await world.issue()
    world.forge.rename_repository("octo/demo", "fresh")
    read = await world.octo.get(f"{REPO}/issues?state=all")
    assert (read.status_code, read.json()["message"]) == (301, "Moved Permanently")
    assert read.headers["location"] == "http://forge.test/repositories/1/issues?state=all"
    written = await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "x"})
    assert written.status_code == 307
    again = await world.octo.post(written.headers["location"], json={"body": "x"})
    assert (again.status_code, again.json()["issue_url"]) == (201, "http://forge.test/repos/octo/fresh/issues/1")
    assert (await world.octo.get("/repos/octo/fresh/issues/1")).json()["comments"] == 1
    assert world.clone().git("rev-parse", "HEAD")
    await world.forge.create_repository("octo/demo", files={"new": "one"})
    assert (await world.octo.get(REPO)).json()["id"] == 2


async def test_gone_and_disabled(world: World):
    await world.issue()
    await world.issue()
    world.forge.delete_issue("octo/demo", 1)
    gone = await world.octo.get(f"{REPO}/issues/1")
    assert (gone.status_code, gone.json()["message"]) == (410, "This issue was deleted")
    assert (await world.octo.post(f"{REPO}/issues/1/comments", json={"body": "x"})).status_code == 410
    assert [i["number"] for i in (await world.octo.get(f"{REPO}/issues")).json()] == [2]
    assert (await world.octo.get(f"{REPO}/issues/99")).status_code == 404
    world.forge.configure("octo/demo", has_issues=False)
    disabled = await world.octo.post(f"{REPO}/issues", json={"title": "x"})
    assert (disabled.status_code, disabled.json()["message"]) == (410, "Issues are disabled for this repo")


async def test_blocked_repository(world: World):
    world.forge.block_repository("octo/demo", reason="dmca")
    await world.forge.create_repository("octo/other", files={"a": "a"})
    blocked = await world.octo.get(f"{REPO}/issues")
    assert (blocked.status_code, blocked.json()["message"]) == (451, "Repository access blocked")
    assert blocked.json()["block"]["reason"] == "dmca"
    assert (await world.octo.get("/repos/octo/other")).status_code == 200


async def test_collaborator_permission(world: World):
    async def permission(login: str) -> tuple[str, str]:
        body = (await world.octo.get(f"{REPO}/collaborators/{login}/permission")).json()
        return body["permission"], body["role_name"]

    assert await permission("octo") == ("admin", "admin")
    assert await permission("bob") == ("write", "write")
    assert await permission("eve") == ("read", "read")
    world.forge.set_permission("octo/demo", "eve", "triage")
    assert await permission("eve") == ("read", "triage")
    assert (await world.octo.get(f"{REPO}/collaborators/nobody/permission")).status_code == 404
    denied = await world.eve.get(f"{REPO}/collaborators/bob/permission")
    assert denied.json()["message"] == "Must have push access to view collaborator permission."
    people = (await world.octo.get(f"{REPO}/collaborators")).json()
    assert [p["login"] for p in people] == ["octo", "bob", "eve"]


@pytest.mark.parametrize(
    "body", [{"title": "x", "body": {"a": 1}}, {"title": "\ud800"}, {"title": "x", "labels": "a"}, [1], {"title": ""}]
)
async def test_odd_bodies_are_refused_and_make_nothing(world: World, body: object):
    content = json.dumps(body).encode()
    refused = await world.octo.post(f"{REPO}/issues", content=content)
    assert refused.status_code == 422
    assert (await world.octo.get(f"{REPO}/issues")).json() == []
    assert (await world.octo.get(f"{REPO}/issues/{10**30}")).status_code in {404, 422}
    assert (await world.octo.post(f"{REPO}/issues", content=b"{")).status_code == 400


async def test_what_every_answer_carries(world: World):
    answer = await world.octo.get("/")
    assert answer.json()["rate_limit_url"] == "http://forge.test/rate_limit"
    assert answer.headers["x-github-media-type"] == "github.v3; format=json"
    other = await world.octo.get("/nothing/here")
    assert (other.status_code, other.json()["message"]) == (404, "Not Found")
    assert answer.headers["x-github-request-id"] != other.headers["x-github-request-id"]
    broken = await world.octo.post(
        f"{REPO}/issues", content=b"null", headers={"Content-Type": "application/json", "X-Odd": "1"}
    )
    assert broken.status_code == 422
