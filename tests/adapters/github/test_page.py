"""Lists over pages: whole, consistent, or an error; deltas that stop at what is known."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github.page import parse_next
from tests.adapters.github.stage import BASE, Asked, Reply, Script, forge_over, issue_json

LIST = "/repos/o/r/issues"
FIRST_DAY = datetime(2026, 11, 1, tzinfo=UTC)


class Pages:
    """A paged list as GitHub serves it: an ETag for each page, Links by the repository's id. `before_page` is called
    with the page's number first, to change the list while it is read."""

    def __init__(self, script: Script, entries: list[dict[str, Any]]) -> None:
        self.entries = entries
        self.links_on_304 = True
        self.before_page: Callable[[int], object] = lambda _page: None
        script.on("GET", LIST, self)
        script.on("GET", "/repositories/77/issues", self)

    def __call__(self, asked: Asked) -> Reply:
        query = dict(part.split("=") for part in asked.query.split("&"))
        page = int(query.get("page", "1"))
        self.before_page(page)
        part = self.entries[(page - 1) * 100 : page * 100]
        tag = f'"{page}-{hash(repr(part))}"'
        headers = {"etag": tag}
        if page * 100 < len(self.entries):
            at = f"{BASE}/repositories/77/issues?state={query['state']}"
            headers["link"] = f'<{at}&page={page + 1}>; rel="next", <{at}&page=9>; rel="last"'
        if asked.headers.get("if-none-match") == tag:
            return Reply(304, None, headers if self.links_on_304 else {"etag": tag})
        return Reply(200, part, headers)


def updated(number: int) -> dict[str, Any]:
    """An issue that changed `number` minutes after the first day began."""
    return issue_json(number, updated_at=(FIRST_DAY + timedelta(minutes=number)).isoformat().replace("+00:00", "Z"))


@pytest.mark.case("C010")
async def test_all_pages_are_read_by_their_links():
    script = Script()
    Pages(script, [issue_json(number) for number in range(1, 231)])
    async with forge_over(script) as forge:
        issues = await forge.list_open_issues("o/r")
        assert [issue.number for issue in issues] == list(range(1, 231))
        # Three pages, and the first two once more to see that nothing slipped over a border.
        assert len(script.asked) == 5
        before = forge.traffic
        assert await forge.list_open_issues("o/r") is issues
        assert (forge.traffic - before).requests == 3
        assert (forge.traffic - before).counted == 0


@pytest.mark.case("C009")
async def test_pull_requests_in_the_list_are_no_issues():
    script = Script()
    pulls = [issue_json(number, pull_request={"url": "x"}) for number in range(2, 5)]
    Pages(script, [*pulls, issue_json(1)])
    async with forge_over(script) as forge:
        assert [issue.number for issue in await forge.list_open_issues("o/r")] == [1]


async def test_an_entry_that_slips_over_the_border_while_reading_is_not_lost():
    script = Script()
    pages = Pages(script, [issue_json(number) for number in range(1, 151)])
    closed: list[int] = []

    def close_the_first(page: int) -> None:
        if page == 2 and not closed:
            closed.append(pages.entries.pop(0)["number"])

    pages.before_page = close_the_first
    async with forge_over(script) as forge:
        numbers = [issue.number for issue in await forge.list_open_issues("o/r")]
    assert numbers == list(range(2, 151))


async def test_a_list_that_never_holds_still_raises():
    script = Script()
    pages = Pages(script, [issue_json(number) for number in range(1, 400)])
    pages.before_page = lambda page: page == 2 and pages.entries.pop(0)
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="changed each time"):
            await forge.list_open_issues("o/r")


async def test_a_page_that_fails_fails_the_list():
    script = Script()
    pages = Pages(script, [issue_json(number) for number in range(1, 151)])
    script.on("GET", "/repositories/77/issues", Reply(502))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable):
            await forge.list_open_issues("o/r")
        script.on("GET", "/repositories/77/issues", pages)
        assert len(await forge.list_open_issues("o/r")) == 150


@pytest.mark.parametrize("links_on_304", [True, False])
async def test_one_more_entry_behind_a_full_last_page_is_seen(links_on_304):
    script = Script()
    pages = Pages(script, [issue_json(number) for number in range(1, 101)])
    pages.links_on_304 = links_on_304
    async with forge_over(script) as forge:
        assert len(await forge.list_open_issues("o/r")) == 100
        pages.entries.append(issue_json(101))
        assert len(await forge.list_open_issues("o/r")) == 101


async def test_a_change_on_page_two_alone_is_seen():
    script = Script()
    pages = Pages(script, [issue_json(number) for number in range(1, 151)])
    async with forge_over(script) as forge:
        before = await forge.list_open_issues("o/r")
        pages.entries[120] = issue_json(121, title="renamed")
        after = await forge.list_open_issues("o/r")
        assert after[120].title == "renamed"
        assert after[0] is before[0]


@pytest.mark.case("C001")
async def test_a_delta_reads_until_what_is_known_and_includes_the_same_second():
    script = Script()
    Pages(script, [updated(number) for number in range(450, 0, -1)])
    async with forge_over(script) as forge:
        known_at = FIRST_DAY + timedelta(minutes=301)
        issues = await forge.list_updated_issues("o/r", known_at=known_at)
        assert [issue.number for issue in issues] == list(range(450, 300, -1))
        assert len(script.asked) == 2
        assert "since" not in script.asked[0].query
        assert await forge.list_updated_issues("o/r", known_at=known_at) is issues


async def test_a_quiet_delta_costs_one_free_request():
    script = Script()
    Pages(script, [updated(number) for number in range(450, 0, -1)])
    async with forge_over(script) as forge:
        known_at = FIRST_DAY + timedelta(minutes=450)
        await forge.list_updated_issues("o/r", known_at=known_at)
        before = forge.traffic
        assert len(await forge.list_updated_issues("o/r", known_at=known_at)) == 1
        assert (forge.traffic - before).requests == 1
        assert (forge.traffic - before).counted == 0


async def test_an_issue_that_changes_during_a_delta_is_told_once_and_new():
    script = Script()
    pages = Pages(script, [updated(number) for number in range(250, 0, -1)])

    def touch(page: int) -> None:
        if page == 2:
            pages.entries.insert(0, issue_json(50, title="new", updated_at="2026-11-29T00:00:00Z"))

    pages.before_page = touch
    async with forge_over(script) as forge:
        issues = await forge.list_updated_issues("o/r", known_at=FIRST_DAY)
    numbers = [issue.number for issue in issues]
    assert len(numbers) == len(set(numbers)) == 250


async def test_of_an_issue_seen_twice_the_newer_is_kept():
    script = Script()
    newer = issue_json(1, title="newer", updated_at="2026-11-29T00:00:00Z")
    Pages(script, [newer, *(updated(number) for number in range(150, 0, -1))])
    async with forge_over(script) as forge:
        issues = await forge.list_updated_issues("o/r", known_at=FIRST_DAY)
    assert [issue.title for issue in issues if issue.number == 1] == ["newer"]


@pytest.mark.case("C001")
async def test_a_second_that_spans_a_border_is_read_to_its_end():
    script = Script()
    Pages(script, [issue_json(number) for number in range(1, 151)])
    async with forge_over(script) as forge:
        known_at = datetime(2026, 11, 2, 8, tzinfo=UTC)
        assert len(await forge.list_updated_issues("o/r", known_at=known_at)) == 150


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("", None),
        (f'<{BASE}/a?page=2>; rel="next", <{BASE}/a?page=5>; rel="last"', f"{BASE}/a?page=2"),
        (f'<{BASE}/a?q=x,y&page=1>; rel="prev", <{BASE}/a?q=x,y&page=3>; rel="next"', f"{BASE}/a?q=x,y&page=3"),
        (f'<{BASE}/a?page=1>; rel="first"', None),
    ],
)
def test_links(link, expected):
    assert parse_next(link, base_url=BASE) == expected


def test_a_next_page_on_another_server_is_refused():
    with pytest.raises(Unavailable):
        parse_next('<https://evil.test/a>; rel="next"', base_url=BASE)
