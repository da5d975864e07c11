"""Taking a merge back, on real git and in memory alike."""

import pytest

from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.workspace import MergeConflict
from tests.adapters.workspaces.house import PROJECT
from tests.contract.test_workspace import FakeWorld, RealWorld, World


@pytest.fixture(params=["git", "fake"])
def world(request, tmp_path):
    return RealWorld(tmp_path / "house") if request.param == "git" else FakeWorld()


async def revert(world: World, *, merge: Sha, before: Sha, base: Sha) -> Sha | MergeConflict:
    await world.port.fetch(PROJECT, world.remote)
    return await world.port.revert_merge(
        PROJECT, merge=merge, before=before, base=base, message="Revert #7", commit=CommitSettings()
    )


async def files(world: World, sha: Sha, *names: str) -> list[str | None]:
    return [await world.port.find_file(PROJECT, sha, name) for name in names]


async def test_only_what_it_brought_is_taken_away(world):
    before = world.publish({"a": "1\n", "z": "1\n"})
    merge = world.publish({"a": "2\n", "new": "n\n"})
    base = world.publish({"z": "2\n"})
    made = await revert(world, merge=merge, before=before, base=base)
    assert not isinstance(made, MergeConflict)
    assert await files(world, made, "a", "new", "z") == ["1\n", None, "2\n"]
    assert await world.port.is_ancestor(PROJECT, ancestor=base, descendant=made)
    (commit,) = await world.port.list_commits(PROJECT, base=base, head=made)
    assert (commit.subject, commit.agents) == ("Revert #7", frozenset())
    assert await revert(world, merge=merge, before=before, base=base) == made, "asked twice, it is made once"


async def test_what_came_later_on_the_same_lines_stands_in_the_way(world):
    before = world.publish({"a": "1\n"})
    merge = world.publish({"a": "2\n"})
    base = world.publish({"a": "3\n"})
    assert await revert(world, merge=merge, before=before, base=base) == MergeConflict(("a",))


async def test_where_nothing_is_left_of_it_there_is_nothing_to_make(world):
    before = world.publish({"a": "1\n"})
    merge = world.publish({"a": "2\n"})
    base = world.publish({"a": "1\n"})
    assert await revert(world, merge=merge, before=before, base=base) == base


async def test_what_is_not_there_is_missing(world):
    base = world.publish({"a": "1\n"})
    with pytest.raises(Missing):
        await revert(world, merge=Sha("d" * 40), before=base, base=base)
