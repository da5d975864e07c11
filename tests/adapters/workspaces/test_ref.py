"""Refs as files, against what git itself says of them."""

import pytest

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.workspaces.ref import delete_ref, find_ref, write_ref
from tests.adapters.workspaces.house import git


@pytest.fixture
def repository(house):
    return house.person / ".git", Sha(git(house.person, "rev-parse", "HEAD"))


def test_loose_packed_and_symbolic_refs_are_read_as_git_reads_them(house, repository):
    where, sha = repository
    git(house.person, "branch", "one/two")
    git(house.person, "symbolic-ref", "refs/heads/link", "refs/heads/one/two")
    git(house.person, "pack-refs", "--all")
    assert not (where / "refs" / "heads" / "one").exists()
    assert find_ref(where, "refs/heads/one/two") == find_ref(where, "refs/heads/link") == sha
    assert find_ref(where, "refs/heads/none") is None
    git(house.person, "symbolic-ref", "refs/heads/a", "refs/heads/b")
    git(house.person, "symbolic-ref", "refs/heads/b", "refs/heads/a")
    assert find_ref(where, "refs/heads/a") is None
    assert find_ref(where, "refs/../config") is None
    assert find_ref(where, "config") is None


def test_a_packed_ref_is_deleted_and_its_neighbours_stay(house, repository):
    where, sha = repository
    for name in ("one", "two", "two/three"):
        git(house.person, "branch", name, check=name != "two/three")
    git(house.person, "tag", "-a", "-m", "t", "v1")
    git(house.person, "pack-refs", "--all")
    delete_ref(where, "refs/tags/v1")
    delete_ref(where, "refs/heads/one")
    delete_ref(where, "refs/heads/one")
    names = git(house.person, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").split()
    assert names == ["refs/heads/main", "refs/heads/two"]
    assert git(house.person, "rev-parse", "two") == sha


def test_packed_refs_that_are_being_written_are_a_conflict(house, repository):
    where, _ = repository
    git(house.person, "branch", "one")
    git(house.person, "pack-refs", "--all")
    (where / "packed-refs.lock").write_bytes(b"")
    with pytest.raises(Conflict, match="held"):
        delete_ref(where, "refs/heads/one")
    assert git(house.person, "rev-parse", "one")


def test_empty_folders_of_a_deleted_ref_are_not_in_the_way(house, repository):
    where, sha = repository
    (where / "refs" / "heads" / "topic" / "sub").mkdir(parents=True)
    (where / "refs" / "heads" / "topic.lock").write_bytes(b"")
    write_ref(where, "refs/heads/topic", sha)
    assert git(house.person, "rev-parse", "refs/heads/topic") == sha
    with pytest.raises(Conflict, match="in its way"):
        write_ref(where, "refs/heads/topic/sub", sha)
    write_ref(where, "refs/heads/other/sub", sha)
    with pytest.raises(Conflict, match="cannot be written"):
        write_ref(where, "refs/heads/other", sha)
