"""Taking away what is over: what goes, what stays, and that nothing unsaved is lost."""

import asyncio
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from nightcrew.core.branch import branch_name
from nightcrew.core.errors import Conflict
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.task import Task
from nightcrew.core.model.upkeep import RetentionSettings
from nightcrew.engine.disk import measure_bytes, remove_inside
from nightcrew.engine.effect.means import Means
from nightcrew.engine.prune import DONE_AT, prune, watch_retention
from nightcrew.ports.inquiry_service import NewInquiry
from nightcrew.ports.service import Answer
from nightcrew.ports.workspace import WorkspaceSpec
from tests.adapters.workspaces.house import PROJECT as GIT_PROJECT
from tests.adapters.workspaces.house import House, git
from tests.engine.stage import Stage
from tests.waiting import eventually

DAY_S = 86_400.0
MONTHS_S = 100 * DAY_S


def old(stage: Stage, path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x" * 5000, encoding="utf-8")
    at = stage.clock.now().timestamp() - days * DAY_S
    os.utime(path, (at, at))
    return path


def part(answer: Answer, kind: str) -> dict[str, int]:
    found = answer.data[kind]
    assert isinstance(found, dict)
    return found


async def finished(stage: Stage) -> TaskKey:
    """A task that went its whole way."""
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.DONE)
    await stage.settle()
    return key


async def test_old_folders_events_logs_and_copies_go_and_new_ones_stay(tmp_path):
    stage = Stage(tmp_path.resolve())
    first = await finished(stage)
    await stage.later(DAY_S)  # what is waited for after a merge is over
    stage.clock.advance(MONTHS_S)
    second = await finished(stage)
    gone = [stage.means.folder(run) for run in stage.runs(first)]
    kept = [stage.means.folder(run) for run in stage.runs(second)]
    for folder in (*gone, *kept):
        (folder / "agent").mkdir(parents=True, exist_ok=True)
        (folder / "agent" / "big").write_text("x" * 10_000, encoding="utf-8")
    (gone[0] / "agent" / "shut").mkdir(mode=0o000)
    logs = stage.home / "logs"
    log, dump = old(stage, logs / "nightcrew.jsonl.3", 20), old(stage, logs / "world-1.json", 20)
    now, fresh = old(stage, logs / "nightcrew.jsonl", 20), old(stage, logs / "nightcrew.jsonl.1", 1)
    copies = [old(stage, stage.home / f"nightcrew.db.backup-000{n}-x", 100 - n) for n in range(7)]
    events = len(stage.store.events)

    said = await prune(stage.means, dry_run=True)
    assert said.words.startswith("would remove ")
    assert not said.changed
    assert part(said, "used")["runs"] > 10_000
    assert all(folder.is_dir() for folder in (*gone, *kept))
    assert len(stage.store.events) == events

    done = await prune(stage.means, dry_run=False)
    assert done.changed
    for kind in ("runs", "logs", "backups"):
        assert done.data[kind] == said.data[kind]
    assert part(done, "runs")["count"] == len(gone)
    assert not any(folder.exists() for folder in gone)
    assert all(folder.is_dir() for folder in kept)
    assert [path.exists() for path in (log, dump, now, fresh)] == [False, False, True, True]
    assert [path.exists() for path in copies] == [False, False, *[True] * 5]
    assert not stage.events("status.changed", first)
    assert stage.events("status.changed", second)
    assert stage.events("home.pruned")
    assert (await prune(stage.means, dry_run=False)).words == "nothing is old enough"
    assert (await stage.facade.get_task(first)).runs, "what they came to is still known"


async def test_what_a_question_left_goes_and_what_an_open_one_needs_stays(tmp_path):
    stage = Stage(tmp_path.resolve())
    asked = (await stage.facade.ask(NewInquiry("Why?"))).id
    needed, left = (stage.home / "asks" / name for name in (asked, "over"))
    for folder in (needed, left):
        folder.mkdir(parents=True)
        at = stage.clock.now().timestamp() - 400 * DAY_S
        os.utime(folder, (at, at))
    assert part(await prune(stage.means, dry_run=False), "questions")["count"] == 1
    assert needed.is_dir()
    assert not left.exists()


async def test_zero_keeps_everything(tmp_path):
    stage = Stage(tmp_path.resolve())
    kept = RetentionSettings(runs_s=0, events_s=0, logs_s=0, worktrees_s=0)
    stage.settings = replace(stage.settings, upkeep=replace(stage.settings.upkeep, retention=kept))
    stage.start()
    await finished(stage)
    stage.clock.advance(10 * MONTHS_S)
    old(stage, stage.home / "logs" / "nightcrew.jsonl.1", 900)
    assert (await prune(stage.means, dry_run=True)).words == "nothing is old enough"


async def test_it_happens_once_a_day_also_over_restarts_and_clocks_that_are_set_back(tmp_path):
    stage = Stage(tmp_path.resolve())

    async def pruned() -> str | None:
        """When it was done last, after the part has had its chance."""
        looks = 0

        def in_force() -> Means:
            nonlocal looks
            looks += 1
            return stage.means

        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch_retention(in_force, every_s=0.001))
            await eventually(lambda: looks > 3)
            watching.cancel()
        return await stage.store.find_value(DONE_AT)

    first = await pruned()
    assert first is not None
    stage.clock.advance(DAY_S - 60)
    assert await pruned() == first
    stage.clock.advance(120)
    second = await pruned()
    assert second != first
    stage.clock.set_wall(-3 * DAY_S)
    assert await pruned() not in (first, second)


def test_launchds_output_is_emptied_only_when_it_is_large(tmp_path):
    from nightcrew.engine.prune import LARGEST_OUTPUT, _empty_output

    log = tmp_path / "launchd.log"
    _empty_output(log)
    log.write_text("small", encoding="utf-8")
    _empty_output(log)
    assert log.stat().st_size == 5
    with log.open("r+b") as file:
        file.truncate(LARGEST_OUTPUT + 1)
    _empty_output(log)
    assert log.stat().st_size == 0


def test_nothing_outside_is_touched(tmp_path):
    root, outside = tmp_path / "runs", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "mine").write_text("x", encoding="utf-8")
    (root / "a" / "link").symlink_to(outside)
    (root / "door").symlink_to(outside)
    assert not remove_inside(root, outside / "mine")
    assert not remove_inside(root, root / "door")
    assert not remove_inside(root, root / "door" / "mine")
    assert not remove_inside(root, root)
    assert remove_inside(root, root / "a")
    assert (outside / "mine").is_file()
    assert measure_bytes(root) < 10_000


def a_done_task(stage: Stage, number: int, *, status: Status = Status.DONE) -> Task:
    long_ago = stage.clock.now() - timedelta(days=10)
    return Task(
        key=TaskKey(GIT_PROJECT, number), title="x", status=status, created_at=long_ago, updated_at=long_ago,
        base_ref="main", branch=branch_name(number, "x"),
    )  # fmt: skip


@pytest.mark.case("C236")
async def test_left_worktrees_go_and_what_is_in_none_but_them_is_saved(tmp_path):
    """Real git: twelve finished tasks whose worktrees are left, one with a commit that was never pushed, one with files
    that were never committed, one that a run holds, and one that is blocked."""
    stage, house = Stage((tmp_path / "stage").resolve()), House(tmp_path / "git")
    house.publish({"a.txt": "1\n"})
    await house.workspaces.fetch(GIT_PROJECT, house.remote)
    trees = {}
    for number in range(1, 15):
        spec = WorkspaceSpec(GIT_PROJECT, number, branch_name(number, "x"), "main", RunId(f"R{number}"))
        checkout = await house.workspaces.ensure_workspace(spec)
        trees[number] = checkout.path
        if number != 13:
            await house.workspaces.release(GIT_PROJECT, number, lease=RunId(f"R{number}"))
        status = Status.BLOCKED if number == 14 else Status.DONE
        await stage.store.record_task(a_done_task(stage, number, status=status), event=an_event(stage))
    (trees[3] / "new.txt").write_text("committed\n", encoding="utf-8")
    git(trees[3], "add", "-A")
    git(trees[3], "commit", "-q", "-m", "Never pushed")
    (trees[5] / "loose.txt").write_text("loose\n", encoding="utf-8")
    means = replace(stage.means, ports=replace(stage.ports, workspace=house.workspaces))

    said = await prune(means, dry_run=True)
    assert part(said, "worktrees")["count"] == 13
    assert all(tree.is_dir() for tree in trees.values())
    done = await prune(means, dry_run=False)
    assert part(done, "worktrees")["count"] == 12
    assert [number for number, tree in trees.items() if tree.is_dir()] == [13, 14]
    refs = git(house.engine, "for-each-ref", "--format=%(refname)", "refs/nightcrew/salvage/").split()
    assert sorted(ref.split("/")[3] for ref in refs) == ["3", "5"]
    found = {ref.split("/")[3]: git(house.engine, "ls-tree", "-r", "--name-only", ref).split() for ref in refs}
    assert "new.txt" in found["3"]
    assert "loose.txt" in found["5"]
    assert len(stage.events("workspace.salvaged")) == 2
    with pytest.raises(Conflict):
        await house.workspaces.remove_workspace(GIT_PROJECT, 13, merged=False)


def an_event(stage: Stage) -> Event:
    return Event("task.adopted", "for a test", stage.clock.now())
