"""What is answered about what is: names of tasks, sentences, runs, output."""

import asyncio
from dataclasses import replace

import pytest

from nightcrew.core.errors import Conflict, Missing, Unavailable
from nightcrew.core.ids import RunId
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.render import MARK
from nightcrew.engine.reading import Reader, Show, Sight
from tests.engine.part import PROJECT, says
from tests.engine.stage import Stage

OTHER = "acme/gadget"


async def routed(stage: Stage, **fields):
    key = stage.file(**fields)
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    return key


# Projects that are no longer configured


@pytest.mark.case("C111")
async def test_a_task_of_a_project_that_was_taken_out_says_so(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))
    key = stage.file(project=OTHER)
    await stage.until(lambda: key in stage.store.tasks)
    stage.settings = replace(stage.settings, projects={PROJECT: stage.settings.projects[PROJECT]})
    await stage.restart()
    await stage.settle()
    code, sentence = await stage.summary(key)
    assert code == "project_inactive"
    assert OTHER in sentence
    assert "project add" in sentence
    assert [summary.task.key for summary in await stage.facade.list_tasks()] == [key]
    for command in ("retry_task", "close_task", "unblock_task", "load_diff"):
        with pytest.raises(Conflict, match="not configured"):
            await getattr(stage.facade, command)(key)
    assert stage.runs(key) == []


# Answers


@pytest.mark.case("C211")
async def test_a_task_is_never_guessed(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))
    one, other = stage.file(), stage.file(project=OTHER)
    only = stage.file()
    await stage.settle()
    resolve = stage.facade.resolve_task
    assert await resolve(str(one)) == one
    assert await resolve(f" {other} ") == other
    assert await resolve("gadget#1") == other
    assert await resolve(f"{only.number}") == await resolve(f"#{only.number}") == only
    with pytest.raises(Conflict, match=r"acme/gadget#1, acme/widget#1"):
        await resolve("1")
    for text in (
        "99",
        "acme/widget#99",
        "acme/none#1",
        "none#1",
        "acme/widget",
        "x",
        "",
        "#",
        "widget#",
        "widget#٣",
        "1;rm",
    ):
        with pytest.raises(Missing):
            await resolve(text)


async def test_sentences_say_why_what_next_and_when(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    running = (await stage.facade.get_task(key)).summary
    assert running.sentence.startswith(
        "It is in_progress: ann works on it. The result is collected as soon as it ends."
    )
    assert "By 2026-03-04 13:00 UTC at the latest" in running.sentence
    assert running.open_run is not None
    assert running.open_run.agent == "ann"
    assert running.url.endswith(f"/{key.project}/issues/{key.number}")
    stage.auto_ci = False
    await stage.settle()
    assert "no check has succeeded" in (await stage.facade.get_task(key)).summary.sentence
    stage.auto_ci = True
    await stage.later()
    detail = await stage.facade.get_task(key)
    assert detail.summary.sentence.startswith("It is merged (")
    assert [run.role for run in detail.runs] == [Role.AUTHOR, Role.REVIEWER]
    assert len(detail.verdicts) == 1
    assert detail.events[-1].id > detail.events[0].id
    assert detail.workspace == ""
    assert await stage.facade.list_tasks() == ()
    assert len(await stage.facade.list_tasks(include_done=True)) == 1


async def test_a_question_is_shown_as_one(tmp_path):
    stage = Stage(tmp_path)
    stage.order("ann", says(ReportedOutcome.NEEDS_INPUT, question="left or right?"))
    key = stage.file()
    await stage.settle()
    code, sentence = await stage.summary(key)
    assert code == "blocked"
    assert sentence == "It is blocked: ann asks: left or right? Answer with a comment on the issue."
    assert [summary.task.key for summary in await stage.facade.list_tasks(project=PROJECT)] == [key]


async def test_while_no_service_runs_the_reader_says_so(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    blocked = stage.file("other")
    await stage.later(play=False)
    await stage.facade.block_task(blocked, why="wait")
    reader = Reader(
        stage.store, stage.clock, lambda: stage.settings, home=tmp_path, version="1", sight=Sight,
        show=Show(lambda _folder, line: line.decode(), str, str),
    )  # fmt: skip
    status = await reader.status()
    assert (status.running, status.projects[0].tasks) == (False, {"in_progress": 1, "blocked": 1})
    assert status.agents[0].available is None
    assert status.agents[0].running == 1
    waits = {found.task.key: found.wait.code for found in await reader.list_tasks() if found.wait is not None}
    assert waits == {key: "service_down", blocked: "blocked"}


async def test_runs_their_prompts_and_their_output(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    run = stage.runs(key)[0]
    assert (await stage.facade.read_log(run.id)).text == ""
    stage.runtime.write(run.session, b"one\ntwo\nhalf")
    piece = await stage.facade.read_log(run.id, limit=5)
    assert (piece.text, piece.next_offset, piece.ended) == ("one\n", 4, False)
    piece = await stage.facade.read_log(run.id, offset=4)
    assert (piece.text, piece.next_offset, piece.ended) == ("two\n", 8, False)
    stage.finish(run.session, output=b" \x1b[31mred\x1b[0m \xff\n")
    await stage.tick()
    piece = await stage.facade.read_log(run.id, offset=8, raw=True)
    assert piece.ended
    assert "\x1b" not in piece.text
    assert piece.text.startswith("half ")
    long_line = await stage.facade.read_log(run.id, offset=0, limit=2)
    assert (long_line.text, long_line.next_offset) == ("on\n", 2)
    assert (await stage.facade.read_log(run.id, offset=10_000)).next_offset == piece.next_offset
    detail = await stage.facade.get_run(run.id)
    assert "Turn it round" in detail.prompt
    assert detail.folder == str(tmp_path / run.folder)
    assert [found.id for found in await stage.facade.list_runs(task=key)] == [item.id for item in stage.runs(key)]
    assert len(await stage.facade.list_events(task=key, limit=2)) == 2
    with pytest.raises(Missing):
        await stage.facade.read_log(RunId("01NOTHING"))


async def test_a_log_that_is_a_link_is_not_followed(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    run = stage.runs(key)[0]
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    (tmp_path / run.folder / "stdout.log").symlink_to(secret)
    assert (await stage.facade.read_log(run.id)).text == ""


async def test_a_hundred_retries_at_once_are_one(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    await stage.facade.block_task(key, why="x")
    await stage.settle()

    async def retry() -> str:
        try:
            return (await stage.facade.retry_task(key)).words
        except (Conflict, Unavailable) as error:
            return str(error)

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(retry()) for _ in range(100)]
    assert {task.result() for task in asked} <= {f"{key} is new", f"{key} is new already"}
    assert stage.moves(key).count("new") == 1
    await stage.settle()
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize("text", ["Acme/Widget#1", "acme/WIDGET#1", "Widget#1"])
async def test_capital_letters_make_no_other_project(tmp_path, text):
    stage = Stage(tmp_path)
    key = await routed(stage)
    assert await stage.facade.resolve_task(text) == key
    assert [summary.task.key for summary in await stage.facade.list_tasks(project="ACME/widget")] == [key]
    assert "acme/widget is paused" in (await stage.facade.set_paused(paused=True, project="Acme/Widget")).words
    answer = await stage.facade.add_task("ACME/WIDGET", title="Another", body="")
    assert str(answer.data["task"]).startswith("acme/widget#")


async def test_a_comment_that_somebody_deleted_and_that_was_written_anew_unseen_is_not_written_a_third_time(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    known = stage.task(key).comment_id
    assert known is not None
    stage.forge.delete_comment(PROJECT, known)
    # A service wrote it anew and died before it knew.
    again = stage.forge.comment(PROJECT, key.number, body=f"{MARK}\nsoon", author=stage.forge.login)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.comments(key)) == 1
    assert stage.task(key).comment_id == again.id
