"""Accounts and repositories: permissions, deleted accounts, and where git talks to."""

import base64

import pytest

from nightcrew.core.errors import Denied, Invalid, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.issue import Permission
from nightcrew.core.model.merge import MergeMethod
from nightcrew.forges.github.repository import may_carry_token
from tests.adapters.github.stage import HEAD, OTHER, TOKEN, Reply, Script, forge_over, issue_json

HOME = {"id": 77, "full_name": "o/r", "default_branch": "trunk", "clone_url": "https://forge.test/o/r.git"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"permission": "admin", "role_name": "admin"}, Permission.ADMIN),
        ({"permission": "write", "role_name": "maintain"}, Permission.MAINTAIN),
        ({"permission": "write", "role_name": "our-own-role"}, Permission.WRITE),
        ({"permission": "read", "role_name": "triage"}, Permission.TRIAGE),
        ({"permission": "read"}, Permission.READ),
        ({"permission": "none", "role_name": None}, Permission.NONE),
        ({"permission": "superuser"}, Permission.NONE),
    ],
)
async def test_permissions(answer, expected):
    script = Script()
    script.on("GET", "/repos/o/r/collaborators/ada/permission", Reply(200, answer))
    async with forge_over(script) as forge:
        assert await forge.fetch_permission("o/r", "ada") is expected


async def test_an_unknown_account_may_nothing_but_an_unseen_repository_is_no_answer():
    script = Script()
    async with forge_over(script) as forge:
        with pytest.raises(Missing):
            await forge.fetch_permission("o/r", "nobody")
        script.on("GET", "/repos/o/r", Reply(200, HOME))
        assert await forge.fetch_permission("o/r", "dependabot[bot]") is Permission.NONE
        assert await forge.fetch_permission("o/r", "../../user") is Permission.NONE


@pytest.mark.case("C008")
async def test_the_ghost_may_nothing_and_is_not_asked_for():
    script = Script()
    async with forge_over(script) as forge:
        assert await forge.fetch_permission("o/r", "ghost") is Permission.NONE
    assert script.asked == []


@pytest.mark.case("C008")
async def test_deleted_accounts_on_issues_and_comments():
    script = Script()
    script.on("GET", "/repos/o/r/issues/1", Reply(200, issue_json(1, user=None, body=None, labels=["plain", None, {}])))
    comment = {
        "id": 3,
        "user": None,
        "body": None,
        "created_at": "2026-11-01T08:00:00Z",
        "updated_at": "2026-11-01T08:00:00Z",
    }
    script.on("GET", "/repos/o/r/issues/1/comments", Reply(200, [comment]))
    async with forge_over(script) as forge:
        issue = await forge.fetch_issue("o/r", 1)
        assert (issue.author, issue.body, issue.labels) == ("ghost", "", ("plain",))
        assert (await forge.list_comments("o/r", 1))[0].author == "ghost"


async def test_a_repository_as_a_writer_and_as_a_reader_sees_it():
    script = Script()
    script.on("GET", "/repos/o/r", Reply(200, {**HOME, "permissions": {"push": True}, "allow_merge_commit": False}))
    async with forge_over(script) as forge:
        repository = await forge.fetch_repository("o/r")
        assert (repository.default_branch, repository.can_push, repository.is_private) == ("trunk", True, False)
        assert repository.merge_methods == {MergeMethod.SQUASH, MergeMethod.REBASE}
        script.on("GET", "/repos/o/r", Reply(200, {**HOME, "permissions": {"push": True}, "archived": True}))
        assert not (await forge.fetch_repository("o/r")).can_push
        script.on("GET", "/repos/o/r", Reply(200, {**HOME, "permissions": {"pull": True}}))
        repository = await forge.fetch_repository("o/r")
        assert not repository.can_push
        assert len(repository.merge_methods) == 3


async def test_git_gets_its_credentials_by_variables_only():
    script = Script()
    script.on("GET", "/repos/o/r", Reply(200, HOME))
    async with forge_over(script) as forge:
        remote = await forge.fetch_remote("o/r")
    assert remote.url == "https://forge.test/o/r.git"
    assert remote.env["GIT_CONFIG_KEY_0"] == "http.https://forge.test/.extraHeader"
    scheme, _, encoded = remote.env["GIT_CONFIG_VALUE_0"].removeprefix("Authorization: ").partition(" ")
    assert scheme == "Basic"
    assert base64.b64decode(encoded).decode() == f"x-access-token:{TOKEN.value}"


@pytest.mark.parametrize(
    ("clone_url", "api", "allowed"),
    [
        ("https://github.com/o/r.git", "https://api.github.com", True),
        ("https://acme.ghe.com/o/r.git", "https://api.acme.ghe.com", True),
        ("https://git.corp/o/r.git", "https://git.corp/api/v3", True),
        ("https://evil.test/o/r.git", "https://api.github.com", False),
        ("https://user:pw@github.com/o/r.git", "https://api.github.com", False),
        ("http://github.com/o/r.git", "https://api.github.com", False),
        ("http://127.0.0.1:9/o/r.git", "http://127.0.0.1:9", True),
        ("file:///srv/r.git", "http://127.0.0.1:9", False),
        ("/srv/r.git", "http://127.0.0.1:9", False),
        ("", "http://127.0.0.1:9", False),
    ],
)
def test_where_credentials_may_go(clone_url, api, allowed):
    assert may_carry_token(clone_url, api_base_url=api) is allowed


async def test_a_branch_is_found_by_its_whole_name():
    script = Script()
    refs = [
        {"ref": "refs/heads/nightcrew/42-x", "object": {"sha": OTHER}},
        {"ref": "refs/heads/nightcrew/4", "object": {"sha": HEAD}},
    ]
    script.on("GET", "/repos/o/r/git/matching-refs/heads/nightcrew/4", Reply(200, refs))
    async with forge_over(script) as forge:
        assert await forge.find_branch("o/r", "nightcrew/4") == Sha(HEAD)
        script.on("GET", "/repos/o/r/git/matching-refs/heads/nightcrew/4", Reply(200, refs[:1]))
        assert await forge.find_branch("o/r", "nightcrew/4") is None
        script.on(
            "GET", "/repos/o/r/git/matching-refs/heads/nightcrew/4", Reply(409, {"message": "Git Repository is empty."})
        )
        assert await forge.find_branch("o/r", "nightcrew/4") is None
        with pytest.raises(Missing):
            await forge.find_branch("o/gone", "nightcrew/4")


@pytest.mark.case("C183")
@pytest.mark.parametrize(("status", "message"), [(404, "Not Found"), (422, "Reference does not exist"), (204, "")])
async def test_a_branch_that_is_gone_is_deleted(status, message):
    script = Script()
    reply = Reply(status, {"message": message} if message else None)
    script.on("DELETE", "/repos/o/r/git/refs/heads/a/b", reply)
    async with forge_over(script) as forge:
        await forge.delete_branch("o/r", "a/b")
    assert len(script.asked) == 1


async def test_a_branch_that_may_not_be_deleted_is_not():
    script = Script()
    script.on(
        "DELETE", "/repos/o/r/git/refs/heads/main", Reply(422, {"message": "Cannot delete this protected branch"})
    )
    async with forge_over(script) as forge:
        with pytest.raises(Invalid, match="protected"):
            await forge.delete_branch("o/r", "main")


async def test_an_app_has_no_login_and_is_told_so():
    script = Script()
    script.on("GET", "/user", Reply(403, {"message": "Resource not accessible by integration"}))
    async with forge_over(script) as forge:
        with pytest.raises(Denied):
            await forge.fetch_login()
