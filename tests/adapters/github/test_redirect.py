"""Redirects: renamed repositories, transferred issues, logs on other hosts."""

import pytest

from nightcrew.core.errors import Missing, Unavailable
from nightcrew.core.model.pull import Check, CheckState
from tests.adapters.github.stage import BASE, Reply, Script, forge_over, issue_json

SAID = {"id": 9, "created_at": "2026-11-01T08:00:00Z", "updated_at": "2026-11-01T08:00:00Z"}


def home_json(slug: str = "o/r") -> dict[str, object]:
    return {"id": 77, "full_name": slug, "default_branch": "main", "clone_url": f"https://forge.test/{slug}.git"}


def moved(path: str, status: int = 301) -> Reply:
    return Reply(status, {"message": "Moved Permanently"}, {"location": BASE + path})


@pytest.mark.case("C018")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_write_to_an_old_name_keeps_method_and_body(status):
    script = Script()
    script.on("POST", "/repos/o/r/issues/1/comments", moved("/repositories/77/issues/1/comments", status))
    script.on("POST", "/repositories/77/issues/1/comments", Reply(201, SAID))
    async with forge_over(script) as forge:
        assert (await forge.create_comment("o/r", 1, body="hello")).id == 9
    assert script.count("POST", "/repositories/77/") == 1
    assert script.asked[-1].body == {"body": "hello"}
    assert script.asked[-1].headers["authorization"].startswith("Bearer ")


async def test_a_renamed_repository_is_asked_for_by_its_id_from_then_on():
    script = Script()
    script.on("GET", "/repos/o/r", moved("/repositories/77"))
    script.on("GET", "/repositories/77", Reply(200, home_json("new/name")))
    script.on("GET", "/repositories/77/labels", Reply(200, []))
    script.on("GET", "/repositories/77/pulls", Reply(200, []))
    async with forge_over(script) as forge:
        assert (await forge.fetch_repository("o/r")).slug == "new/name"
        await forge.ensure_labels("o/r", {})
        assert await forge.find_pull("o/r", head_ref="work") is None
    assert script.count("", "/repos/") == 1
    assert "head=new%3Awork" in script.asked[-1].query


async def test_a_transferred_issue_is_missing_and_does_not_move_the_project():
    script = Script()
    script.on("GET", "/repos/o/r/issues/1", moved("/repositories/99/issues/1"))
    there = issue_json(1, repository_url=f"{BASE}/repos/else/where")
    script.on("GET", "/repositories/99/issues/1", Reply(200, there))
    script.on("GET", "/repos/o/r", Reply(200, home_json()))
    script.on("GET", "/repos/o/r/labels", Reply(200, []))
    async with forge_over(script) as forge:
        with pytest.raises(Missing, match="transferred"):
            await forge.fetch_issue("o/r", 1)
        await forge.ensure_labels("o/r", {})
    assert script.asked[-1].path == "/repos/o/r/labels"


async def test_an_issue_of_a_renamed_repository_is_read():
    script = Script()
    script.on("GET", "/repos/o/r/issues/1", moved("/repositories/77/issues/1"))
    script.on("GET", "/repositories/77/issues/1", Reply(200, issue_json(1, repository_url=f"{BASE}/repos/new/name")))
    script.on("GET", "/repos/o/r", moved("/repositories/77"))
    script.on("GET", "/repositories/77", Reply(200, home_json("new/name")))
    async with forge_over(script) as forge:
        assert (await forge.fetch_issue("o/r", 1)).number == 1


async def test_a_log_is_fetched_elsewhere_without_credentials_and_keeps_its_end():
    script = Script()
    where = {"location": "https://blob.test/log?sig=1"}
    script.on("GET", "/repos/o/r/actions/jobs/5/logs", Reply(302, None, where))
    script.on("GET", "/log", Reply(200, raw="\ufeff".encode() + b"start\n" + b"x" * 1_500_000 + b"\nthe end"))
    async with forge_over(script) as forge:
        check = Check("ci", CheckState.FAILURE, "check_run", summary="short", job_id=5)
        log = await forge.fetch_check_log("o/r", check)
        assert len(log) == 200_000
        assert log.endswith("the end")
        assert "authorization" not in script.asked[-1].headers
        script.on("GET", "/log", Reply(410, {"message": "expired"}))
        assert await forge.fetch_check_log("o/r", check) == "short"


async def test_credentials_stay_at_home():
    script = Script()
    script.on("GET", "/repos/o/r/issues/1", Reply(301, None, {"location": "https://evil.test/issue"}))
    script.on("GET", "/issue", Reply(200, issue_json()))
    script.on("POST", "/repos/o/r/issues/1/comments", Reply(307, None, {"location": "https://evil.test/comments"}))
    other_port = f"{BASE}:8443/user"
    script.on("GET", "/user", Reply(302, None, {"location": other_port}), Reply(200, {"login": "x"}))
    async with forge_over(script) as forge:
        await forge.fetch_issue("o/r", 1)
        await forge.fetch_login()
        assert sum("authorization" in one.headers for one in script.asked) == 2
        with pytest.raises(Unavailable, match="away from the forge"):
            await forge.create_comment("o/r", 1, body="hello")
    assert script.count("", "/comments") == 1


@pytest.mark.parametrize("location", ["", "file:///etc/passwd"])
async def test_redirects_to_nowhere_are_not_followed(location):
    script = Script()
    script.on("GET", "/user", Reply(302, None, {"location": location} if location else {}))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable):
            await forge.fetch_login()


async def test_a_circle_ends():
    script = Script()
    script.on("GET", "/user", moved("/user"))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="more than"):
            await forge.fetch_login()
    assert len(script.asked) == 6
