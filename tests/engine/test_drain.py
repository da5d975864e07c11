"""Draining: no new work, what runs is seen to its end, and then the loop stops by itself."""

import asyncio

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from tests.engine.stage import Stage


async def is_stopped(stage: Stage) -> bool:
    try:
        async with asyncio.timeout(0):
            await stage.loop.stopped()
    except TimeoutError:
        return False
    return True


async def test_what_runs_is_collected_and_nothing_new_is_started(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    assert (await stage.facade.drain()).changed
    assert not (await stage.facade.drain()).changed
    other = stage.file("Another")
    await stage.later(play=False)
    assert not await is_stopped(stage)
    stage.finish(stage.runs(key)[0].session)
    for _ in range(10):
        await stage.tick()
    assert await is_stopped(stage)
    assert stage.runs(key, Role.REVIEWER) == []
    assert stage.task(key).status is Status.NEEDS_REVIEW
    assert stage.pull(key).is_open
    assert other not in stage.store.tasks
    assert stage.wait(key).code == "draining"
    await stage.restart()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.task(other).status is Status.DONE


async def test_with_nothing_at_work_it_ends_at_once(tmp_path):
    stage = Stage(tmp_path)
    stage.file()
    stage.loop.drain()
    await stage.tick()
    assert await is_stopped(stage)
    assert stage.store.tasks == {}


async def test_a_session_that_cannot_be_seen_may_live(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.loop.drain()
    stage.runtime.unreachable = "tmux does not answer"
    await stage.later(play=False)
    assert not await is_stopped(stage)
    stage.runtime.unreachable = ""
    stage.finish(stage.runs(key)[0].session)
    for _ in range(6):
        await stage.tick()
    assert await is_stopped(stage)
