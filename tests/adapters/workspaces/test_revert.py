"""Where a base was before a merge, for each way of merging; on real git."""

import pytest

from nightcrew.core.ids import Sha
from nightcrew.core.model.settings import CommitSettings
from tests.adapters.workspaces.house import PROJECT, House, git


def a_branch(house: House) -> Sha:
    """Two commits beside one of the base."""
    house.publish({"a": "1\n", "b": "1\n"})
    house.publish({"a": "2\n"}, branch="work")
    head = house.publish({"b": "2\n", "c": "1\n"}, branch="work")
    house.publish({"z": "1\n"})
    return head


def land(house: House, method: str) -> tuple[Sha, Sha]:
    """The base before and after the branch came into it."""
    git(house.person, "checkout", "-q", "main")
    before = git(house.person, "rev-parse", "HEAD")
    match method:
        case "merge":
            git(house.person, "merge", "-q", "--no-ff", "-m", "Merge", "work")
        case "squash":
            git(house.person, "merge", "-q", "--squash", "work")
            git(house.person, "commit", "-q", "-m", "Squashed")
        case _:
            git(house.person, "cherry-pick", "work~2..work")
    git(house.person, "push", "-q", "origin", "main")
    return Sha(before), Sha(git(house.person, "rev-parse", "HEAD"))


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
@pytest.mark.parametrize("later", [False, True])
async def test_all_of_it_is_taken_back_however_it_was_merged(house: House, method: str, later: bool):
    head = a_branch(house)
    before, merge = land(house, method)
    base = house.publish({"y": "1\n"}) if later else merge
    await house.fetch()
    assert await house.workspaces.find_before(PROJECT, merge=merge, head=head) == before
    made = await house.workspaces.revert_merge(
        PROJECT, merge=merge, before=before, base=base, message="Revert", commit=CommitSettings()
    )
    git(house.person, "fetch", "-q", str(house.engine), str(made))
    shown = {name: git(house.person, "show", f"{made}:{name}") for name in ("a", "b", "z", *(("y",) if later else ()))}
    assert shown == {"a": "1", "b": "1", "z": "1", **({"y": "1"} if later else {})}
    assert git(house.person, "ls-tree", "--name-only", str(made), "c") == ""


async def test_a_rebase_of_one_commit_is_one_commit(house: House):
    house.publish({"a": "1\n"})
    head = house.publish({"a": "2\n"}, branch="work")
    house.publish({"z": "1\n"})
    git(house.person, "checkout", "-q", "main")
    before = Sha(git(house.person, "rev-parse", "HEAD"))
    git(house.person, "cherry-pick", "work")
    git(house.person, "push", "-q", "origin", "main")
    await house.fetch()
    merge = Sha(git(house.person, "rev-parse", "HEAD"))
    assert await house.workspaces.find_before(PROJECT, merge=merge, head=head) == before
