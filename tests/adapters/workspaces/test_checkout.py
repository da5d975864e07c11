"""Throw-away checkouts of commits and of merges."""

import shutil
from pathlib import Path

import pytest

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.ids import RunId, Sha
from nightcrew.ports.workspace import MergeConflict
from tests.adapters.workspaces.house import PROJECT, git


async def test_a_review_is_exactly_its_commit(house):
    sha = house.publish({"näw file": "1"})
    house.publish({"later": "1"})
    await house.fetch()
    path = await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), sha)
    assert git(path, "rev-parse", "HEAD") == sha
    assert git(path, "status", "--porcelain") == ""
    assert not (path / "later").exists()
    assert git(path, "rev-parse", "origin/main") == house.tip("main")
    assert git(path, "remote") == ""
    (path / "scribble").write_text("1")
    again = await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), sha)
    assert again == path
    assert (path / "scribble").exists()
    await house.workspaces.remove_checkout(PROJECT, "R1")
    await house.workspaces.remove_checkout(PROJECT, "R1")
    assert not path.exists()


async def test_another_commit_or_a_half_made_checkout_is_made_anew(house):
    first = house.tip("main")
    second = house.publish({"later": "1"})
    await house.fetch()
    path = await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), Sha(first))
    assert await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), second) == path
    assert git(path, "rev-parse", "HEAD") == second
    path.with_name("R1.json").unlink()
    (path / "README.md").unlink()
    house.workspaces = house.open()
    await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), second)
    assert (path / "README.md").exists()
    shutil.rmtree(path)
    await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), second)
    assert git(path, "status", "--porcelain") == ""


async def test_a_merge_touches_no_branch_and_leaves_no_object(house):
    head = house.publish({"feature": "1"}, branch="feature")
    base = house.publish({"other": "1"}, branch="main")
    await house.fetch()
    before = git(house.engine, "for-each-ref"), git(house.engine, "count-objects", "-v")
    path = await house.workspaces.ensure_merge_checkout(PROJECT, "merge of #7", base=base, head=head)
    assert isinstance(path, Path)
    assert (path / "feature").exists()
    assert (path / "other").exists()
    assert git(path, "log", "-1", "--format=%P") == f"{base} {head}"
    assert git(path, "status", "--porcelain") == ""
    assert (git(house.engine, "for-each-ref"), git(house.engine, "count-objects", "-v")) == before
    assert await house.workspaces.ensure_merge_checkout(PROJECT, "merge of #7", base=base, head=head) == path
    other = await house.workspaces.ensure_merge_checkout(PROJECT, "other", base=base, head=head)
    assert isinstance(other, Path)
    assert git(other, "rev-parse", "HEAD") == git(path, "rev-parse", "HEAD")


async def test_a_conflict_names_its_paths_as_git_does(house):
    start = house.tip("main")
    head = house.publish({"src/app.py": "spin = 1\n", "README.md": None, "fine": "1"}, branch="feature")
    git(house.person, "checkout", "-q", "main")
    base = house.publish({"src/app.py": "spin = 2\n", "README.md": "edited"})
    await house.fetch()
    found = await house.workspaces.ensure_merge_checkout(PROJECT, "m", base=base, head=head)
    assert found == MergeConflict(("README.md", "src/app.py"))
    assert not list((house.home / "checkouts" / "acme__widget").iterdir())
    git(house.person, "checkout", "-q", "--detach", base)
    git(house.person, "merge", head, check=False)
    assert git(house.person, "diff", "--name-only", "--diff-filter=U").split() == list(found.paths)
    assert start != base


async def test_a_merge_that_is_a_fast_forward_is_made_all_the_same(house):
    base = Sha(house.tip("main"))
    head = house.publish({"feature": "1"}, branch="feature")
    await house.fetch()
    path = await house.workspaces.ensure_merge_checkout(PROJECT, "m", base=base, head=head)
    assert isinstance(path, Path)
    assert (path / "feature").exists()


async def test_histories_with_nothing_in_common_are_refused(house):
    base = Sha(house.tip("main"))
    git(house.person, "checkout", "-q", "--orphan", "island")
    head = house.publish({"island": "1"}, branch="island")
    await house.fetch()
    with pytest.raises(Invalid, match="no common history"):
        await house.workspaces.ensure_merge_checkout(PROJECT, "m", base=base, head=head)
    assert await house.workspaces.find_merge_base(PROJECT, base, head) is None


async def test_a_commit_that_is_not_here_is_missing(house):
    await house.fetch()
    with pytest.raises(Missing):
        await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), Sha("2" * 40))
    with pytest.raises(Missing):
        await house.workspaces.ensure_review_checkout(PROJECT, RunId("R1"), Sha("HEAD"))


@pytest.mark.parametrize("key", ["../../escape", "a/b", "..", ".", "-x", "x" * 300, "é\n"])
async def test_a_key_never_leads_out(house, key):
    await house.fetch()
    sha = Sha(house.tip("main"))
    path = await house.workspaces.ensure_merge_checkout(PROJECT, key, base=sha, head=sha)
    assert isinstance(path, Path)
    assert path.parent == house.home / "checkouts" / "acme__widget"
    await house.workspaces.remove_checkout(PROJECT, key)
    assert not path.exists()
