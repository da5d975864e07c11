"""Conditional requests: what is unchanged is free, the same object, and known after a restart."""

from typing import Any

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github import Token
from tests.adapters.github.stage import Asked, Reply, Script, forge_over, issue_json
from tests.fakes.store import MemoryStore

LIST = "/repos/o/r/issues"


class Tagged:
    """A resource with an ETag: 304 as long as it is the one asked with."""

    def __init__(self, body: Any, **headers: str) -> None:
        self.body, self.version, self.headers = body, 1, headers

    def __call__(self, asked: Asked) -> Reply:
        tag = f'W/"{self.version}"'
        if asked.headers.get("if-none-match") == tag:
            return Reply(304, None, {"etag": f'"{self.version}"'})
        return Reply(200, self.body, {"etag": tag, **self.headers})


async def test_an_unchanged_list_is_the_very_same_object_and_not_counted():
    script = Script()
    script.on("GET", LIST, Tagged([issue_json(1), issue_json(2)]))
    async with forge_over(script) as forge:
        first = await forge.list_open_issues("o/r")
        before = forge.traffic
        assert await forge.list_open_issues("o/r") is first
        delta = forge.traffic - before
        assert (delta.requests, delta.counted) == (1, 0)


async def test_a_changed_list_is_read_and_the_new_tag_is_used():
    script, issues = Script(), Tagged([issue_json(1)])
    script.on("GET", LIST, issues)
    async with forge_over(script) as forge:
        await forge.list_open_issues("o/r")
        issues.body, issues.version = [issue_json(1, title="new")], 2
        assert (await forge.list_open_issues("o/r"))[0].title == "new"
        await forge.list_open_issues("o/r")
        assert script.asked[-1].headers["if-none-match"] == 'W/"2"'


async def test_a_new_tag_on_the_same_content_gives_the_same_object():
    script, issues, issue = Script(), Tagged([issue_json(1)]), Tagged(issue_json(1))
    script.on("GET", LIST, issues)
    script.on("GET", f"{LIST}/1", issue)
    async with forge_over(script) as forge:
        first, alone = await forge.list_open_issues("o/r"), await forge.fetch_issue("o/r", 1)
        issues.version = issue.version = 2
        assert await forge.list_open_issues("o/r") is first
        assert await forge.fetch_issue("o/r", 1) is alone


async def test_after_a_restart_nothing_is_read_anew():
    script, store = Script(), MemoryStore()
    script.on("GET", LIST, Tagged([issue_json(1)]))
    async with forge_over(script, store=store) as forge:
        first = await forge.list_open_issues("o/r")
    async with forge_over(script, store=store) as forge:
        again = await forge.list_open_issues("o/r")
        assert again == first
        assert forge.traffic.counted == 0
        assert await forge.list_open_issues("o/r") is again


async def test_another_token_does_not_use_the_validators_of_this_one():
    script, store = Script(), MemoryStore()
    script.on("GET", LIST, Tagged([issue_json(1)]))
    async with forge_over(script, store=store) as forge:
        await forge.list_open_issues("o/r")
    async with forge_over(script, store=store, token=Token("another", "a test")) as forge:
        await forge.list_open_issues("o/r")
    assert "if-none-match" not in script.asked[-1].headers
    assert not any("ghp_" in one.principal or "another" in one.principal for one in store.validators.values())


async def test_validators_are_written_in_batches():
    script, store = Script(), MemoryStore()
    async with forge_over(script, store=store) as forge:
        for number in range(1, 41):
            script.on("GET", f"/repos/o/r/issues/{number}", Tagged(issue_json(number)))
            await forge.fetch_issue("o/r", number)
        assert len(store.validators) == 32
        await forge.flush()
        assert len(store.validators) == 40


async def test_a_store_in_trouble_costs_requests_and_nothing_else():
    script, store = Script(), MemoryStore()
    script.on("GET", LIST, Tagged([issue_json(1)]))
    store.trouble = Unavailable("locked")
    async with forge_over(script, store=store) as forge:
        first = await forge.list_open_issues("o/r")
        await forge.flush()
        assert await forge.list_open_issues("o/r") is first
        store.trouble = None
        await forge.flush()
        assert len(store.validators) == 1


async def test_a_stored_body_that_is_not_understood_is_read_anew():
    script, store = Script(), MemoryStore()
    script.on("GET", LIST, Tagged([issue_json(1)]))
    async with forge_over(script, store=store) as forge:
        await forge.list_open_issues("o/r")
    for key, one in store.validators.items():
        store.validators[key] = type(one)(one.url, one.principal, one.etag, one.link, b'[{"bad": 1}]', one.at)
    async with forge_over(script, store=store) as forge:
        assert (await forge.list_open_issues("o/r"))[0].number == 1
    assert "if-none-match" not in script.asked[-1].headers
