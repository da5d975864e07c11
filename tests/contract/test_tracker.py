"""What every Tracker does, the fake as well as the real client."""

import pytest

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.core.model.issue import Permission, Standing
from nightcrew.core.model.merge import MergeMethod
from nightcrew.ports.tracker import LabelSpec
from tests.contract.forge_stage import BOT, PROJECT, Stage, minute, staged

SPEC = LabelSpec("ededed", "a label")


@pytest.fixture(params=["fake", "github"])
async def stage(request, tmp_path):
    async with staged(request.param, tmp_path / "forge") as made:
        yield made


async def pull_of(stage: Stage) -> int:
    """A pull request, which must never show up as an issue."""
    from nightcrew.ports.scm import NewPull

    await stage.push("work", {"work.py": "1\n"})
    return (await stage.forge.create_pull(PROJECT, NewPull("A change", "why", "work", "trunk"))).number


async def test_login(stage):
    assert await stage.forge.fetch_login() == BOT


async def test_an_issue_as_it_was_written(stage):
    number = await stage.open_issue(author="ada", title="Broken: `x` & ünïcode 🦉", body="first\r\nsecond <!-- x -->")
    issue = await stage.forge.fetch_issue(PROJECT, number)
    assert (issue.number, issue.title, issue.author) == (number, "Broken: `x` & ünïcode 🦉", "ada")
    assert (issue.body, issue.labels, issue.is_open, issue.comment_count) == ("first\r\nsecond <!-- x -->", (), True, 0)
    assert issue.created_at == issue.updated_at == stage.clock.now()


async def test_open_issues_are_all_open_ones_and_no_pull_requests(stage):
    first, second = await stage.open_issue(), await stage.open_issue()
    await pull_of(stage)
    assert {issue.number for issue in await stage.forge.list_open_issues(PROJECT)} == {first, second}
    await stage.forge.set_issue_open(PROJECT, first, is_open=False)
    assert [issue.number for issue in await stage.forge.list_open_issues(PROJECT)] == [second]


async def test_an_unchanged_list_is_the_very_same_object(stage: Stage) -> None:
    number = await stage.open_issue()
    await stage.comment(number, author="ada", body="hello")
    for read in (
        lambda: stage.forge.list_open_issues(PROJECT),
        lambda: stage.forge.list_updated_issues(PROJECT, known_at=stage.clock.now()),
        lambda: stage.forge.fetch_issue(PROJECT, number),
        lambda: stage.forge.list_comments(PROJECT, number),
        lambda: stage.forge.list_updated_comments(PROJECT, known_at=stage.clock.now()),
    ):
        assert await read() is await read()


async def test_updated_issues_are_newest_first_in_any_state_and_include_the_known_second(stage):
    old, middle = await stage.open_issue(), await stage.open_issue()
    minute(stage)
    known_at = stage.clock.now()
    await stage.forge.set_issue_open(PROJECT, middle, is_open=False)
    await pull_of(stage)
    minute(stage)
    new = await stage.open_issue()
    updated = await stage.forge.list_updated_issues(PROJECT, known_at=known_at)
    assert [(issue.number, issue.is_open) for issue in updated] == [(new, True), (middle, False)]
    minute(stage)
    await stage.forge.add_label(PROJECT, old, "status:new")
    again = await stage.forge.list_updated_issues(PROJECT, known_at=known_at)
    assert [issue.number for issue in again] == [old, new, middle]


async def test_a_pull_request_asked_for_by_its_number_is_seen_as_an_issue(stage):
    number = await pull_of(stage)
    seen = await stage.forge.fetch_issue(PROJECT, number)
    assert (seen.number, seen.title, seen.is_pull, seen.standing) == (number, "A change", True, Standing.OPEN)
    await stage.forge.set_pull_open(PROJECT, number, is_open=False)
    assert (await stage.forge.fetch_issue(PROJECT, number)).standing is Standing.NOT_PLANNED
    await stage.forge.set_pull_open(PROJECT, number, is_open=True)
    sha = (await stage.forge.fetch_pull(PROJECT, number)).head_sha
    merge = stage.forge.merge_pull
    await merge(PROJECT, number, sha=sha, method=MergeMethod.SQUASH, title="A change", message="")
    assert (await stage.forge.fetch_issue(PROJECT, number)).standing is Standing.COMPLETED


async def test_what_an_issue_is_linked_to(stage: Stage) -> None:
    one, two, three = [await stage.open_issue() for _ in range(3)]
    plain = await stage.forge.fetch_issue(PROJECT, one)
    assert (plain.is_pull, plain.blockers, plain.children) == (False, 0, 0)
    assert await stage.forge.list_blockers(PROJECT, one) == await stage.forge.list_children(PROJECT, one) == ()
    await stage.link(one, blocker=two)
    await stage.link(one, child=three)
    linked = await stage.forge.fetch_issue(PROJECT, one)
    assert (linked.blockers, linked.children) == (1, 1)
    blocker, child = (
        LinkedIssue(TaskKey(PROJECT, two), Standing.OPEN),
        LinkedIssue(TaskKey(PROJECT, three), Standing.OPEN),
    )
    assert await stage.forge.list_blockers(PROJECT, one) == (blocker,)
    assert await stage.forge.list_children(PROJECT, one) == (child,)
    assert await stage.forge.list_blockers(PROJECT, one) is await stage.forge.list_blockers(PROJECT, one)
    with pytest.raises(Missing):
        await stage.forge.list_children(PROJECT, 4711)


async def test_an_issue_becomes_a_sub_issue_of_one_other(stage: Stage) -> None:
    one, two, three = [await stage.open_issue() for _ in range(3)]
    await stage.forge.fetch_issue(PROJECT, two)  # what was read of it before does no harm
    await stage.forge.add_child(PROJECT, one, two)
    assert [child.key.number for child in await stage.forge.list_children(PROJECT, one)] == [two]
    for parent in (one, three):
        with pytest.raises(Invalid):
            await stage.forge.add_child(PROJECT, parent, two)
    with pytest.raises(Missing):
        await stage.forge.add_child(PROJECT, one, 4711)


@pytest.mark.parametrize("standing", [Standing.COMPLETED, Standing.NOT_PLANNED, Standing.DUPLICATE])
async def test_how_an_issue_was_closed(stage, standing):
    one, two = await stage.open_issue(), await stage.open_issue()
    await stage.link(one, blocker=two)
    await stage.close(two, reason=standing.value)
    assert (await stage.forge.fetch_issue(PROJECT, two)).standing is standing
    assert [link.standing for link in await stage.forge.list_blockers(PROJECT, one)] == [standing]
    await stage.forge.set_issue_open(PROJECT, two, is_open=True)
    assert [link.standing for link in await stage.forge.list_blockers(PROJECT, one)] == [Standing.OPEN]


async def test_what_is_not_there_is_missing(stage):
    number = await stage.open_issue()
    await stage.delete_issue(number)
    for call in (
        stage.forge.fetch_issue(PROJECT, number),
        stage.forge.fetch_issue(PROJECT, 4711),
        stage.forge.list_open_issues("crew/nowhere"),
        stage.forge.create_comment(PROJECT, 4711, body="hello"),
        stage.forge.update_comment(PROJECT, 4711, body="hello"),
        stage.forge.list_comments(PROJECT, 4711),
    ):
        with pytest.raises(Missing):
            await call
    assert await stage.forge.list_open_issues(PROJECT) == ()


async def test_issues_are_opened_with_labels(stage):
    issue = await stage.forge.create_issue(PROJECT, title="New", body="text", labels=("a", "b"))
    assert (issue.author, issue.title, issue.body) == (BOT, "New", "text")
    assert set((await stage.forge.fetch_issue(PROJECT, issue.number)).labels) == {"a", "b"}


async def test_comments_oldest_first_and_edited_in_place(stage):
    number = await stage.open_issue()
    theirs = await stage.comment(number, author="ada", body="one")
    ours = await stage.forge.create_comment(PROJECT, number, body="two")
    minute(stage)
    await stage.forge.update_comment(PROJECT, ours.id, body="zwei")
    await stage.forge.update_comment(PROJECT, ours.id, body="zwei")
    comments = await stage.forge.list_comments(PROJECT, number)
    assert [(comment.id, comment.author, comment.body) for comment in comments] == [
        (theirs, "ada", "one"),
        (ours.id, BOT, "zwei"),
    ]
    assert comments[1].updated_at > comments[1].created_at
    assert (await stage.forge.fetch_issue(PROJECT, number)).comment_count == 2


async def test_a_deleted_comment_is_not_listed_any_more(stage):
    number = await stage.open_issue()
    gone = await stage.comment(number, author="ada", body="one")
    await stage.forge.list_comments(PROJECT, number)
    await stage.delete_comment(gone)
    assert await stage.forge.list_comments(PROJECT, number) == ()
    with pytest.raises(Missing):
        await stage.forge.update_comment(PROJECT, gone, body="two")


async def test_updated_comments_of_the_whole_project_newest_change_first_with_the_known_second(stage: Stage) -> None:
    one, other, pull = await stage.open_issue(), await stage.open_issue(), await pull_of(stage)
    await stage.comment(one, author="ada", body="old")
    edited = await stage.forge.create_comment(PROJECT, one, body="first")
    minute(stage)
    known_at = stage.clock.now()
    await stage.comment(other, author="eve", body="known second")
    minute(stage)
    await stage.comment(pull, author="ada", body="on the pull request")
    minute(stage)
    await stage.forge.update_comment(PROJECT, edited.id, body="changed")
    found = await stage.forge.list_updated_comments(PROJECT, known_at=known_at)
    assert [(comment.thread, comment.author, comment.body) for comment in found] == [
        (one, BOT, "changed"),
        (pull, "ada", "on the pull request"),
        (other, "eve", "known second"),
    ]
    assert found[0].created_at < known_at < found[0].updated_at
    assert await stage.forge.list_updated_comments(PROJECT, known_at=stage.clock.now() + minute(stage)) == ()
    assert {comment.thread for comment in await stage.forge.list_comments(PROJECT, pull)} == {pull}


async def test_updated_comments_over_several_pages(stage: Stage) -> None:
    number = await stage.open_issue()
    known_at = stage.clock.now()
    for count in range(130):
        await stage.comment(number, author="ada", body=f"{count}")
    found = await stage.forge.list_updated_comments(PROJECT, known_at=known_at)
    assert sorted(int(comment.body) for comment in found) == list(range(130))


async def test_an_empty_comment_is_invalid(stage):
    with pytest.raises(Invalid):
        await stage.forge.create_comment(PROJECT, await stage.open_issue(), body="")


async def test_labels_are_added_and_removed_one_at_a_time_and_twice(stage):
    number = await stage.open_issue()
    await stage.label(number, "theirs", actor="ada")
    for _ in range(2):
        await stage.forge.add_label(PROJECT, number, "status:new")
    assert set((await stage.forge.fetch_issue(PROJECT, number)).labels) == {"theirs", "status:new"}
    for _ in range(2):
        await stage.forge.remove_label(PROJECT, number, "Status:NEW")
    assert (await stage.forge.fetch_issue(PROJECT, number)).labels == ("theirs",)


@pytest.mark.case("C014")
async def test_labels_keep_their_first_spelling(stage):
    number = await stage.open_issue()
    await stage.forge.ensure_labels(PROJECT, {"STATUS:Blocked": SPEC})
    await stage.forge.ensure_labels(PROJECT, {"status:blocked": SPEC, "status:new": SPEC})
    await stage.forge.add_label(PROJECT, number, "status:blocked")
    issue = await stage.forge.fetch_issue(PROJECT, number)
    assert issue.labels == ("STATUS:Blocked",)
    assert issue.has_label("status:blocked")


@pytest.mark.case("C015")
async def test_a_label_that_cannot_be_is_invalid_and_named(stage):
    with pytest.raises(Invalid, match="too-long"):
        await stage.forge.ensure_labels(PROJECT, {"too-long" + "x" * 50: SPEC})


@pytest.mark.case("C012")
async def test_a_hundred_labels_are_the_most(stage):
    number = await stage.open_issue()
    for count in range(100):
        await stage.label(number, f"label-{count}", actor="ada")
    with pytest.raises(Invalid):
        await stage.forge.add_label(PROJECT, number, "status:new")
    await stage.forge.remove_label(PROJECT, number, "label-7")
    await stage.forge.add_label(PROJECT, number, "status:new")
    assert len((await stage.forge.fetch_issue(PROJECT, number)).labels) == 100


async def test_closing_and_reopening_twice_is_once(stage):
    number = await stage.open_issue()
    for is_open in (False, False, True, True):
        await stage.forge.set_issue_open(PROJECT, number, is_open=is_open)
        assert (await stage.forge.fetch_issue(PROJECT, number)).is_open is is_open


async def test_who_put_a_label_on(stage):
    number = await stage.open_issue()
    await stage.label(number, "nightcrew", actor="ada")
    assert await stage.forge.find_label_actor(PROJECT, number, "NightCrew") == "ada"
    await stage.forge.remove_label(PROJECT, number, "nightcrew")
    await stage.label(number, "nightcrew", actor="eve")
    assert await stage.forge.find_label_actor(PROJECT, number, "nightcrew") == "eve"
    assert await stage.forge.find_label_actor(PROJECT, number, "other") is None


async def test_who_opened_an_issue_again(stage: Stage) -> None:
    number = await stage.open_issue()
    assert await stage.forge.find_reopener(PROJECT, number) is None
    await stage.forge.set_issue_open(PROJECT, number, is_open=False)
    await stage.label(number, "theirs", actor="ada")
    assert await stage.forge.find_reopener(PROJECT, number) is None
    await stage.forge.set_issue_open(PROJECT, number, is_open=True)
    assert await stage.forge.find_reopener(PROJECT, number) == BOT
    assert await stage.forge.find_label_actor(PROJECT, number, "theirs") == "ada"


@pytest.mark.parametrize("permission", [Permission.TRIAGE, Permission.WRITE, Permission.MAINTAIN, Permission.ADMIN])
async def test_permissions_of_people(stage, permission):
    await stage.permit("ada", permission)
    assert await stage.forge.fetch_permission(PROJECT, "ada") is permission


async def test_strangers_may_not_write(stage):
    await stage.open_issue(author="eve")
    for login in ("eve", "never-heard-of", "ghost", "some[bot]"):
        assert not (await stage.forge.fetch_permission(PROJECT, login)).can_write


async def test_labels_are_listed_as_they_are_spelled(stage):
    await stage.forge.ensure_labels(PROJECT, {"STATUS:Blocked": SPEC, "nightcrew": SPEC})
    assert {"STATUS:Blocked", "nightcrew"} <= set(await stage.forge.list_labels(PROJECT))
    with pytest.raises(Missing):
        await stage.forge.list_labels("acme/nowhere")
