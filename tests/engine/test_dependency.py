"""What tasks depend on, from the links and the words to the start: read when it matters, seen when it changes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.actions import Refused, StartRun
from nightcrew.core.errors import Missing, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.issue import Permission, Standing
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import DependencySettings, ParentMode, ProjectSettings
from nightcrew.core.policy.depending import CIRCLE, NOT_PLANNED
from tests.engine.part import PERSON, PROJECT, STRANGER
from tests.engine.stage import Stage

OTHER = "acme/tools"


def plain(stage: Stage) -> TaskKey:
    """An issue that is no task."""
    return TaskKey(PROJECT, stage.forge.open_issue(PROJECT, author=PERSON).number)


def close(stage: Stage, key: TaskKey, closed_as: Standing = Standing.COMPLETED) -> None:
    stage.clock.advance(2)
    stage.forge.set_open(key.project, key.number, is_open=False, closed_as=closed_as)


async def test_a_linked_issue_is_waited_for_until_it_is_done(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    stage.forge.link(PROJECT, key.number, blocker=first)
    await stage.settle()
    assert stage.wait(key).code == "depends"
    assert f"#{first.number}" in stage.wait(key).words
    assert stage.runs(key) == []
    close(stage, first)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_chain_of_tasks_is_done_in_its_order(tmp_path):
    stage = Stage(tmp_path)
    first, second, third = stage.file("One"), stage.file("Two"), stage.file("Three")
    stage.forge.link(PROJECT, first.number, blocker=second)
    stage.forge.link(PROJECT, second.number, blocker=third)
    for _ in range(4):
        await stage.later()
    assert [stage.task(key).status for key in (first, second, third)] == [Status.DONE] * 3
    began = {key: stage.runs(key)[0].created_at for key in (first, second, third)}
    assert began[third] < began[second] < began[first]


@pytest.mark.case("C244")
async def test_a_part_that_was_finished_while_the_service_was_down_frees_its_parent(tmp_path):
    stage = Stage(tmp_path)
    parent, child = stage.file("Whole"), stage.file("Part", labels=("nightcrew", "no-agent"))
    stage.forge.link(PROJECT, parent.number, child=child)
    await stage.settle()
    assert stage.wait(parent).code == "depends"
    close(stage, child)
    await stage.restart()
    await stage.later()
    assert stage.task(parent).status is Status.DONE
    assert len(stage.runs(parent)) == 2


async def test_a_parent_may_be_closed_with_its_parts(tmp_path):
    closing = ProjectSettings(PROJECT, dependencies=DependencySettings(ParentMode.CLOSE))
    stage = Stage(tmp_path, projects=(closing,))
    parent, child = stage.file("Whole"), stage.file("Part")
    stage.forge.link(PROJECT, parent.number, child=child)
    await stage.settle()
    await stage.later()
    assert stage.task(parent).status is Status.DONE
    assert stage.runs(parent) == []
    assert not stage.issue(parent).is_open


async def test_words_of_people_count_and_those_of_strangers_and_bots_do_not(tmp_path):
    stage = Stage(tmp_path)
    first = plain(stage)
    words = f"This is blocked by #{first.number}."
    held = stage.file("Held", body=words)
    by_comment = stage.file("Held by a comment")
    stage.forge.comment(PROJECT, by_comment.number, body=words, author=PERSON)
    free = stage.file("Free")
    stage.forge.comment(PROJECT, free.number, body=words, author=STRANGER)
    stage.forge.comment(PROJECT, free.number, body=words, author="robot", is_bot=True)
    strange = stage.file("By a stranger", author=STRANGER, labels=(), body=words)
    stage.forge.label(PROJECT, strange.number, "nightcrew", actor=PERSON)
    await stage.settle()
    await stage.later()
    assert {stage.wait(key).code for key in (held, by_comment)} == {"depends"}
    assert stage.task(free).status is stage.task(strange).status is Status.DONE
    close(stage, first)
    await stage.later()
    assert stage.task(held).status is stage.task(by_comment).status is Status.DONE


async def test_taking_the_words_back_frees_it(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    said = stage.forge.comment(PROJECT, key.number, body=f"depends on #{first.number}", author=PERSON)
    await stage.settle()
    assert stage.wait(key).code == "depends"
    stage.forge.edit_comment(PROJECT, said.id, body=f"~~depends on #{first.number}~~")
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_issues_of_other_projects(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))
    there = stage.forge.open_issue(OTHER, author=PERSON)
    key = stage.file(body=f"depends on Acme/Tools#{there.number}")
    strange = stage.file(body="depends on far/away#1")
    await stage.settle()
    assert stage.wait(key).words == f"it waits for {OTHER}#{there.number}"
    assert stage.wait(strange).code == "dependencies_unknown"
    assert "far/away is not a configured project" in stage.wait(strange).words
    close(stage, TaskKey(OTHER, there.number))
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_pull_request_may_be_depended_on(tmp_path):
    stage = Stage(tmp_path)
    first = stage.file("First", labels=("nightcrew", "hold"))
    await stage.settle()
    key = stage.file("Second", body=f"depends on #{stage.number(first)}")
    await stage.later()
    assert stage.wait(key).code == "depends"
    stage.forge.unlabel(PROJECT, first.number, "hold")
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_list_that_cannot_be_read_is_waited_for(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    stage.forge.link(PROJECT, key.number, blocker=first)
    close(stage, first)
    stage.forge.fail("list_blockers", Unavailable("a bad gateway"), times=4)
    await stage.settle()
    assert stage.wait(key).code == "dependencies_unknown"
    assert "a bad gateway" in stage.wait(key).words
    assert stage.runs(key) == []
    for _ in range(5):
        await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_forge_without_such_links_is_asked_once(tmp_path):
    stage = Stage(tmp_path)
    for method in ("list_blockers", "list_children"):
        stage.forge.fail(method, Missing("there is no such thing"))
    keys = [stage.file(f"{number}", labels=("nightcrew", "no-agent")) for number in range(3)]
    for key in keys:
        stage.forge.edit_issue(PROJECT, key.number, blockers=None, children=None)  # type: ignore[arg-type]  # as told
    await stage.settle()
    for _ in range(3):
        await stage.later()
    assert {stage.wait(key).code for key in keys} == {"no_agent"}
    asked = [method for method, _ in stage.forge.calls if method in ("list_blockers", "list_children")]
    assert len(asked) <= 2 * len(keys), "once, but for those that were read at the same time"


async def test_nothing_is_asked_about_a_task_without_links(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file(labels=("nightcrew", "no-agent"))
    await stage.settle()
    await stage.later()
    assert stage.wait(key).code == "no_agent"
    methods = {method for method, _ in stage.forge.calls}
    assert not methods & {"list_blockers", "list_children"}


async def test_a_blocker_that_is_not_planned_asks_and_a_word_starts_it(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    stage.forge.link(PROJECT, key.number, blocker=first)
    close(stage, first, Standing.NOT_PLANNED)
    await stage.settle()
    assert stage.block(key).code == NOT_PLANNED
    assert stage.statuses(key) == ("status:blocked",)
    stage.clock.advance(2)
    stage.forge.comment(PROJECT, key.number, body="/start", author=PERSON)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_blocked_task_goes_on_when_its_blocker_is_opened_and_done(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    stage.forge.link(PROJECT, key.number, blocker=first)
    close(stage, first, Standing.NOT_PLANNED)
    await stage.settle()
    stage.forge.set_open(PROJECT, first.number, is_open=True)
    await stage.later()
    assert stage.wait(key).code == "depends"
    close(stage, first)
    await stage.later()
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize("label", ["status:routed", "status:new"])
async def test_a_label_set_by_hand_starts_it_as_well(tmp_path, label):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    stage.forge.link(PROJECT, key.number, blocker=first)
    close(stage, first, Standing.NOT_PLANNED)
    await stage.settle()
    stage.set_label(key, label)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_circle_is_told_once_on_each_issue_and_ends_with_a_link(tmp_path):
    stage = Stage(tmp_path)
    one, two = stage.file("One"), stage.file("Two")
    stage.forge.link(PROJECT, one.number, blocker=two)
    stage.forge.link(PROJECT, two.number, child=one)
    await stage.settle()
    assert {stage.block(key).code for key in (one, two)} == {CIRCLE}
    for _ in range(3):
        await stage.later()
    for key in (one, two):
        assert stage.moves(key).count("blocked") == 1
    stage.forge.unlink(PROJECT, one.number, two)
    for _ in range(3):
        await stage.later()
    assert stage.task(one).status is stage.task(two).status is Status.DONE


async def test_a_person_starts_it_from_the_command_line(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file()
    stage.forge.link(PROJECT, key.number, blocker=first)
    await stage.settle()
    answer = await stage.facade.start_task(key)
    assert answer.changed
    assert not (await stage.facade.start_task(key)).changed
    await stage.restart()
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_who_may_write_by_now_counts(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].permissions[STRANGER] = Permission.WRITE
    first = plain(stage)
    key = stage.file(author=STRANGER, body=f"blocked by #{first.number}")
    await stage.settle()
    assert stage.wait(key).code == "depends"


async def test_a_link_that_no_list_shows_yet_is_seen_before_the_start(tmp_path):
    stage = Stage(tmp_path)
    first, key = plain(stage), stage.file(labels=("nightcrew", "no-agent"))
    await stage.settle()
    stage.forge.link(PROJECT, key.number, blocker=first)
    thread = stage.forge.thread(PROJECT, key.number)
    thread.issue = replace(thread.issue, updated_at=stage.clock.now() - timedelta(days=1))  # the link moves no time
    action = StartRun(key, stage.task(key).status, Role.AUTHOR, "ann", "", 1, 60.0, "now")
    outcome = await stage.act(action)
    assert isinstance(outcome, Refused)
    assert outcome.why == f"it waits for #{first.number}"
    close(stage, first)
    again = await stage.act(action)
    assert isinstance(again, Refused)
    assert again.why == "its status is new by now", "what it depends on is no reason any more"
