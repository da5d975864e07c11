"""Homes of before, in which all tasks of a project shared one repository: what is at work goes on to its end in it,
what is new has its own, and the shared one goes with the last of them, its work saved."""

import json
from pathlib import Path

from nightcrew.core.ids import RunId
from nightcrew.process import run_process
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, House, git


def make_old(house: House) -> Path:
    """Have the task's worktree as it was made then. The shared repository."""
    shared = house.engine.parent / "agents.git"
    house.agents.rename(shared)
    admin = shared / "worktrees" / house.tree.name
    (house.tree / ".git").write_text(f"gitdir: {admin}\n")
    path = house.engine.parent / "tasks" / f"{NUMBER}.json"
    marker = json.loads(path.read_text())
    del marker["layout"]
    path.write_text(json.dumps(marker))
    assert git(house.tree, "status", "--porcelain", "-b") == f"## {BRANCH}"
    return shared


async def end(house: House, number: int = NUMBER, *, run: str = "run-1") -> None:
    await house.workspaces.release(PROJECT, number, lease=RunId(run))
    await house.workspaces.remove_workspace(PROJECT, number, merged=False)


async def test_a_worktree_of_before_goes_on_to_its_end_where_it_is(house):
    made = await house.start()
    shared = make_old(house)
    house.workspaces = house.open()
    (made.path / "work").write_text("first")
    left = await house.collect()
    assert git(shared, "rev-parse", BRANCH) == left.head_sha
    await house.workspaces.release(PROJECT, NUMBER, lease=RunId("run-1"))
    again = await house.start(run="run-2")
    assert (again.path / "work").read_text() == "first"
    folders = house.workspaces.git_folders(PROJECT, NUMBER)
    assert folders.common == shared
    assert folders.own.parent == shared / "worktrees"
    assert not house.agents.exists()


async def test_a_new_task_has_its_own_beside_it_and_the_shared_one_goes_with_its_last(house):
    await house.start()
    shared = make_old(house)
    house.workspaces = house.open()
    other = await house.start(run="run-8", number=8)
    assert git(other.path, "rev-parse", "--git-common-dir") == str(house.agents_of(8))
    await house.fetch()
    assert shared.exists(), "a task is at work in it"
    left = git(shared, "commit-tree", "-m", "left", f"{house.tip('main')}^{{tree}}", "-p", house.tip("main"))
    git(shared, "branch", "nightcrew/5-forgotten", left)
    git(shared, "branch", "nightcrew/6-merged", house.tip("main"))
    git(shared, "pack-refs", "--all")
    (house.tree / "work").write_text("unsaved")
    await end(house)
    await house.fetch()
    assert not shared.exists()
    assert left in house.salvaged().values()
    assert len(house.salvaged()) == 2, "what was forgotten, and what the task left"
    assert git(other.path, "status", "--porcelain", "-b").startswith("## ")
    again = await house.start(run="run-9")
    assert git(again.path, "rev-parse", "--git-common-dir") == str(house.agents)


async def test_a_removal_of_before_that_was_cut_short_is_made_anew_in_a_repository_of_its_own(house):
    await house.start()
    make_old(house)
    path = house.engine.parent / "tasks" / f"{NUMBER}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "stage": "removing"}))
    house.workspaces = house.open()
    await house.workspaces.release(PROJECT, NUMBER, lease=RunId("run-1"))
    again = await house.start(run="run-2")
    assert git(again.path, "rev-parse", "--git-common-dir") == str(house.agents)
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"


async def test_a_lost_marker_of_before_puts_the_worktree_aside(house):
    made = await house.start()
    shared = make_old(house)
    (made.path / "half").write_text("half")
    (house.engine.parent / "tasks" / f"{NUMBER}.json").unlink()
    house.workspaces = house.open()
    await house.workspaces.release(PROJECT, NUMBER, lease=None)
    again = await house.start(run="run-2")
    (kept,) = (house.engine.parent / "aside").glob("*/half")
    assert str(kept.parent) in again.warnings[0]
    assert git(again.path, "rev-parse", "--git-common-dir") == str(house.agents)
    assert not shared.exists()


async def test_what_cannot_be_taken_over_is_put_aside_whole(house):
    await house.start()
    shared = make_old(house)
    house.workspaces = house.open()
    await end(house)
    (shared / "refs" / "heads" / "bad").write_text("1" * 40 + "\n")
    await house.fetch()
    assert not shared.exists()
    (kept,) = (house.engine.parent / "aside").glob("agents-*")
    assert (kept / "refs" / "heads" / "bad").exists()


async def test_a_task_costs_a_few_kilobytes_beside_its_own_work_and_nothing_when_it_is_over(house):
    house.publish({"big.bin": "x" * 2_000_000})
    for number in (7, 8, 9):
        await house.start(run=f"run-{number}", number=number)
    used = await run_process(["du", "-sk", str(house.agents.parent)], timeout_s=30)
    assert int(used.text.split()[0]) < 3 * 300
    for number in (7, 8, 9):
        await end(house, number, run=f"run-{number}")
    assert list(house.agents.parent.iterdir()) == []
