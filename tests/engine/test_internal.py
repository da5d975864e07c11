"""Internal tasks: the pipeline of all tasks, with no issue on the forge; reports; and issues made of them."""

import pytest

from nightcrew.core.errors import Conflict, Invalid, Missing, OutcomeUnknown, Unavailable
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey, parse_task_key
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.internal import Pins, TaskKind
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Role
from tests.engine.part import PROJECT, done, fails, outcome_of, says, wants_changes
from tests.engine.stage import Stage


async def added(stage: Stage, *, title: str = "Turn it round", body: str = "It turns left.", **more) -> TaskKey:
    answer = await stage.facade.add_internal_task(PROJECT, title=title, body=body, **more)
    return parse_task_key(str(answer.data["task"]))


async def reported(stage: Stage, text: str = "All is well.") -> TaskKey:
    """A report that its agent has written."""
    key = await added(stage, kind=TaskKind.REPORT)

    def edit(run):
        (stage.home / run.folder / "agent" / "answer.md").write_text(text, encoding="utf-8")

    stage.edit = edit
    await stage.settle()
    return key


def issues(stage: Stage) -> list[int]:
    return [n for n, thread in stage.forge.projects[PROJECT].threads.items() if thread.pull is None]


async def test_it_becomes_a_merged_pull_request_and_no_issue_is_ever_spoken_of(tmp_path):
    stage = Stage(tmp_path)
    key = await added(stage)
    assert str(key) == f"{PROJECT}#i1"
    await stage.settle()
    task, (pull,) = stage.task(key), stage.pulls()
    assert (task.status, task.moving_to, pull.is_merged) == (Status.DONE, None, True)
    assert stage.moves(key) == ["routed", "in_progress", "needs_review", "in_review", "done"]
    assert task.branch == "nightcrew/i1-turn-it-round"
    author, reviewer = stage.runs(key)
    assert (author.agent, reviewer.agent) == ("ann", "bob")
    assert author.session.endswith("-i1-author-1")
    assert author.folder.endswith("/i1/author-1")
    assert "Internal task i1" in pull.body
    assert "Closes" not in pull.body
    for method in ("create_issue", "add_label", "create_comment", "set_issue_open", "fetch_issue"):
        assert stage.count(method) == 0
    assert stage.runtime.sessions == {}
    assert stage.workspace.repository(PROJECT).trees == {}
    before = (stage.store.writes, len(stage.store.events))
    await stage.later()
    assert (stage.store.writes, len(stage.store.events)) == before


async def test_its_agents_are_told_its_text_and_a_review_sends_it_back(tmp_path):
    stage = Stage(tmp_path)
    key = await added(stage, body="It turns left, and should not.")
    stage.order("bob", wants_changes("the sign is wrong"), role=Role.REVIEWER)
    await stage.settle()
    assert (stage.task(key).status, stage.task(key).cycles) == (Status.DONE, 1)
    first, second = stage.runs(key, Role.AUTHOR)
    for run in (first, second):
        assert "i1 Turn it round\n\nIt turns left, and should not." in (tmp_path / run.folder / "prompt.md").read_text()


async def test_pins_choose_who_works_on_it(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = await added(stage, pins=Pins(agent="cat", complexity="simple"))
    await stage.settle()
    assert stage.runs(key)[0].agent == "cat"
    assert stage.route(key).complexity.value == "simple"
    with pytest.raises(Invalid, match="no configured agent"):
        await added(stage, pins=Pins(agent="nobody"))
    with pytest.raises(Invalid, match="title"):
        await added(stage, title=" ")
    with pytest.raises(Missing):
        await stage.facade.add_internal_task("acme/nothing", title="x", body="")


async def test_a_failed_attempt_goes_to_another_agent_and_a_question_to_its_person(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = await added(stage)
    stage.order("ann", fails(FailureKind.CRASH))
    stage.order("bob", says(ReportedOutcome.NEEDS_INPUT, question="left or right?"))
    await stage.until(lambda: stage.task(key).status is Status.BLOCKED)
    assert "left or right?" in stage.block(key).words
    assert (await stage.summary(key))[1].endswith("left or right? Answer with `nightcrew task comment`.")
    answer = await stage.facade.comment_task(key, text="Right, please.")
    assert answer.changed
    assert "Right, please." in stage.store.internals[key].body
    await stage.later(7200)
    assert stage.task(key).status is Status.DONE


async def test_a_report_is_the_result_and_needs_no_commit(tmp_path):
    stage = Stage(tmp_path)
    key = await reported(stage, "## Found\n\nNothing leaks.\x1b[31m")
    (run,) = stage.runs(key)
    assert stage.task(key).status is Status.DONE
    assert outcome_of(run).failure is None
    assert stage.pulls() == []
    detail = await stage.facade.get_task(key)
    assert detail.internal is not None
    assert detail.internal.result == "## Found\n\nNothing leaks.[31m"
    assert "answer.md" in (tmp_path / run.folder / "prompt.md").read_text()
    assert stage.workspace.repository(PROJECT).trees == {}


async def test_a_report_without_a_file_is_its_summary_and_one_with_changes_is_reviewed(tmp_path):
    stage = Stage(tmp_path)
    plain = await added(stage, title="Look", kind=TaskKind.REPORT)
    stage.order("ann", done(summary="Three tests are slow."))
    stage.edit = lambda run: None
    await stage.settle()
    assert stage.store.internals[plain].result == "Three tests are slow."
    changed = await added(stage, title="Look and repair", kind=TaskKind.REPORT)
    stage.edit = lambda run: {"src/fixed.py": "x = 1"} if run.task == changed else None
    await stage.settle()
    assert stage.task(changed).status is Status.DONE
    assert [pull.is_merged for pull in stage.pulls()] == [True]


async def test_a_change_with_no_change_is_still_a_failure(tmp_path):
    stage = Stage(tmp_path)
    key = await added(stage)
    stage.edit = lambda run: None
    await stage.until(lambda: stage.runs(key) and stage.runs(key)[0].outcome)
    failure = outcome_of(stage.runs(key)[0]).failure
    assert failure is not None
    assert failure.kind is FailureKind.NO_CHANGES


async def test_closing_one_at_work_ends_its_run_and_retry_has_it_done_anew(tmp_path):
    stage = Stage(tmp_path)
    key = await added(stage)
    await stage.until(lambda: stage.runs(key, Role.AUTHOR))
    await stage.tick()
    await stage.facade.close_task(key)
    await stage.settle(play=False)
    assert stage.task(key).status is Status.DONE
    assert stage.runtime.sessions == {}
    await stage.facade.retry_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert [pull.is_merged for pull in stage.pulls()] == [True]


async def test_the_forge_may_be_away_while_nothing_of_it_is_needed(tmp_path):
    stage = Stage(tmp_path)
    await stage.settle()
    stage.forge.instead["list_updated_issues"] = _away
    stage.forge.instead["list_open_issues"] = _away
    stage.edit = lambda run: None
    key = await added(stage, kind=TaskKind.REPORT)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def _away(*_args, **_named):
    raise Unavailable("no answer")


# Publishing


async def test_publishing_makes_one_issue_that_goes_on_as_a_task(tmp_path):
    stage = Stage(tmp_path)
    await stage.facade.set_paused(paused=True)
    key = await added(stage, pins=Pins(agent="bob"))
    await stage.settle()
    answer = await stage.facade.publish_task(key)
    again = await stage.facade.publish_task(key)
    assert (answer.changed, again.changed) == (True, False)
    (number,) = issues(stage)
    assert answer.data["task"] == again.data["task"] == f"{PROJECT}#{number}"
    issue = stage.forge.thread(PROJECT, number).issue
    assert issue.title == "Turn it round"
    assert issue.labels == ("nightcrew", "agent:bob")
    await stage.facade.set_paused(paused=False)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.runs(key) == []
    assert stage.task(TaskKey(PROJECT, number)).status is Status.DONE
    assert [pull.is_merged for pull in stage.pulls()] == [True]


async def test_a_written_report_is_published_for_people_to_read(tmp_path):
    stage = Stage(tmp_path)
    key = await reported(stage, "It is `fine`. /close @everyone")
    await stage.facade.publish_task(key)
    issue = stage.forge.thread(PROJECT, issues(stage)[0]).issue
    assert issue.labels == ()
    assert "It is `fine`." in issue.body
    await stage.later()
    assert TaskKey(PROJECT, issue.number) not in stage.store.tasks


@pytest.mark.case("C194")
async def test_publishing_that_was_cut_short_comes_to_one_issue(tmp_path):
    stage = Stage(tmp_path)
    key = await reported(stage)
    plain = stage.forge.create_issue

    async def lost(*args, **named):
        await plain(*args, **named)
        raise OutcomeUnknown("no answer")

    stage.forge.create_issue = lost  # type: ignore[method-assign]  # the fake's own lever for a lost answer
    await stage.facade.publish_task(key)
    assert len(issues(stage)) == 1

    other = await added(stage, title="Another", kind=TaskKind.REPORT)
    await stage.settle()

    async def unseen(*_args, **_named):
        return ()

    stage.forge.instead["list_updated_issues"] = unseen  # lists lag
    for _ in range(3):
        with pytest.raises(OutcomeUnknown):
            await stage.facade.publish_task(other)
        stage.clock.advance(20)
    del stage.forge.instead["list_updated_issues"]
    assert (await stage.facade.publish_task(other)).changed
    assert len(issues(stage)) == 2


async def test_what_is_at_work_is_not_published_nor_what_is_an_issue(tmp_path):
    stage = Stage(tmp_path)
    key, filed = await added(stage), stage.file("By hand")
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and filed in stage.store.tasks)
    with pytest.raises(Conflict, match="at work"):
        await stage.facade.publish_task(key)
    with pytest.raises(Conflict, match="issue already"):
        await stage.facade.publish_task(filed)
    await stage.until(lambda: stage.task(key).status is Status.DONE)
    with pytest.raises(Conflict, match=f"pull request #{stage.task(key).pull}, by which it ends"):
        await stage.facade.publish_task(key)


async def test_it_is_named_like_any_task(tmp_path):
    stage = Stage(tmp_path)
    key = await added(stage)
    for text in ("i1", "#i1", "widget#i1", f"{PROJECT}#i1"):
        assert await stage.facade.resolve_task(text) == key
    with pytest.raises(Missing):
        await stage.facade.resolve_task("1")
