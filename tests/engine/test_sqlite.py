"""The engine over the real store: a whole life, a restart in its middle, and starts that race."""

import asyncio

import pytest

from nightcrew.core.actions import Done, StartRun
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Probe, Role, RunState
from nightcrew.ports.store import Store
from nightcrew.store.sqlite import SqliteStore
from tests.engine.part import PROJECT
from tests.engine.stage import Stage


async def live(stage: Stage, store: Store, key: TaskKey, status: Status, *, play: bool = True) -> None:
    for _ in range(60):
        await stage.tick()
        task = await store.find_task(key)
        if task is not None and task.status is status:
            return
        for name, session in list(stage.runtime.sessions.items()):
            if play and session.probe is Probe.ALIVE:
                if "-author-" in name:
                    stage.workspace.edit(PROJECT, key.number, {"work.txt": name})
                stage.runtime.end(name)
        if stage.ci():
            stage.observer.expire()
    raise AssertionError(f"it never became {status.value}")


async def test_a_whole_life_with_a_restart_in_its_middle(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=stage.clock) as store:
        stage.start(store)
        await live(stage, store, key, Status.NEEDS_REVIEW)
        before = await store.load_runs()
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=stage.clock) as store:
        stage.start(store)
        await live(stage, store, key, Status.DONE)
        for _ in range(3):
            await stage.tick()
        runs = await store.load_runs()
        assert runs[0] == before[0]
        assert [(run.role, run.state) for run in runs] == [
            (Role.AUTHOR, RunState.ENDED),
            (Role.REVIEWER, RunState.ENDED),
        ]
        detail = await stage.facade.get_task(key)
        assert detail.summary.sentence.startswith("It is merged (")
        assert [event.kind for event in detail.events if event.kind == "status.changed"] == ["status.changed"] * 5
        assert {effect.state for effect in await store.load_effects()} == {"done"}
        writes = store.writes
        for _ in range(3):
            await stage.tick()
        assert store.writes == writes
    assert stage.statuses(key) == ("status:done",)
    assert "`done`" in stage.comments(key)[0]


@pytest.mark.case("C117")
async def test_a_hundred_starts_at_once_start_one(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=stage.clock) as store:
        stage.start(store)
        await live(stage, store, key, Status.ROUTED)
        task = await store.find_task(key)
        assert task is not None
        assert task.route is not None
        start = StartRun(key, Status.ROUTED, Role.AUTHOR, task.route.agent, "", 1, 3600.0, "its turn")
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(stage.perform(start)) for _ in range(50)]
            asked += [group.create_task(stage.act(start)) for _ in range(50)]
            await stage.loop.tick(group)
        assert sum(isinstance(task.result(), Done) for task in asked) <= 1
        assert len(await store.load_runs()) == len(stage.runtime.started) == 1
        assert list(stage.workspace.repository(PROJECT).trees) == [key.number]
    assert stage.statuses(key) == ("status:in_progress",)


async def test_what_is_told_and_what_is_done_at_once_do_not_undo_each_other(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=stage.clock) as store:
        stage.start(store)
        await live(stage, store, key, Status.NEEDS_REVIEW)
        before = await store.find_task(key)
        assert before is not None
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.facade.approve_task(key))
            for _ in range(3):
                await stage.loop.tick(group)
        after = await store.find_task(key)
        assert after is not None
        assert after.pull == before.pull
        assert after.approved_sha == stage.pulls()[0].head_sha
