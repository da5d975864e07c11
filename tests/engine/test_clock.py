"""Clocks that are set: nothing waits for ever, and the order of runs stands."""

from datetime import timedelta

import pytest

from nightcrew.core.actions import SettleLabels
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from tests.engine.part import fails
from tests.engine.stage import Stage

DAY_S = 86_400.0


@pytest.mark.parametrize("jump_s", [-30 * DAY_S, 30 * DAY_S])
async def test_what_was_refused_is_tried_again_after_a_while_whatever_the_clock_says(tmp_path, jump_s):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await stage.act(SettleLabels(key, Status.BLOCKED, "not so"))
    stage.clock.set_wall(jump_s)
    (wait,) = stage.loop.actor.deferred().values()
    assert wait.until_at is not None
    assert timedelta(0) < wait.until_at - stage.clock.now() <= timedelta(seconds=5)
    stage.clock.advance(6)
    assert stage.loop.actor.deferred() == {}


async def test_runs_keep_their_order_when_the_clock_is_set_back(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.order("ann", fails(FailureKind.BAD_OUTPUT, "no report"))
    await stage.until(lambda: stage.runs(key) and not stage.runs(key)[0].is_open)
    stage.clock.set_wall(-DAY_S)
    await stage.settle()
    runs = await stage.store.load_runs(task=key)
    assert [run.attempt for run in runs if run.role is Role.AUTHOR] == [1, 2]
    assert [run.agent for run in runs if run.role is Role.AUTHOR] == ["ann", "bob"]
    assert stage.task(key).status is Status.DONE


async def test_attempts_are_bounded_after_a_reset_and_a_clock_set_back(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.edit = lambda run: None
    await stage.settle(max_ticks=200)
    assert stage.task(key).status is Status.BLOCKED
    first = len(stage.runs(key, Role.AUTHOR))
    await stage.facade.retry_task(key)
    stage.clock.set_wall(-DAY_S)
    await stage.settle(max_ticks=200)
    assert stage.task(key).status is Status.BLOCKED
    assert len(stage.runs(key, Role.AUTHOR)) == 2 * first


async def test_a_guessed_cooldown_does_not_last_for_as_long_as_the_clock_was_set_back(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob"))
    key = stage.file(labels=("nightcrew", "agent:ann"))
    stage.order("ann", fails(FailureKind.OVERLOADED, "busy"))
    await stage.settle()
    assert stage.wait(key).code == "agent_not_usable"
    stage.clock.set_wall(-400 * DAY_S)
    await stage.later()
    assert stage.task(key).status is Status.DONE
