"""Nothing is removed that is not saved elsewhere."""

import json

import pytest

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import RunId
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, House, git


async def remove(house: House, *, merged: bool = False) -> tuple[str, ...]:
    await house.workspaces.release(PROJECT, NUMBER, lease=RunId("run-1"))
    return await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=merged)


def is_gone(house: House) -> bool:
    assert not house.tree.exists()
    assert not house.agents.exists()
    return True


async def test_a_clean_pushed_workspace_goes_without_a_trace(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    left = await house.collect()
    await house.workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    assert await remove(house) == ()
    assert is_gone(house)
    assert house.salvaged() == {}
    assert await remove(house) == ()


async def test_unpushed_commits_are_saved_first(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    left = await house.collect()
    [ref] = await remove(house)
    assert ref == "refs/nightcrew/salvage/7/20260304T050607Z"
    assert house.salvaged() == {ref: left.head_sha}
    assert is_gone(house)


async def test_commits_that_were_never_collected_are_saved(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    git(made.path, "add", "-A")
    git(made.path, "commit", "-q", "-m", "own")
    own = git(made.path, "rev-parse", "HEAD")
    [ref] = await remove(house, merged=True)
    assert house.salvaged() == {ref: own}
    assert is_gone(house)


async def test_uncommitted_and_untracked_work_is_saved(house):
    made = await house.start()
    (made.path / "README.md").write_text("edited")
    (made.path / "näw dir").mkdir()
    (made.path / "näw dir" / "file").write_text("untracked")
    (made.path / "debug.log").write_text("ignored")
    [ref] = await remove(house, merged=True)
    assert house.show(f"{ref}:README.md") == "edited"
    assert house.show(f"{ref}:näw dir/file") == "untracked"
    assert git(house.engine, "rev-parse", f"{ref}^") == made.head_sha
    assert "debug.log" not in git(house.engine, "ls-tree", "-r", "--name-only", ref)
    assert is_gone(house)


async def test_squash_merged_commits_need_no_saving(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    await house.collect()
    house.publish({"x": "1"}, message="squashed")
    await house.fetch()
    assert await remove(house, merged=True) == ()
    assert is_gone(house)


async def test_a_branch_deleted_on_the_remote_does_not_count_as_saved(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    left = await house.collect()
    await house.workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    git(house.bare, "update-ref", "-d", f"refs/heads/{BRANCH}")
    await house.fetch()
    assert len(await remove(house)) == 1


async def test_both_head_and_branch_are_saved_when_they_differ(house):
    made = await house.start()
    for name in ("one", "two"):
        git(made.path, "checkout", "-q", *([] if name == "one" else ["--detach", made.head_sha]))
        (made.path / name).write_text(name)
        git(made.path, "add", "-A")
        git(made.path, "commit", "-q", "-m", name)
    (made.path / "three").write_text("3")
    refs = await remove(house)
    assert len(refs) == len(set(refs)) == 3
    assert {name for ref in refs for name in ("one", "two", "three") if name in house.show(ref)} == {
        "one", "two", "three",
    }  # fmt: skip


async def test_a_workspace_in_use_is_not_removed(house):
    made = await house.start()
    with pytest.raises(Conflict, match="run-1"):
        await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=True)
    assert git(made.path, "status", "--porcelain") == ""


async def test_a_marker_that_is_not_understood_keeps_everything(house):
    made = await house.start()
    marker = house.engine.parent / "tasks" / f"{NUMBER}.json"
    marker.write_text("{ half")
    with pytest.raises(Conflict):
        await remove(house)
    marker.write_text("{}")
    with pytest.raises(Conflict):
        await remove(house)
    assert (made.path / "README.md").exists()


async def test_a_repository_inside_is_put_aside_not_deleted(house):
    made = await house.start()
    inner = made.path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "a").write_text("only here")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    await remove(house)
    assert is_gone(house)
    [kept] = (house.engine.parent / "aside").glob("7-tree-*")
    assert git(kept / "inner", "show", "HEAD:a") == "only here"


async def test_a_repository_inside_without_commits_is_put_aside_too(house):
    """Git refuses to add it, so no ref holds its files."""
    made = await house.start()
    inner = made.path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "a").write_text("only here")
    await remove(house)
    assert is_gone(house)
    [kept] = (house.engine.parent / "aside").glob("7-tree-*")
    assert (kept / "inner" / "a").read_text() == "only here"


async def test_a_removal_that_was_broken_off_is_finished_before_a_workspace_is_made_again(house):
    made = await house.start()
    inner = made.path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "a").write_text("only here")
    marker = house.engine.parent / "tasks" / f"{NUMBER}.json"
    # As the version before this wrote it, which died just then.
    broken = json.loads(marker.read_text()) | {"stage": "removing"}
    del broken["whole"]
    marker.write_text(json.dumps(broken))
    await house.workspaces.release(PROJECT, NUMBER, lease=RunId("run-1"))
    again = await house.start(run="run-2")
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"
    assert not (again.path / "inner").exists()
    [kept] = (house.engine.parent / "aside").glob("7-tree-*")
    assert (kept / "inner" / "a").read_text() == "only here"


async def test_read_only_folders_are_removed_too(house):
    made = await house.start()
    cache = made.path / "build" / "cache"
    cache.mkdir(parents=True)
    (cache / "x").write_text("1")
    cache.chmod(0o500)
    cache.parent.chmod(0o500)
    assert await remove(house) == ()
    assert is_gone(house)
    assert list((house.engine.parent / "trash").iterdir()) == []


async def test_a_task_can_start_again_after_its_workspace_was_removed(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    await remove(house)
    new = house.publish({"y": "1"})
    again = await house.start(run="run-2")
    assert again.head_sha == again.base_sha == new
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"


async def test_what_was_salvaged_survives_fetches_and_collection(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    [ref] = await remove(house)
    await house.fetch()
    git(house.engine, "gc", "-q", "--prune=now")
    assert house.show(f"{ref}:x") == "1"


async def test_work_on_a_branch_that_is_not_ours_by_name_is_saved_like_any_other(house):
    made = await house.start(branch="feature/7")
    git(made.path, "commit", "-q", "--allow-empty", "-m", "only here")
    kept = git(made.path, "rev-parse", "HEAD")
    await remove(house)
    assert list(house.salvaged().values()) == [kept]
    assert is_gone(house)


async def test_nothing_there_is_nothing_to_remove(house):
    assert await house.workspaces.remove_workspace(PROJECT, 99, merged=True) == ()
    await house.workspaces.release(PROJECT, 99, lease="run-9")
    await house.fetch()
    assert await house.workspaces.remove_workspace(PROJECT, 99, merged=False) == ()
