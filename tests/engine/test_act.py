"""The actor, the loop, the journal, the bus and what keeps parts alive."""

import asyncio
import itertools
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.actions import Done, OutcomeOpen, Refused, RunChecks, SettleLabels
from nightcrew.core.decide import Decision, decide
from nightcrew.core.errors import Conflict, Denied, OutcomeUnknown, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.world import World
from nightcrew.engine.act import Actor
from nightcrew.engine.watch import watch_runs
from nightcrew.service.dump import dump_world
from nightcrew.service.replay import load_world, run_replay
from tests.engine.part import PROJECT
from tests.engine.stage import Stage
from tests.waiting import eventually


async def routed(stage: Stage):
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    return key


# Refusals and pauses


async def test_what_is_refused_is_tried_with_growing_pauses_and_shown(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    refusal = Unavailable("502 bad gateway", retry_at=stage.clock.now())
    stage.workspace.fail("ensure_workspace", refusal, times=10_000)
    attempts_at = []
    for second in range(3600):
        before = len(stage.events("action.refused", key))
        await stage.tick()
        if len(stage.events("action.refused", key)) > before:
            attempts_at.append(second)
    gaps = [later - earlier for earlier, later in itertools.pairwise(attempts_at)]
    assert len(attempts_at) <= 14
    assert gaps == sorted(gaps)
    assert gaps[1:4] == [5, 10, 20]  # the first is that of starting; it is resumed from then on
    assert max(gaps) <= 601
    wait = stage.wait(key)
    assert wait.code == "retrying"
    assert "502 bad gateway" in wait.words
    summary = (await stage.facade.get_task(key)).summary
    assert "502 bad gateway" in summary.sentence
    stage.workspace._faults.clear()
    await stage.later(600)
    assert stage.task(key).status is Status.DONE


async def test_a_success_ends_the_counting_of_refusals(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    settle = SettleLabels(key, Status.NEW, "late")
    await stage.act(settle)
    await stage.act(settle)
    assert stage.loop.actor.deferred()[settle.key].until_at == stage.clock.now() + timedelta(seconds=5)


async def test_what_may_have_happened_is_looked_for_only_when_lists_can_show_it(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    settle = SettleLabels(key, Status.ROUTED, "late")
    stage.forge.fail("fetch_issue", OutcomeUnknown("no answer"))
    assert isinstance(await stage.act(settle), OutcomeOpen)
    assert stage.loop.actor.deferred()[settle.key].until_at == stage.clock.now() + timedelta(seconds=20)


async def test_a_command_clears_the_pauses_of_its_task_only(tmp_path):
    stage = Stage(tmp_path)
    keys = [stage.file(f"task {number}") for number in range(12)]
    await stage.until(lambda: len(stage.store.tasks) == 12)
    first, twelfth = keys[0], keys[11]
    assert str(twelfth).startswith(str(first))
    for key in (first, twelfth):
        await stage.act(SettleLabels(key, Status.DONE, "late"))
    await stage.facade.block_task(first, why="wait")
    assert list(stage.loop.actor.deferred()) == [f"settle:{twelfth}:done"]


async def test_a_command_does_not_have_done_again_what_may_have_happened(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    lost = SettleLabels(key, Status.ROUTED, "late")
    for _ in range(3):
        stage.forge.fail("fetch_issue", OutcomeUnknown("no answer"))
        assert isinstance(await stage.act(lost), OutcomeOpen)
    assert stage.loop.actor.deferred()[lost.key].until_at == stage.clock.now() + timedelta(seconds=80)
    await stage.facade.block_task(key, why="wait")
    assert stage.loop.actor.deferred()[lost.key].until_at == stage.clock.now() + timedelta(seconds=20)


async def test_an_action_that_takes_too_long_is_open(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    never = asyncio.Event()

    async def hang(plain, project, number):
        await never.wait()

    stage.forge.instead["fetch_issue"] = hang  # a call that does not come back
    actor = Actor(stage.means, wake=stage.loop.wake, timeout_s=0.02)
    outcome = await actor.submit(SettleLabels(key, Status.ROUTED, "slow"))
    assert isinstance(outcome, OutcomeOpen)
    assert stage.events("action.unknown", key)
    assert actor.in_flight == ()
    assert actor.deferred()


async def test_a_bug_in_one_action_ends_neither_the_loop_nor_the_others(tmp_path):
    stage = Stage(tmp_path)
    bad, good = stage.file("bad"), stage.file("good")

    async def broken(plain, spec):
        if spec.number == bad.number:
            raise ZeroDivisionError("a bug")
        return await plain(spec)

    stage.workspace.instead["ensure_workspace"] = broken  # a bug in an adapter
    await stage.settle()
    assert stage.task(good).status is Status.DONE
    assert stage.task(bad).status is Status.IN_PROGRESS
    assert "ZeroDivisionError" in stage.events("action.refused", bad)[0]


@pytest.mark.parametrize("error", [Denied("no"), Conflict("moved"), Conflict(""), OutcomeUnknown("lost")])
async def test_errors_of_ports_become_outcomes(tmp_path, error):
    stage = Stage(tmp_path)
    key = await routed(stage)
    stage.forge.fail("fetch_issue", error)
    outcome = await stage.act(SettleLabels(key, Status.ROUTED, "try"))
    assert isinstance(outcome, OutcomeOpen if isinstance(error, OutcomeUnknown) else Refused)
    assert outcome.why


async def test_a_store_that_cannot_write_the_refusal_down_does_not_end_the_actor(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    stage.store.trouble = Unavailable("the disk is full")
    outcome = await stage.act(SettleLabels(key, Status.ROUTED, "try"))
    stage.store.trouble = None
    assert outcome == Refused("the disk is full")


async def test_a_command_waits_for_what_is_under_way_and_not_for_checks(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    stage.loop.actor = Actor(stage.means, wake=stage.loop.wake, patience_s=0.02)
    free = asyncio.Event()

    async def hang(plain, project, number):
        await free.wait()
        return await plain(project, number)

    async with asyncio.TaskGroup() as group:
        stage.forge.instead["fetch_pull"] = hang  # a check that takes its time
        checks = RunChecks(key, 1, Sha("a" * 40), Sha("b" * 40), ("test",), "checks")
        stage.loop.actor.start(checks, group, world=stage.world())
        await asyncio.sleep(0)
        assert isinstance(await stage.act(SettleLabels(key, Status.ROUTED, "beside")), Done)
        stage.forge.instead["fetch_issue"] = hang  # now an action that has the task
        stage.loop.actor.start(SettleLabels(key, Status.ROUTED, "slow"), group, world=stage.world())
        await asyncio.sleep(0)
        with pytest.raises(Conflict, match="at work on it"):
            await stage.facade.block_task(key, why="now")
        free.set()
        del stage.forge.instead["fetch_issue"]
    assert stage.task(key).status is Status.ROUTED


# The loop


async def test_the_loop_runs_and_stops_and_a_run_that_ends_wakes_it(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    ticks = []
    loop = stage.loop
    loop._on_tick = lambda state: ticks.append(state.ticks)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(loop.run())
        await eventually(lambda: stage.runtime.sessions, what="an author")
        assert not running.done()
        stage.play()
        await eventually(lambda: any("-reviewer-" in name for name in stage.runtime.sessions), what="a reviewer")
        stage.ci()
        stage.play()
        stage.observer.expire()
        loop.wake()
        await eventually(lambda: stage.task(key).status is Status.DONE, what="done")
        loop.stop()
        await loop.stopped()
    assert ticks == list(range(1, len(ticks) + 1))
    assert loop.state.last_tick_at == stage.clock.now()


async def test_runs_that_end_are_told_once(tmp_path):
    stage = Stage(tmp_path)
    stage.file()
    await stage.settle(play=False)
    woken = []
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch_runs(lambda: stage.ports, lambda: woken.append(True), every_s=0.001))
        await asyncio.sleep(0.02)
        assert woken == []
        stage.play()
        await eventually(lambda: woken, what="a wake")
        await asyncio.sleep(0.02)
        watcher.cancel()
    assert woken == [True]


async def test_a_store_that_does_not_answer_for_a_while_ends_no_watch(tmp_path):
    stage = Stage(tmp_path)
    stage.file()
    await stage.settle(play=False)
    woken = []
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch_runs(lambda: stage.ports, lambda: woken.append(True), every_s=0.001))
        stage.store.trouble = Unavailable("the database is locked")
        calls = stage.store.call_count
        await eventually(lambda: stage.store.call_count > calls + 2, what="some tries")
        stage.store.trouble = None
        stage.play()
        await eventually(lambda: woken, what="a wake")
        watcher.cancel()


async def test_a_world_that_cannot_be_decided_is_written_down_and_can_be_decided_again(tmp_path, capsys):
    stage = Stage(tmp_path)
    good, bad = stage.file("good"), stage.file("bad")
    await stage.until(lambda: len(stage.store.tasks) == 2)
    stage.store.tasks[bad] = replace(stage.task(bad), created_at=None)  # type: ignore[arg-type]  # a broken row
    with pytest.raises(ExceptionGroup):
        await stage.tick()
    world, words = stage.dumps[-1]
    assert "TypeError" in words
    dump_world(tmp_path, world, words)
    (file,) = tmp_path.glob("world-*.json")
    assert load_world(file) == world
    assert good in [view.task.key for view in load_world(file).projects[PROJECT].tasks]
    with pytest.raises(TypeError):
        run_replay(file, as_json=False)


async def test_one_task_that_cannot_be_decided_leaves_the_others_and_is_written_down_once(tmp_path, capsys):
    stage = Stage(tmp_path)
    good, bad = stage.file("good"), stage.file("bad")
    await stage.until(lambda: len(stage.store.tasks) == 2 and stage.task(bad).route)
    stage.store.tasks[bad] = replace(stage.task(bad), cycles=None)  # type: ignore[arg-type]  # a broken row
    stage.store.writes += 1
    await stage.settle()
    await stage.later()
    assert stage.task(good).status is Status.DONE
    assert stage.wait(bad).code == "bug"
    assert len(stage.dumps) == 1
    world, words = stage.dumps[0]
    assert "TypeError" in words
    dump_world(tmp_path, world, words)
    (file,) = tmp_path.glob("world-*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    assert load_world(file) == world
    assert run_replay(file, as_json=False) == 1
    assert f"{bad} cannot be decided" in capsys.readouterr().out
    assert run_replay(file, as_json=True) == 1
    assert "TypeError" in json.loads(capsys.readouterr().out)["errors"]["value"][0][1]


async def test_every_world_of_a_whole_life_is_read_back_as_it_was(tmp_path):
    stage = Stage(tmp_path)
    stage.file("first", labels=("nightcrew", "priority:high"))
    stage.file("second")
    worlds: list[tuple[World, Decision]] = []
    stage.loop._on_tick = lambda state: worlds.append((stage.world(), state.decision))
    await stage.settle()
    stage.file("third", labels=("nightcrew", "agent:nobody"))
    await stage.later()
    assert len(worlds) > 10
    for world, decision in worlds:
        dump_world(tmp_path, world, "kept")
        (file,) = tmp_path.glob("world-*.json")
        back = load_world(file)
        file.unlink()
        assert back == world
        assert decide(back) == decision
