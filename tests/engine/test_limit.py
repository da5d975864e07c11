"""Runs that go on repeating that a limit is reached, where others end."""

import asyncio
from datetime import timedelta

import pytest

from nightcrew.agents.custom import CustomAgent
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.settings import AgentSettings
from nightcrew.engine.watch import watch_runs
from tests.engine.part import failure_of
from tests.engine.stage import Stage
from tests.waiting import eventually

LIMIT = b"Sorry, you've hit a rate limit. Please try again in 2 hours. (Request ID 1)\n"


async def started(stage: Stage) -> tuple[TaskKey, Run]:
    """A task at which copilot is at work, and its run."""
    settings = AgentSettings("ann", "custom", command=("copilot",), options={"patterns": "copilot"})
    stage.agents["ann"] = CustomAgent(settings)  # type: ignore[assignment]  # a real adapter among the fakes
    key = stage.file()
    await stage.settle(play=False)
    return key, stage.runs(key)[0]


@pytest.mark.case("C147")
async def test_a_cli_that_repeats_its_limit_is_ended_and_cooled_until_then(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key, run = await started(stage)
    stage.runtime.write(run.session, b"I begin.\n" + LIMIT)
    await stage.tick()
    assert stage.runs(key)[0].state is RunState.RUNNING
    stage.runtime.write(run.session, LIMIT * 4)
    limited_at = stage.clock.now()
    await stage.tick()
    assert run.session in stage.runtime.stopped
    await stage.tick()
    failure = failure_of(stage.runs(key)[0])
    assert failure.kind is FailureKind.USAGE_WINDOW
    (cooldown,) = stage.store.cooldowns.values()
    assert cooldown.agent == "ann"
    assert timedelta(hours=2) <= cooldown.until_at - limited_at <= timedelta(hours=2, minutes=5)
    await stage.settle()
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "bob"]
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C147")
async def test_the_loop_is_woken_by_it_once_and_again_by_its_end(tmp_path):
    stage = Stage(tmp_path)
    _, run = await started(stage)
    woken = []
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch_runs(lambda: stage.ports, lambda: woken.append(True), every_s=0.001))
        stage.runtime.write(run.session, LIMIT * 5)
        await eventually(lambda: woken, what="a wake")
        await asyncio.sleep(0.02)
        assert len(woken) == 1
        stage.runtime.end(run.session, exit_code=143, error="stopped by SIGTERM")
        await eventually(lambda: len(woken) > 1, what="another")
        watcher.cancel()
    assert len(woken) == 2


async def test_what_the_adapter_cannot_name_afterwards_is_a_used_up_window_all_the_same(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    await stage.settle(play=False)
    run = stage.runs(key)[0]
    stage.agents["ann"].limit_mark = b"no more\n"
    stage.runtime.write(run.session, b"no more\n")
    await stage.tick()
    await stage.tick()
    failure = failure_of(stage.runs(key)[0])
    assert failure.kind is FailureKind.USAGE_WINDOW
    assert "does nothing but repeat: no more" in failure.detail
