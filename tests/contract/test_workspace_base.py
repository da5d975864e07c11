"""Bringing a base into a branch, on real git and in memory alike."""

import pytest

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import UpdateMethod
from nightcrew.core.model.settings import CommitSettings
from nightcrew.core.prompt_conflict import has_conflict_marks
from nightcrew.ports.workspace import MergeConflict
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT
from tests.contract.test_workspace import FakeWorld, RealWorld, World, collect, start


@pytest.fixture(params=["git", "fake"])
def world(request, tmp_path):
    return RealWorld(tmp_path / "house") if request.param == "git" else FakeWorld()


async def branch_with(world: World, files) -> Sha:
    """A pushed branch of the task that changes `files`, from a base with `a` and `z`."""
    world.publish({"a": "1\n", "z": "1\n"})
    await start(world)
    world.edit(files)
    left = await collect(world)
    await world.port.push(PROJECT, world.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    return left.head_sha


async def bring_in(
    world: World, head: Sha, base: Sha, method: UpdateMethod = UpdateMethod.MERGE
) -> Sha | MergeConflict:
    await world.port.fetch(PROJECT, world.remote)
    return await world.port.bring_in(
        PROJECT, head=head, base=base, method=method, message="Merge main", commit=CommitSettings()
    )


@pytest.mark.parametrize("method", UpdateMethod)
async def test_a_clean_base_is_brought_in_and_the_change_stays_the_same(world, method):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"z": "2\n"})
    made = await bring_in(world, head, base, method)
    assert not isinstance(made, MergeConflict)
    assert await world.port.is_ancestor(PROJECT, ancestor=base, descendant=made)
    assert [await world.port.find_file(PROJECT, made, name) for name in ("a", "z")] == ["2\n", "2\n"]
    before = await world.port.find_patch_id(PROJECT, base=base, head=head)
    assert before
    assert before == await world.port.find_patch_id(PROJECT, base=base, head=made)
    assert await bring_in(world, head, base, method) == made, "asked twice, it is made once"
    assert await bring_in(world, made, base, method) == made
    agents = [agent for one in await world.port.list_commits(PROJECT, base=base, head=made) for agent in one.agents]
    assert agents == ["claude"], "Nightcrew's own commit names no agent"
    assert world.tip(BRANCH) == head, "no branch is touched"


async def test_only_a_rebase_has_to_replace_what_is_on_the_remote(world):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"z": "2\n"})
    merged, rebased = await bring_in(world, head, base), await bring_in(world, head, base, UpdateMethod.REBASE)
    assert not isinstance(merged, MergeConflict)
    assert not isinstance(rebased, MergeConflict)
    port, remote = world.port, world.remote
    with pytest.raises(Conflict):
        await port.push(PROJECT, remote, branch=BRANCH, sha=rebased, expected=head)
    with pytest.raises(Conflict):
        await port.push(PROJECT, remote, branch=BRANCH, sha=rebased, expected=base, replace=True)
    assert world.tip(BRANCH) == head
    await port.push(PROJECT, remote, branch=BRANCH, sha=merged, expected=head)
    await port.push(PROJECT, remote, branch=BRANCH, sha=rebased, expected=merged, replace=True)
    assert world.tip(BRANCH) == rebased


async def test_a_rebase_leaves_out_what_it_stood_on(world):
    """What the branch below had is on the base by now as one commit, with other ids."""
    below = await branch_with(world, {"a": "2\n"})
    world.edit({"a": "3\n"})
    below = (await collect(world)).head_sha
    world.edit({"b": "1\n"})
    head = (await collect(world)).head_sha
    base = world.publish({"a": "3\n"})
    await world.port.fetch(PROJECT, world.remote)
    made = await world.port.bring_in(
        PROJECT, head=head, base=base, method=UpdateMethod.REBASE, message="", commit=CommitSettings(), since=below
    )
    assert not isinstance(made, MergeConflict)
    assert [await world.port.find_file(PROJECT, made, name) for name in ("a", "b")] == ["3\n", "1\n"]
    assert len(await world.port.list_commits(PROJECT, base=base, head=made)) == 1
    assert await world.port.find_patch_id(PROJECT, base=below, head=head) == await world.port.find_patch_id(
        PROJECT, base=base, head=made
    )


@pytest.mark.parametrize("method", UpdateMethod)
async def test_a_conflict_names_its_paths(world, method):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n"})
    assert await bring_in(world, head, base, method) == MergeConflict(("a",))


async def test_another_change_has_another_patch_id_and_no_change_has_none(world):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"z": "2\n"})
    await world.port.fetch(PROJECT, world.remote)
    world.edit({"a": "3\n"})
    other = (await collect(world)).head_sha
    ids = [await world.port.find_patch_id(PROJECT, base=base, head=sha) for sha in (head, other, base)]
    assert len(set(ids)) == 3
    assert ids[2] == ""


async def test_a_merge_is_left_to_its_author_and_concluded(world):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n", "z": "2\n"})
    await start(world)
    assert await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main") == ("a",)
    assert await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main") == ("a",), "begun anew"
    world.edit({"a": "both\n"})
    left = await collect(world)
    assert left.committed_for_it
    for parent in (head, base):
        assert await world.port.is_ancestor(PROJECT, ancestor=parent, descendant=left.head_sha)
    assert [await world.port.find_file(PROJECT, left.head_sha, name) for name in ("a", "z")] == ["both\n", "2\n"]
    assert await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main") == ()


async def test_marks_that_are_left_uncommitted_undo_the_merge(world):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n"})
    await start(world)
    await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main")
    left = await collect(world)
    assert left.head_sha == head
    assert any("conflicts" in problem for problem in left.problems)


async def test_marks_that_are_committed_are_in_the_commit(world):
    await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n"})
    await start(world)
    await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main")
    sha = world.commit("claude")
    await collect(world)
    assert has_conflict_marks(await world.port.find_file(PROJECT, sha, "a") or "")


@pytest.mark.parametrize("then", [start, collect])
async def test_a_merge_with_marks_is_saved_before_it_is_undone(world, then):
    await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n"})
    await start(world)
    await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main")
    made = await then(world)
    words = made.warnings if then is start else made.problems
    assert any("with conflicts" in word and "refs/nightcrew/salvage/7/" in word for word in words)


async def test_a_merge_without_marks_waits_for_its_commit_over_another_start(world):
    await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n"})
    await start(world)
    await world.port.begin_merge(PROJECT, NUMBER, base=base, message="Merge main")
    world.edit({"a": "both\n"})
    await start(world)
    left = await collect(world)
    assert await world.port.is_ancestor(PROJECT, ancestor=base, descendant=left.head_sha)
    assert await world.port.find_file(PROJECT, left.head_sha, "a") == "both\n"
