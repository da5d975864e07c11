"""The world goes away for hours: nothing changes meanwhile, attempts are few, and it goes on once it is back."""

import asyncio
import errno
from typing import Any

import pytest

from nightcrew.core.errors import Denied, OutcomeUnknown, PortError, Unavailable
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import InterruptionKind, Role
from nightcrew.engine.watch import watch_runs
from tests.engine.part import PROJECT, fails, failure_of, interruption_of
from tests.engine.stage import Stage

READS = ("list_open_issues", "list_updated_issues", "fetch_issue", "fetch_pull", "find_branch", "fetch_repository")
HOUR_S = 3600.0


@pytest.mark.parametrize("at", [Status.IN_PROGRESS, Status.IN_REVIEW])
@pytest.mark.parametrize("why", ["no route to host", "502 Bad Gateway", "secondary rate limit"])
async def test_a_network_gone_for_hours_changes_nothing_and_costs_little(tmp_path, at, why):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is at)
    for method in READS:
        stage.forge.fail(method, Unavailable(why), times=100_000)
    stage.workspace.fail("fetch", Unavailable(why), times=100_000)
    before, moves = len(stage.forge.calls), stage.moves(key)
    looks = 0
    for _ in range(int(3 * HOUR_S / stage.settings.interval_s)):
        await stage.tick(advance_s=stage.settings.interval_s)
        stage.play()
        looks += 1
    assert stage.moves(key) == moves
    assert stage.task(key).status is at
    assert len(stage.forge.calls) - before <= looks * 8
    assert (await stage.summary(key))[1]
    assert any(why in problem for problem in stage.observer.problems())
    stage.forge._faults.clear()
    stage.workspace._faults.clear()
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 1
    assert len(stage.runs(key, Role.AUTHOR)) == 1


WRITES = (
    "add_label", "remove_label", "create_comment", "update_comment", "create_pull", "post_review", "post_status",
    "merge_pull", "set_issue_open", "delete_branch",
)  # fmt: skip


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("method", WRITES)
async def test_a_write_whose_answer_is_lost_is_looked_for_and_not_made_twice(tmp_path, method, after):
    stage = Stage(tmp_path)
    stage.forge.fail(method, OutcomeUnknown("no answer"), times=2, after=after)
    key = stage.file()
    for _ in range(12):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 1
    assert len(stage.comments(key)) <= 1
    assert stage.statuses(key) == ("status:done",)
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert {effect.state for effect in await stage.store.load_effects()} <= {"done", "refused", "unknown"}


class Stubborn:
    """A method of a store that raises for as long as it is told to."""

    def __init__(self, store: Any, method: str, error: Exception) -> None:
        self.error: Exception | None = error
        plain = getattr(store, method)

        async def call(*args: Any, **named: Any) -> Any:
            if self.error is not None:
                raise self.error
            return await plain(*args, **named)

        setattr(store, method, call)


@pytest.mark.parametrize("error", [Unavailable("locked"), OSError(errno.ENOSPC, "No space left on device")])
@pytest.mark.parametrize("method", ["record_intent", "settle_effect", "change_status", "record_event", "save_run"])
async def test_a_store_that_cannot_write_loses_nothing(tmp_path, method, error):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    fault = Stubborn(stage.store, method, error)
    for _ in range(20):
        await stage.tick(advance_s=20)
        stage.play()
    fault.error = None
    for _ in range(4):
        await stage.later(700)
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 1
    assert stage.runtime.sessions == {}


@pytest.mark.parametrize("error", [Unavailable("locked"), Denied("read-only"), OSError(errno.EIO, "I/O error")])
async def test_a_store_that_cannot_be_read_ends_neither_the_loop_nor_the_watch(tmp_path, error):
    stage = Stage(tmp_path)
    key = stage.file()
    fault = Stubborn(stage.store, "load_tasks", error)
    woken: list[int] = []
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(watch_runs(lambda: stage.ports, lambda: woken.append(1), every_s=0))
        loop = group.create_task(stage.loop.run())
        async with asyncio.timeout(20):
            while not stage.loop.state.problem:
                await asyncio.sleep(0)
            fault.error = None
            stage.loop.wake()
            while key not in stage.store.tasks:
                stage.loop.wake()
                await asyncio.sleep(0.001)
        assert not watch.done()
        watch.cancel()
        stage.loop.stop()
        await loop
    assert isinstance(error, PortError | OSError)


async def test_a_full_disk_is_told_in_its_own_words(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()

    async def full(*_args: Any, **_named: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device", "/home/nightcrew/worktrees")

    stage.workspace.instead["ensure_workspace"] = full
    await stage.settle()
    sentence = (await stage.summary(key))[1]
    assert "No space left on device" in sentence
    assert "a bug" not in sentence
    del stage.workspace.instead["ensure_workspace"]
    await stage.later(700)
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert stage.count("create_pull", PROJECT) == 1


FULL = "output could not be kept: No space left on device"


@pytest.mark.parametrize(
    ("detail", "error"), [(FULL, FULL), ("exit code 1: ENOSPC: no space left on device, write", ""), ("x", FULL)]
)
async def test_a_run_that_had_no_room_on_the_disk_blames_no_agent_and_uses_no_attempt(tmp_path, detail, error):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    first = stage.runs(key)[0]
    stage.agents[first.agent].orders[Role.AUTHOR].append(fails(FailureKind.CRASH, detail))
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    stage.runtime.end(first.session, exit_code=1, error=error)
    await stage.settle()
    assert interruption_of(stage.runs(key)[0]).kind is InterruptionKind.LOST
    assert stage.store.cooldowns == {}
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == [first.agent, first.agent]
    assert stage.task(key).status is Status.DONE


async def test_a_crash_with_room_on_the_disk_is_the_agents(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    first = stage.runs(key)[0]
    stage.agents[first.agent].orders[Role.AUTHOR].append(fails(FailureKind.CRASH, "exit code 1"))
    stage.runtime.end(first.session, exit_code=1)
    await stage.tick()
    assert failure_of(stage.runs(key)[0]).kind is FailureKind.CRASH
