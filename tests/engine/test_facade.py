"""What people ask of the service: every command with its refusals, and the answers about what is."""

from dataclasses import replace

import pytest

from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMode, MergeSettings
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import Intake, ProjectSettings, ReviewSettings
from nightcrew.core.model.task import Block
from tests.engine.part import PROJECT, fails, outcome_of, wants_changes
from tests.engine.stage import Stage

OTHER = "acme/gadget"
NOTHING = TaskKey(PROJECT, 404)


async def routed(stage: Stage, **fields):
    key = stage.file(**fields)
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    return key


async def reviewed(stage: Stage):
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    return key


# Commands about a task


@pytest.mark.parametrize(
    "command", ["retry_task", "stop_task", "unblock_task", "close_task", "approve_task", "load_diff"]
)
async def test_a_task_that_is_not_there_is_missing(tmp_path, command):
    stage = Stage(tmp_path)
    with pytest.raises((Missing, Conflict)):
        await getattr(stage.facade, command)(NOTHING)
    with pytest.raises(Missing):
        await stage.facade.block_task(NOTHING, why="x")
    with pytest.raises(Missing):
        await stage.facade.get_task(NOTHING)
    with pytest.raises(Missing):
        await stage.facade.attach_argv(NOTHING)
    with pytest.raises(Missing):
        await stage.facade.get_run(RunId("01NOTHING"))


async def test_retry_starts_anew_and_keeps_the_work(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.edit = lambda run: {"part.txt": "part"} if run.attempt == 1 else None
    for agent in stage.agents:
        stage.order(agent, fails(FailureKind.BAD_OUTPUT))
    await stage.settle(max_ticks=200)
    assert stage.block(key).code == "out_of_attempts"
    answer = await stage.facade.retry_task(key)
    assert (answer.changed, answer.words) == (True, f"{key} is new")
    task = stage.task(key)
    assert (task.status, task.cycles, task.attempts, task.tried, task.block) == (Status.NEW, 0, 0, (), None)
    assert stage.statuses(key) == ("status:new",)
    await stage.later(3600)
    assert stage.task(key).status is Status.DONE
    assert stage.runs(key, Role.AUTHOR)[3].head_sha == outcome_of(stage.runs(key, Role.AUTHOR)[0]).head_sha


async def test_retry_of_what_is_new_or_done(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks)
    await stage.facade.set_paused(paused=True)
    if stage.task(key).status is Status.NEW:
        assert not (await stage.facade.retry_task(key)).changed
    await stage.facade.set_paused(paused=False)
    await stage.settle()
    with pytest.raises(Conflict, match="reopen it"):
        await stage.facade.retry_task(key)
    assert stage.task(key).status is Status.DONE
    assert not (await stage.facade.block_task(key, why="late")).changed


async def test_retry_ends_the_run_at_work(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    first = stage.runs(key)[0]
    await stage.facade.retry_task(key)
    await stage.settle()
    assert first.session in stage.runtime.stopped
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 2


async def test_block_and_unblock(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    answer = await stage.facade.block_task(key, why="wait\nfor \x1b[31mspring")
    assert answer.changed
    block = stage.block(key)
    assert (block.code, block.words, block.at) == ("by_person", "wait for [31mspring", stage.clock.now())
    assert not (await stage.facade.block_task(key, why="again")).changed
    await stage.settle()
    assert stage.wait(key).code == "blocked"
    assert (await stage.facade.unblock_task(key)).words == f"{key} is routed"
    with pytest.raises(Conflict, match="not blocked"):
        await stage.facade.unblock_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def _put_block(stage: Stage, key: TaskKey, block: Block) -> None:
    await stage.facade.block_task(key, why="put")
    await stage.settle()
    stage.store.tasks[key] = replace(stage.task(key), block=block)
    stage.store.writes += 1


@pytest.mark.parametrize(
    ("code", "target"),
    [
        ("review_failed", Status.NEEDS_REVIEW),
        ("base_changed", Status.NEEDS_REVIEW),
        ("review_cycles", Status.ROUTED),
        ("out_of_attempts", Status.ROUTED),
        ("pull_closed", Status.ROUTED),
        ("push_refused", Status.ROUTED),
        ("by_person", Status.ROUTED),
        ("needs_input", Status.ROUTED),
    ],
)
async def test_where_a_task_goes_on_when_it_is_unblocked(tmp_path, code, target):
    stage = Stage(tmp_path)
    key = await reviewed(stage)
    await _put_block(stage, key, Block(code, "asked"))
    await stage.facade.unblock_task(key)
    assert stage.task(key).status is target
    assert stage.task(key).block is None


async def test_a_task_blocked_before_it_had_a_route_is_new_again(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file(labels=("nightcrew", "agent:nobody"))
    await stage.settle()
    assert stage.block(key).code == "bad_label"
    assert "agent:nobody" in stage.comments(key)[0]
    stage.forge.unlabel(PROJECT, key.number, "agent:nobody")
    assert (await stage.facade.unblock_task(key)).words == f"{key} is new"
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_unblock_after_a_review_without_verdict_reviews_again(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, review=ReviewSettings(attempts=1)),))
    stage.order("bob", fails(FailureKind.BAD_OUTPUT, "chatter"), role=Role.REVIEWER)
    key = stage.file()
    await stage.settle()
    assert stage.block(key).code == "review_failed"
    await stage.facade.unblock_task(key)
    await stage.later(3600)
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1


async def test_unblock_after_too_many_rounds_gives_new_rounds(tmp_path):
    stage = Stage(tmp_path)
    stage.order("bob", *[wants_changes()] * 3, role=Role.REVIEWER)
    key = stage.file()
    await stage.settle(max_ticks=200)
    assert stage.block(key).code == "review_cycles"
    await stage.facade.unblock_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_stop_ends_the_run_and_blocks_the_task(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    with pytest.raises(Conflict, match="nothing works on"):
        await stage.facade.stop_task(key)
    await stage.settle(play=False)
    assert (await stage.facade.stop_task(key)).changed
    assert not (await stage.facade.stop_task(key)).changed
    await stage.settle()
    assert stage.runtime.sessions == {}
    assert stage.block(key).words == "a person stopped it"


async def test_close_ends_the_task_and_its_run(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    assert "closed" in (await stage.facade.close_task(key)).words
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.runtime.sessions == {}
    assert stage.pulls() == []
    assert stage.events("workspace.salvaged", key)


async def test_a_command_against_a_label_of_a_person_says_so(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    stage.set_label(key, "status:in_review")
    with pytest.raises(Conflict, match="the issue says in_review by now"):
        await stage.facade.block_task(key, why="x")


async def test_approve_needs_something_to_approve(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, merge=MergeSettings(mode=MergeMode.ASK)),))
    key = await routed(stage)
    with pytest.raises(Conflict, match="no pull request under review"):
        await stage.facade.approve_task(key)
    await stage.settle()
    await stage.facade.approve_task(key)
    assert stage.task(key).approved_sha == stage.pull(key).head_sha
    assert stage.events("task.approved", key) == ["a person said yes"]


async def test_diff(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    with pytest.raises(Conflict, match="no work yet"):
        await stage.facade.load_diff(key)
    await stage.settle(play=False)
    with pytest.raises(Conflict, match="no collected work"):
        await stage.facade.load_diff(key)
    await stage.settle()
    assert "+by ann, attempt 1" in await stage.facade.load_diff(key)


async def test_attach(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    assert list(await stage.facade.attach_argv(key)) == ["true", stage.runs(key)[0].session]


async def test_add_task_files_an_issue_that_becomes_a_task(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER, intake=Intake.ALL)))
    answer = await stage.facade.add_task(PROJECT, title="Do it", body="well", labels=("priority:high",))
    key = TaskKey(PROJECT, 1)
    assert (answer.changed, answer.data["task"]) == (True, str(key))
    assert stage.issue(key).labels == ("nightcrew", "priority:high")
    other = await stage.facade.add_task(OTHER, title="Do it", body="")
    assert stage.issue(TaskKey(OTHER, 1)).labels == ()
    assert other.data["task"] == f"{OTHER}#1"
    await stage.settle()
    assert stage.task(key).priority == 20
    assert {task.status for task in stage.store.tasks.values()} == {Status.DONE}
    with pytest.raises(Invalid):
        await stage.facade.add_task(PROJECT, title=" ", body="x")
    with pytest.raises(Missing):
        await stage.facade.add_task("acme/none", title="x", body="x")


async def test_a_pause_of_one_project_or_all_lets_what_runs_end(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))
    running = stage.file()
    await stage.settle(play=False)
    assert (await stage.facade.set_paused(paused=True, project=PROJECT)).changed
    assert not (await stage.facade.set_paused(paused=True, project=PROJECT)).changed
    unseen, other = stage.file(), stage.file(project=OTHER)
    await stage.later()
    assert unseen not in stage.store.tasks
    assert stage.task(other).status is Status.DONE
    assert outcome_of(stage.runs(running)[0]).failure is None
    assert stage.task(running).status is Status.NEEDS_REVIEW
    assert stage.wait(running).code == "paused"
    status = await stage.facade.status()
    assert {project.slug: project.paused for project in status.projects} == {PROJECT: True, OTHER: False}
    await stage.facade.set_paused(paused=False, project=PROJECT)
    assert (await stage.facade.set_paused(paused=True)).words == "Nightcrew is paused"
    await stage.later()
    assert stage.task(running).status is Status.NEEDS_REVIEW
    assert (await stage.facade.status()).paused
    await stage.restart()
    await stage.later()
    assert stage.task(running).status is Status.NEEDS_REVIEW
    await stage.facade.set_paused(paused=False)
    await stage.later()
    assert stage.task(running).status is stage.task(unseen).status is Status.DONE
    assert len(stage.events("service.paused")) == len(stage.events("service.resumed")) == 2
    with pytest.raises(Missing):
        await stage.facade.set_paused(paused=True, project="acme/none")


async def test_wake_looks_at_once(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()
    key = stage.file()
    await stage.tick()
    assert key not in stage.store.tasks
    assert (await stage.facade.wake()).words == "looking now"
    await stage.tick()
    assert key in stage.store.tasks
    assert await stage.facade.render_config() == {"agents": ["ann", "bob"]}
