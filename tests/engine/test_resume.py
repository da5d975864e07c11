"""After a reboot: an agent's own session goes on where its CLI can, else another attempt knows what was done."""

from dataclasses import replace

import pytest

from nightcrew.core.errors import Missing
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Usage
from nightcrew.core.model.run import InterruptionKind, Role, Run
from nightcrew.ports.agent import Reading
from tests.engine.part import PROJECT, approves, done, interruption_of, outcome_of, wants_changes
from tests.engine.stage import Stage


async def rebooted(stage: Stage) -> tuple[TaskKey, Run, Run]:
    """A task whose author was cut off half-way by a reboot and is at work again, with both runs."""
    key = stage.file()
    await stage.settle(play=False)
    (first,) = stage.runs(key)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    stage.runtime.lose_all()
    await stage.restart()
    await stage.settle(play=False)
    _, second = stage.runs(key, Role.AUTHOR)
    return key, first, second


def prompt_of(stage: Stage, run: Run) -> str:
    return (stage.home / run.folder / "prompt.md").read_text()


def can_resume(stage: Stage, agent: str = "ann", session: str = "cli-7") -> None:
    stage.agents[agent].can_resume = True
    stage.agents[agent].session = session


async def test_a_lost_session_goes_on_in_its_worktree(tmp_path):
    stage = Stage(tmp_path)
    can_resume(stage)
    key, first, second = await rebooted(stage)
    assert interruption_of(stage.runs(key)[0]).kind is InterruptionKind.LOST
    assert (second.agent, second.resumes, second.agent_session) == (first.agent, "cli-7", "cli-7")
    assert stage.agents["ann"].jobs[-1].resume == "cli-7"
    assert "machine was restarted" in prompt_of(stage, second)
    assert "half.txt" in stage.workspace.repository(PROJECT).trees[key.number].files
    await stage.settle()
    task = stage.task(key)
    assert (task.status, task.tried) == (Status.DONE, ())
    assert [run.agent for run in stage.runs(key)] == ["ann", "ann", "bob"]
    assert stage.store.cooldowns == {}


async def test_where_the_cli_cannot_a_new_attempt_knows_what_was_done(tmp_path):
    stage = Stage(tmp_path)
    key, _, second = await rebooted(stage)
    assert (second.agent, second.resumes) == ("ann", "")
    prompt = prompt_of(stage, second)
    assert "What stands on the branch already" in prompt
    assert "half.txt" in prompt
    assert "was interrupted (lost)" in prompt
    assert "machine was restarted" not in prompt
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_what_stands_on_the_branch_need_not_be_known(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    stage.runtime.lose_all()
    stage.workspace.fail("list_commits", Missing("that commit is not here"))
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert "What stands on the branch" not in prompt_of(stage, stage.runs(key, Role.AUTHOR)[1])


async def test_a_session_that_cannot_be_found_again_is_left_alone_and_nobody_is_blamed(tmp_path):
    stage = Stage(tmp_path)
    can_resume(stage)
    key, _, second = await rebooted(stage)
    stage.order("ann", Reading(None, Failure(FailureKind.CRASH, "No conversation found")))
    stage.edit = lambda run: None if run.attempt == 2 else {"rest.txt": "rest"}
    stage.finish(second.session)
    await stage.settle()
    _, second, third = stage.runs(key, Role.AUTHOR)
    assert interruption_of(second).kind is InterruptionKind.NOT_RESUMED
    assert "No conversation found" in interruption_of(second).why
    assert (third.agent, third.resumes) == ("ann", "")
    assert stage.store.cooldowns == {}
    assert stage.task(key).status is Status.DONE


async def test_reboots_without_end_end_in_a_block(tmp_path):
    stage = Stage(tmp_path)
    can_resume(stage)
    key = stage.file()
    for _ in range(20):
        await stage.settle(play=False)
        stage.runtime.lose_all()
        await stage.restart()
    await stage.settle(play=False)
    assert stage.block(key).code == "out_of_attempts"
    assert len(stage.runs(key, Role.AUTHOR)) == 8


async def test_a_reviewer_that_was_lost_reviews_again(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.REVIEWER) and stage.runtime.sessions)
    for _ in range(3):
        stage.runtime.lose_all()
        await stage.restart()
        await stage.settle(play=False)
    await stage.settle()
    assert [run.agent for run in stage.runs(key, Role.REVIEWER)] == ["bob"] * 4
    assert stage.task(key).status is Status.DONE


async def test_changes_are_made_in_the_session_that_made_the_work(tmp_path):
    stage = Stage(tmp_path)
    can_resume(stage)
    stage.order("ann", replace(done(), session="cli-7"))
    stage.order("bob", wants_changes("turn left instead"), approves(), role=Role.REVIEWER)
    key = stage.file()
    await stage.settle()
    _, second = stage.runs(key, Role.AUTHOR)
    assert second.resumes == "cli-7"
    assert "came back" in prompt_of(stage, second)
    assert "turn left instead" in prompt_of(stage, second)
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize(("counts", "expected"), [(True, (500, 50)), (False, (1500, 150))])
async def test_usage_that_counts_a_whole_session_is_not_counted_twice(tmp_path, counts, expected):
    stage = Stage(tmp_path)
    can_resume(stage)
    stage.order(
        "ann",
        replace(done(), session="cli-7", usage=Usage(1000, 100), usage_of_session=counts),
        replace(done(), session="cli-7", usage=Usage(1500, 150), usage_of_session=counts),
    )
    stage.order("bob", wants_changes("more"), approves(), role=Role.REVIEWER)
    key = stage.file()
    await stage.settle()
    usage = outcome_of(stage.runs(key, Role.AUTHOR)[1]).usage
    assert (usage.input_tokens, usage.output_tokens) == expected
