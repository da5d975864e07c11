"""Runs that print nothing: when they are ended as hung, and when not."""

from dataclasses import replace

import pytest

from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.settings import AgentSettings, Settings
from tests.engine.part import failure_of
from tests.engine.stage import Stage

LIMIT_S = 900.0
HOUR_S = 3600.0


async def started(stage: Stage) -> tuple[TaskKey, Run]:
    """A task whose author is at work, and its run."""
    key = stage.file()
    await stage.settle(play=False)
    return key, stage.runs(key)[0]


def lives(stage: Stage, key: TaskKey) -> bool:
    return stage.runs(key)[0].state is RunState.RUNNING and len(stage.runs(key)) == 1


async def end_of(stage: Stage, key: TaskKey) -> FailureKind:
    """How the first run failed, once it was collected."""
    await stage.tick()
    return failure_of(stage.runs(key)[0]).kind


async def test_a_silent_run_is_ended_as_hung_and_cools_its_agent(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key, run = await started(stage)
    await stage.awake(LIMIT_S - 60)
    assert lives(stage, key)
    await stage.awake(120)
    assert run.session in stage.runtime.stopped
    await stage.tick()
    failure = failure_of(stage.runs(key)[0])
    assert failure.kind is FailureKind.HANG
    assert "printed nothing for" in failure.detail
    assert [cooldown.kind for cooldown in stage.store.cooldowns.values()] == [FailureKind.HANG]
    await stage.settle()
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "bob"]
    assert stage.task(key).status is Status.DONE


async def test_a_run_that_prints_now_and_then_goes_on_to_its_deadline(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    for _ in range(6):
        await stage.awake(LIMIT_S - 300)
        stage.runtime.write(run.session, b"still at it\n")
    assert lives(stage, key)


async def test_a_long_tool_is_no_silence_where_the_stream_tells(tmp_path):
    stage = Stage(tmp_path)
    stage.agents["ann"].tool_marks = (b"tool begins\n",)
    key, run = await started(stage)
    stage.runtime.write(run.session, b"tool begins\n")
    await stage.awake(3 * LIMIT_S)
    assert lives(stage, key)
    stage.runtime.write(run.session, b"tool ends\n")
    await stage.awake(LIMIT_S + 60)
    assert await end_of(stage, key) is FailureKind.HANG


async def test_a_link_in_the_place_of_the_output_is_not_followed(tmp_path):
    stage = Stage(tmp_path)
    stage.agents["ann"].tool_marks = (b"tool begins\n",)
    key, run = await started(stage)
    (tmp_path / "other").write_bytes(b"tool begins\n")
    (tmp_path / run.folder / "stdout.log").symlink_to(tmp_path / "other")
    await stage.awake(LIMIT_S + 60)
    assert await end_of(stage, key) is FailureKind.HANG


async def test_silence_can_be_switched_off(tmp_path):
    agents = {name: AgentSettings(name, "fake", silence_s=0.0) for name in ("ann", "bob")}
    stage = Stage(tmp_path, settings=replace(Settings(), agents=agents))
    key, _ = await started(stage)
    await stage.awake(3500)
    assert lives(stage, key)


async def test_a_restart_neither_forgets_nor_adds_silence(tmp_path):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    await stage.awake(300)
    stage.runtime.write(run.session, b"here\n")
    await stage.awake(400)
    stage.clock.advance(100)  # nobody looks
    await stage.restart()
    await stage.awake(LIMIT_S - 500 - 60)
    assert lives(stage, key)
    await stage.awake(120)
    assert await end_of(stage, key) is FailureKind.HANG


@pytest.mark.case("C138")
@pytest.mark.parametrize("counts", [False, True], ids=["monotonic stood still", "monotonic went on"])
@pytest.mark.parametrize("restart", [False, True])
async def test_the_sleep_of_the_machine_is_not_the_silence_of_an_agent(tmp_path, counts, restart):
    stage = Stage(tmp_path)
    key, _ = await started(stage)
    await stage.awake(800)
    if counts:
        stage.clock.advance(33 * 60)
    else:
        stage.clock.set_wall(33 * 60)
    if restart and not counts:
        await stage.restart()
    await stage.awake(LIMIT_S - 60)
    assert lives(stage, key)
    assert stage.store.cooldowns == {}
    await stage.awake(120)
    assert await end_of(stage, key) is FailureKind.HANG


@pytest.mark.parametrize("jump_s", [-400 * 24 * HOUR_S, 400 * 24 * HOUR_S])
@pytest.mark.parametrize("restart", [False, True])
async def test_a_clock_that_is_set_ends_no_run(tmp_path, jump_s, restart):
    stage = Stage(tmp_path)
    key, run = await started(stage)
    await stage.awake(100)
    stage.clock.set_wall(jump_s)
    if restart:
        await stage.restart()
    await stage.awake(500, before=lambda: stage.runtime.write(run.session, b"."))
    assert lives(stage, key)
    stage.finish(run.session)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.store.cooldowns == {}


async def test_the_deadline_of_a_run_is_not_moved_by_a_sleep_or_a_restart(tmp_path):
    """It has its own clock; the engine ends it only if it did not."""
    stage = Stage(tmp_path)
    key, run = await started(stage)

    def print_something() -> None:
        stage.runtime.write(run.session, b".")

    await stage.awake(3000, before=print_something)
    stage.clock.set_wall(5 * HOUR_S)
    await stage.awake(500, before=print_something)
    await stage.restart()
    await stage.awake(100, before=print_something)
    assert lives(stage, key)
    await stage.awake(90, before=print_something)
    assert await end_of(stage, key) is FailureKind.TIMEOUT
