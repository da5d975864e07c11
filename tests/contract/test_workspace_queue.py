"""What the merge queue builds and moves, on real git and in memory alike."""

import pytest

from nightcrew.core.branch import queue_branch
from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.workspace import MergeConflict
from tests.adapters.workspaces.house import BRANCH, PROJECT
from tests.contract.test_workspace import FakeWorld, RealWorld, World, collect, start
from tests.contract.test_workspace_base import branch_with

SCRATCH = queue_branch("main")


@pytest.fixture(params=["git", "fake"])
def world(request, tmp_path):
    return RealWorld(tmp_path / "house") if request.param == "git" else FakeWorld()


async def build(world: World, base: Sha, head: Sha, method: MergeMethod = MergeMethod.MERGE) -> Sha | MergeConflict:
    await world.port.fetch(PROJECT, world.remote)
    return await world.port.build_merge(
        PROJECT, base=base, head=head, method=method, message="Turn it round (#7)", commit=CommitSettings()
    )


async def built(world: World, method: MergeMethod = MergeMethod.MERGE) -> tuple[Sha, Sha, Sha]:
    """A base, a head beside it, and the merge of both."""
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"z": "2\n"})
    made = await build(world, base, head, method)
    assert not isinstance(made, MergeConflict)
    return base, head, made


@pytest.mark.parametrize("method", MergeMethod)
async def test_a_merge_holds_both_and_is_made_once(world, method):
    base, head, made = await built(world, method)
    port = world.port
    assert [await port.find_file(PROJECT, made, name) for name in ("a", "z")] == ["2\n", "2\n"]
    assert await port.is_ancestor(PROJECT, ancestor=base, descendant=made)
    is_merge = await port.is_ancestor(PROJECT, ancestor=head, descendant=made)
    assert is_merge == (method is MergeMethod.MERGE)
    assert await build(world, base, head, method) == made, "asked twice, it is made once"
    assert (world.tip("main"), world.tip(BRANCH)) == (base, head), "no branch is touched"


@pytest.mark.parametrize("method", MergeMethod)
async def test_a_merge_that_conflicts_names_its_paths(world, method):
    head = await branch_with(world, {"a": "2\n"})
    base = world.publish({"a": "3\n"})
    assert await build(world, base, head, method) == MergeConflict(("a",))


async def test_one_merge_goes_on_top_of_another(world):
    base, head, first = await built(world)
    await start(world)
    world.edit({"b": "1\n"})
    other = (await collect(world)).head_sha
    second = await build(world, first, other)
    assert not isinstance(second, MergeConflict)
    for part in (base, head, first, other):
        assert await world.port.is_ancestor(PROJECT, ancestor=part, descendant=second)


async def test_a_scratch_branch_is_made_moved_and_taken_away(world):
    base, head, made = await built(world)
    move, remote = world.port.move_branch, world.remote
    for _ in range(2):
        await move(PROJECT, remote, branch=SCRATCH, sha=made, expected=None)
        assert world.tip(SCRATCH) == made
    with pytest.raises(Conflict):
        await move(PROJECT, remote, branch=SCRATCH, sha=head, expected=base)
    await move(PROJECT, remote, branch=SCRATCH, sha=head, expected=made)
    assert world.tip(SCRATCH) == head, "it is ours, and may be rewritten"
    with pytest.raises(Conflict):
        await move(PROJECT, remote, branch=SCRATCH, sha=None, expected=made)
    for _ in range(2):
        await move(PROJECT, remote, branch=SCRATCH, sha=None, expected=head)
        assert not world.tip(SCRATCH)


async def test_a_base_is_moved_forward_from_exactly_where_it_is_expected(world):
    base, head, made = await built(world)
    move, remote = world.port.move_branch, world.remote
    for _ in range(2):
        await move(PROJECT, remote, branch="main", sha=made, expected=base)
        assert world.tip("main") == made
    again = await build(world, made, head)
    assert not isinstance(again, MergeConflict)
    with pytest.raises(Conflict):
        await move(PROJECT, remote, branch="main", sha=again, expected=head)
    assert world.tip("main") == made


async def test_a_base_that_somebody_moved_is_left_alone(world):
    base, _, made = await built(world)
    theirs = world.publish({"y": "1\n"})
    with pytest.raises(Conflict):
        await world.port.move_branch(PROJECT, world.remote, branch="main", sha=made, expected=base)
    assert world.tip("main") == theirs


@pytest.mark.parametrize("sha", ["head", None])
async def test_a_base_is_never_rewritten_nor_deleted(world, sha):
    base, head, _ = await built(world)
    with pytest.raises(Invalid):
        await world.port.move_branch(PROJECT, world.remote, branch="main", sha=head if sha else None, expected=base)
    assert world.tip("main") == base
