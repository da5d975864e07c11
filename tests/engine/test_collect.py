"""Collecting runs: what they left, what it means for the agent, and what follows for the task."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.actions import CollectRun, Done, Refused, StopRun
from nightcrew.core.errors import Missing
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Decision, ReportedOutcome
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import InterruptionKind, Role, RunState
from nightcrew.core.model.settings import AgentSettings, CheckCommand, ProjectSettings, RouterMode, Settings
from nightcrew.ports.agent import Reading
from tests.engine.part import (
    PROJECT,
    STRANGER,
    approves,
    done,
    fails,
    failure_of,
    interruption_of,
    outcome_of,
    routes,
    says,
    wants_changes,
)
from tests.engine.stage import Stage, plain_edit


async def started(stage: Stage, **fields):
    """A task whose author is at work."""
    key = stage.file(**fields)
    await stage.settle(play=False)
    return key, stage.runs(key)[0]


@pytest.mark.parametrize("outcome", [ReportedOutcome.DECLINED, ReportedOutcome.NEEDS_INPUT, ReportedOutcome.BLOCKED])
async def test_what_is_for_a_person_goes_to_the_person_and_is_answered_by_a_comment(tmp_path, outcome):
    stage = Stage(tmp_path)
    stage.order("ann", says(outcome, question="left or right?", why="it is right already"))
    key = stage.file()
    await stage.settle()
    task = stage.task(key)
    assert task.status is Status.BLOCKED
    assert stage.store.cooldowns == {}
    words = "left or right?" if outcome is ReportedOutcome.NEEDS_INPUT else "it is right already"
    assert words in stage.comments(key)[0]
    stage.forge.comment(PROJECT, key.number, body="go on", author=STRANGER)
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    stage.forge.comment(PROJECT, key.number, body="to the left")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    prompt = (tmp_path / stage.runs(key, Role.AUTHOR)[1].folder / "prompt.md").read_text()
    assert "to the left" in prompt
    assert "go on" not in prompt


async def test_a_failure_cools_the_agent_and_success_clears_what_is_past(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.order("ann", fails(FailureKind.RATE_LIMIT, "slow down"))
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    cooldown = stage.store.cooldowns["ann", None, "rate_limit"]
    assert (cooldown.count, cooldown.why) == (1, "slow down")
    assert stage.events("cooldown.set", key)
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "bob"]
    stage.clock.advance(3600)
    other = stage.file(labels=("nightcrew", "agent:ann"))
    await stage.settle()
    assert stage.task(other).status is Status.DONE
    assert stage.store.cooldowns == {}


async def test_the_vendors_own_time_wins_and_stays_in_force_while_another_run_succeeds(tmp_path):
    stage = Stage(tmp_path)
    one, other = (
        stage.file("one", labels=("nightcrew", "agent:ann")),
        stage.file("two", labels=("nightcrew", "agent:ann")),
    )
    await stage.settle(play=False)
    first, second = stage.runs(one)[0], stage.runs(other)[0]
    retry_at = stage.clock.now() + timedelta(hours=30)
    stage.order("ann", fails(FailureKind.USAGE_WINDOW, "until tomorrow", retry_at=retry_at))
    stage.finish(first.session)
    await stage.tick()
    stage.finish(second.session)
    await stage.tick()
    assert stage.store.cooldowns["ann", None, "usage_window"].until_at == retry_at


@pytest.mark.case("C124")
async def test_a_failure_of_one_model_leaves_the_others(tmp_path):
    models = {Complexity.MEDIUM: ("big", "small")}
    agents = {"ann": AgentSettings("ann", "fake", models=models), "bob": AgentSettings("bob", "fake", can_author=False)}
    stage = Stage(tmp_path, settings=Settings(agents=agents))
    stage.order("ann", fails(FailureKind.BILLING, "no budget for big"))
    key = stage.file()
    await stage.settle()
    assert [run.model for run in stage.runs(key, Role.AUTHOR)] == ["big", "small"]
    assert list(stage.store.cooldowns) == [("ann", "big", "billing")]
    assert stage.task(key).status is Status.DONE


async def test_a_run_that_was_stopped_does_not_cool_its_agent(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    await stage.facade.stop_task(key)
    await stage.settle()
    ended = stage.runs(key)[0]
    assert ended.state is RunState.ENDED
    interruption = interruption_of(ended)
    assert interruption.kind is InterruptionKind.STOPPED
    assert "no longer wanted" in interruption.why
    assert outcome_of(ended).failure is None
    assert stage.store.cooldowns == {}
    assert stage.task(key).status is Status.BLOCKED
    assert run.session in stage.runtime.stopped


async def test_a_run_past_its_deadline_is_ended(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)

    def print_something() -> None:
        stage.runtime.write(run.session, b".")

    await stage.awake(3600 + 30, before=print_something)
    assert stage.runtime.stopped == []
    await stage.awake(45, before=print_something)
    await stage.settle(play=False)
    assert "past its deadline" in failure_of(stage.runs(key)[0]).detail
    assert failure_of(stage.runs(key)[0]).kind is FailureKind.TIMEOUT
    assert stage.task(key).attempts == 2


@pytest.mark.case("C118")
async def test_a_run_that_has_just_ended_is_collected_and_not_stopped(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    stage.finish(run.session)
    outcome = await stage.act(StopRun(key, run.id, "it is past its deadline"))
    assert isinstance(outcome, Refused)
    await stage.restart()
    await stage.settle()
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C155")
async def test_a_session_that_is_lost_leaves_an_outcome_and_another_run_follows(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key, run = await started(stage)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    stage.runtime.lose_all()
    await stage.settle()
    first, second = stage.runs(key, Role.AUTHOR)
    assert first.id == run.id
    assert interruption_of(first).kind is InterruptionKind.LOST
    assert outcome_of(first).has_commits
    assert (second.agent, stage.task(key).tried) == ("ann", ())
    assert second.head_sha == outcome_of(first).head_sha
    assert stage.task(key).status is Status.DONE


async def test_a_session_that_cannot_be_seen_is_not_lost(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await started(stage)
    stage.runtime.unreachable = "tmux does not answer"
    await stage.later(play=False)
    assert stage.runs(key)[0].state is RunState.RUNNING
    assert stage.wait(key).code == "session_unknown"
    stage.runtime.unreachable = ""
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_an_agent_that_left_the_settings_is_a_failure_of_the_run(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key, run = await started(stage)
    stage.finish(run.session)
    del stage.agents["ann"]
    settings = stage.settings
    stage.settings = replace(settings, agents={n: a for n, a in settings.agents.items() if n != "ann"})
    await stage.restart()
    await stage.settle()
    first = stage.runs(key)[0]
    assert "no agent ann" in failure_of(first).detail
    assert outcome_of(first).has_commits
    assert stage.task(key).status is Status.DONE


async def test_a_result_that_cannot_be_read_is_a_failure(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    stage.finish(run.session)
    stage.runtime.garbled.add(tmp_path / run.folder)
    await stage.tick()
    assert failure_of(stage.runs(key)[0]).kind is FailureKind.CRASH


@pytest.mark.parametrize("hostile", ["symlink", "folder", "pipe"])
async def test_a_report_that_is_no_plain_file_is_no_report(tmp_path, hostile):
    stage = Stage(tmp_path)
    _key, run = await started(stage)
    secret = tmp_path / "secret"
    secret.write_text("{}")
    report = tmp_path / run.folder / "agent/report.json"
    match hostile:
        case "symlink":
            report.symlink_to(secret)
        case "folder":
            report.mkdir()
        case _:
            os.mkfifo(report)
    stage.finish(run.session)
    await stage.tick()
    assert stage.agents["ann"].outputs[0].report is None
    assert (await stage.facade.get_run(run.id)).report == ""


async def test_a_report_is_read_to_its_limit_and_need_not_be_text(tmp_path):
    stage = Stage(tmp_path)
    _key, run = await started(stage)
    (tmp_path / run.folder / "agent/report.json").write_bytes(b"\xff\x00" * 2_000_000)
    stage.finish(run.session, output=b"out")
    (tmp_path / run.folder / "stderr.log").symlink_to("/etc/hostname")
    await stage.tick()
    output = stage.agents["ann"].outputs[0]
    assert output.report is not None
    assert len(output.report) == 1_000_000
    assert (output.stdout, output.stderr) == (b"out", b"")


async def test_what_an_agent_writes_does_not_say_that_it_was_stopped(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    (tmp_path / run.folder / "stopped.json").write_text('{"why": "a person"}')
    stage.order("ann", fails(FailureKind.BAD_OUTPUT, "no report"))
    stage.finish(run.session)
    await stage.tick()
    assert failure_of(stage.runs(key)[0]).kind is FailureKind.BAD_OUTPUT


async def test_bad_output_keeps_the_commits_for_the_next_attempt(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.order("ann", fails(FailureKind.BAD_OUTPUT, "no report"))
    stage.edit = lambda run: {"done.txt": "all of it"} if run.attempt == 1 else {}
    await stage.settle()
    first, second = stage.runs(key, Role.AUTHOR)
    assert (first.agent, second.agent) == ("ann", "bob")
    assert second.head_sha == outcome_of(first).head_sha
    assert not outcome_of(second).has_commits
    assert stage.task(key).status is Status.DONE
    assert "no report" in (tmp_path / second.folder / "prompt.md").read_text()


async def test_who_wrote_part_of_it_does_not_review_it(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.order("ann", fails(FailureKind.BAD_OUTPUT, "no report"))
    await stage.settle()
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "bob"]
    assert [run.agent for run in stage.runs(key, Role.REVIEWER)] == ["cat"]


async def test_no_change_goes_to_the_next_agent_and_in_the_end_to_a_person(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.edit = lambda run: None
    await stage.settle(max_ticks=200)
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "bob", "ann"]
    assert stage.task(key).status is Status.BLOCKED
    assert stage.block(key).code == "no_changes"
    assert "ann said twice that it is done, and changed nothing that counts" in stage.block(key).words
    assert stage.store.cooldowns == {}
    assert stage.pulls() == []
    stage.forge.comment(PROJECT, key.number, body="the sign in widget.py")
    stage.edit = plain_edit
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_where_nothing_is_changed_for_checks_that_fail_they_are_named(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, checks=(CheckCommand("unit", ("false",)),)),))
    stage.auto_ci = False
    key = stage.file()
    stage.edit = lambda run: plain_edit(run) if run.attempt == 1 else {}
    await stage.settle(max_ticks=200)
    assert stage.block(key).code == "no_changes"
    assert "counts. These checks fail: nightcrew/unit." in stage.block(key).words


async def test_what_an_agent_left_uncommitted_is_committed_for_it(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    stage.finish(run.session)
    await stage.tick()
    head = outcome_of(stage.runs(key)[0]).head_sha
    assert head in stage.workspace.repository(PROJECT).known
    assert stage.workspace.repository(PROJECT).commits[head].agents == frozenset({"ann"})


async def test_a_workspace_that_is_gone_is_no_reason_to_try_for_ever(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    stage.finish(run.session)
    stage.workspace.fail("collect", Missing("there is no workspace"))
    await stage.tick()
    assert stage.runs(key)[0].state is RunState.ENDED
    assert stage.events("workspace.problem", key) == ["there is no workspace"]


async def test_a_verdict_is_recorded_once(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.REVIEWER) and stage.runtime.sessions)
    run = stage.runs(key, Role.REVIEWER)[0]
    head = stage.pull(key).head_sha
    stage.order("bob", approves(summary="looks right"), role=Role.REVIEWER)
    if run.is_open:
        stage.finish(run.session)
    collect = CollectRun(key, run.id, lost=False, why="ended")
    outcomes = [await stage.act(collect), await stage.act(collect)]
    assert [type(outcome) for outcome in outcomes] == [Done, Refused]
    assert list(stage.store.verdicts) == [(run.id, head)]
    verdict = stage.store.verdicts[run.id, head]
    assert (verdict.decision, verdict.head_sha, verdict.base_ref) == (Decision.APPROVE, head, "main")
    assert not verdict.posted


async def test_a_reviewer_without_a_verdict_is_followed_by_another(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.order("bob", fails(FailureKind.BAD_OUTPUT, "no verdict"), role=Role.REVIEWER)
    await stage.settle()
    assert [run.agent for run in stage.runs(key, Role.REVIEWER)] == ["bob", "cat"]
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize(
    ("reading", "complexity", "agent"),
    [
        (routes(Complexity.COMPLEX, agent="cat", why="many places"), Complexity.COMPLEX, "cat"),
        (routes(Complexity.SIMPLE, agent="nobody"), Complexity.SIMPLE, "ann"),
        (fails(FailureKind.BAD_OUTPUT, "chatter"), Complexity.MEDIUM, "ann"),
    ],
)
async def test_what_the_router_says_is_recorded_and_used(tmp_path, reading: Reading, complexity, agent):
    base = Settings()
    settings = replace(base, router=replace(base.router, mode=RouterMode.MODEL, agent="bob"))
    stage = Stage(tmp_path, settings=settings, agents=("ann", "bob", "cat"))
    stage.order("bob", reading, role=Role.ROUTER)
    key = stage.file()
    await stage.settle()
    task = stage.task(key)
    assert (stage.route(key).complexity, stage.route(key).agent) == (complexity, agent)
    assert len(stage.runs(key, Role.ROUTER)) == 1
    assert [route.agent for owner, route, _ in stage.store.routes if owner == key] == [agent]
    assert task.status is Status.DONE
    assert stage.runtime.started[0].cwd == tmp_path / stage.runs(key, Role.ROUTER)[0].folder / "work"


async def test_usage_and_the_cli_session_are_kept(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    stage.order("ann", replace(done(), session="cli-session-7"))
    stage.finish(run.session)
    await stage.tick()
    assert outcome_of(stage.runs(key)[0]).agent_session == "cli-session-7"


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ({"SUMMARY.md": "I looked at it all.\n"}, "wrote only SUMMARY.md"),
        ({"SUMMARY.md": "done\n", "task-notes.txt": "x\n"}, "wrote only SUMMARY.md, task-notes.txt"),
        (None, "changed nothing"),
    ],
)
async def test_a_run_that_wrote_only_about_itself_goes_to_another_agent(tmp_path, edits, words):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.edit = lambda run: edits if run.attempt == 1 else plain_edit(run)
    key = stage.file()
    await stage.settle()
    first, second = stage.runs(key, Role.AUTHOR)
    assert failure_of(first).kind is FailureKind.NO_CHANGES
    assert words in failure_of(first).detail
    assert (first.agent, second.agent) == ("ann", "bob")
    assert stage.store.cooldowns == {}
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize("title", ["Write SUMMARY.md", "Turn it round"])
async def test_a_file_that_the_issue_asks_for_or_that_was_there_is_work(tmp_path, title):
    stage = Stage(tmp_path)
    if "SUMMARY" not in title:
        stage.forge.push(PROJECT, "main", paths=("SUMMARY.md",))
    stage.edit = lambda run: {"SUMMARY.md": "new\n"}
    key = stage.file(title)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1


async def test_notes_of_an_earlier_run_are_no_work_of_a_later_one(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.edit = lambda run: {"SUMMARY.md": "mine\n"} if run.attempt == 1 else {}
    key = stage.file()
    await stage.until(lambda: len(stage.runs(key, Role.AUTHOR)) > 2)
    assert [failure_of(run).kind for run in stage.runs(key, Role.AUTHOR)[:2]] == [FailureKind.NO_CHANGES] * 2
    assert stage.pulls() == []


async def test_a_round_of_changes_with_nothing_in_it_is_nothing(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.order("bob", wants_changes(), role=Role.REVIEWER)
    stage.edit = lambda run: {"SUMMARY.md": "all done\n"} if run.attempt == 2 else plain_edit(run)
    key = stage.file()
    await stage.settle()
    kinds = [outcome_of(run).failure for run in stage.runs(key, Role.AUTHOR)]
    assert kinds[0] is None
    assert failure_of(stage.runs(key, Role.AUTHOR)[1]).kind is FailureKind.NO_CHANGES
    assert stage.runs(key, Role.AUTHOR)[2].agent != "ann"
    assert stage.task(key).status is Status.DONE
