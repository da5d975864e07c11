"""What a run leaves, and what becomes of it."""

import os
import shutil
from pathlib import Path

import pytest

from nightcrew.core.errors import Missing
from nightcrew.core.model.settings import CommitSettings
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, House, git


def commit(path: Path, name: str, text: str = "x", message: str = "agent's commit") -> str:
    """An agent's own commit."""
    (path / name).write_text(text)
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", message)
    return git(path, "rev-parse", "HEAD")


def is_settled(house: House, head: str) -> bool:
    """The worktree is on its branch, clean, at `head`, and nothing is in progress."""
    status = git(house.tree, "status", "--porcelain", "-b")
    assert status == f"## {BRANCH}", status
    assert git(house.tree, "rev-parse", "HEAD") == head
    assert git(house.engine, "rev-parse", f"refs/nightcrew/heads/{NUMBER}") == head
    assert "in progress" not in git(house.tree, "status")
    return True


async def test_nothing_done_is_no_change(house):
    made = await house.start()
    left = await house.collect()
    assert (left.head_sha, left.committed_for_it, left.problems) == (made.head_sha, False, ())


async def test_ignored_files_alone_are_no_change(house):
    made = await house.start()
    (made.path / "debug.log").write_text("x")
    (made.path / "build").mkdir()
    (made.path / "build" / "out").write_text("x")
    left = await house.collect()
    assert left.head_sha == made.head_sha
    assert (made.path / "debug.log").exists()


async def test_leftovers_are_committed_as_the_agent(house):
    made = await house.start()
    (made.path / "new dir").mkdir()
    (made.path / "new dir" / "näw.txt").write_text("1")
    (made.path / "README.md").unlink()
    (made.path / "tool").write_text("#!/bin/sh\n")
    (made.path / "tool").chmod(0o755)
    (made.path / "link").symlink_to("tool")
    left = await house.collect(trailers=("Reviewed-by: nobody",), sign_off=True)
    assert left.committed_for_it
    assert left.problems == ()
    assert is_settled(house, left.head_sha)
    assert git(house.engine, "log", "-1", "--format=%an|%ae|%cn|%P", left.head_sha) == (
        f"claude|claude@nightcrew.invalid|Nightcrew|{made.head_sha}"
    )
    assert git(house.engine, "log", "-1", "--format=%B", left.head_sha) == (
        "Work of the run\n\nNightcrew-Agent: claude\nReviewed-by: nobody\n"
        "Signed-off-by: claude <claude@nightcrew.invalid>"
    )
    names = git(house.engine, "-c", "core.quotePath=false", "diff", "--name-status", made.head_sha, left.head_sha)
    assert names.split("\n") == ["D\tREADME.md", "A\tlink", "A\tnew dir/näw.txt", "A\ttool"]
    assert git(house.engine, "ls-tree", left.head_sha, "tool").startswith("100755")
    assert git(house.engine, "ls-tree", left.head_sha, "link").startswith("120000")


async def test_the_agents_own_commits_are_kept_and_its_leftovers_follow(house):
    made = await house.start()
    own = commit(made.path, "one")
    (made.path / "two").write_text("2")
    left = await house.collect()
    assert left.committed_for_it
    assert git(house.engine, "rev-parse", f"{left.head_sha}^") == own
    assert is_settled(house, left.head_sha)
    again = await house.collect(agent="codex")
    assert (again.head_sha, again.committed_for_it) == (left.head_sha, False)
    assert git(house.engine, "fsck", "--strict", "--connectivity-only", "--no-dangling") == ""


async def test_only_own_commits_need_no_other(house):
    made = await house.start()
    own = commit(made.path, "one")
    left = await house.collect()
    assert (left.head_sha, left.committed_for_it, left.problems) == (own, False, ())


async def test_a_message_keeps_its_own_trailers(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    left = await house.workspaces.collect(
        PROJECT,
        NUMBER,
        agent="bad\nname <x>",
        commit=CommitSettings(),
        message="Fix\n\nbody\n\nCloses: #7\0",
    )
    body = git(house.engine, "log", "-1", "--format=%B", left.head_sha)
    assert body == "Fix\n\nbody\n\nCloses: #7\nNightcrew-Agent: bad name x"


@pytest.mark.case("C048")
async def test_a_broken_hook_of_the_repository_loses_no_work(house):
    made = await house.start()
    hooks = house.agents / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (made.path / "x").write_text("1")
    git(made.path, "add", "-A")
    with pytest.raises(AssertionError, match="broken"):
        git(made.path, "commit", "-q", "-m", "mine")
    left = await house.collect()
    assert left.committed_for_it
    assert house.show(f"{left.head_sha}:x") == "1"
    assert is_settled(house, left.head_sha)


async def test_a_detached_head_with_commits_becomes_the_branch(house):
    made = await house.start()
    git(made.path, "checkout", "-q", "--detach")
    own = commit(made.path, "one")
    (made.path / "two").write_text("2")
    left = await house.collect()
    assert git(house.engine, "rev-parse", f"{left.head_sha}^") == own
    assert is_settled(house, left.head_sha)


async def test_work_on_another_branch_becomes_the_branch(house):
    made = await house.start()
    git(made.path, "checkout", "-q", "-b", "feature/mine")
    own = commit(made.path, "one")
    left = await house.collect()
    assert left.head_sha == own
    assert is_settled(house, own)


async def test_a_deleted_branch_comes_back(house):
    made = await house.start()
    git(made.path, "checkout", "-q", "--detach")
    own = commit(made.path, "one")
    git(made.path, "branch", "-D", BRANCH)
    git(made.path, "pack-refs", "--all")
    assert (await house.collect()).head_sha == own
    assert is_settled(house, own)


async def test_a_look_at_an_older_commit_does_not_lose_the_newer(house):
    made = await house.start()
    own = commit(made.path, "one")
    git(made.path, "checkout", "-q", made.head_sha)
    (made.path / "scribble").write_text("s")
    left = await house.collect()
    assert (left.head_sha, left.committed_for_it) == (own, False)
    [(ref, sha)] = house.salvaged().items()
    assert any(ref in problem for problem in left.problems)
    assert house.show(f"{sha}:scribble") == "s"
    assert is_settled(house, own)


async def test_branches_that_went_apart_keep_head_and_save_the_other(house):
    made = await house.start()
    first = commit(made.path, "one")
    git(made.path, "checkout", "-q", "--detach", made.head_sha)
    second = commit(made.path, "two")
    left = await house.collect()
    assert left.head_sha == second
    assert list(house.salvaged().values()) == [first]
    assert is_settled(house, second)


async def test_an_amended_pushed_commit_is_joined_so_that_a_plain_push_works(house):
    made = await house.start()
    commit(made.path, "one", "1")
    first = await house.collect()
    await house.workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=first.head_sha, expected=None)
    await house.start(start=first.head_sha)
    (made.path / "one").write_text("better")
    git(made.path, "commit", "-q", "-a", "--amend", "-m", "amended")
    amended = git(made.path, "rev-parse", "HEAD")
    left = await house.collect()
    assert "rewrote" in left.problems[0]
    assert git(house.engine, "log", "-1", "--format=%P", left.head_sha) == f"{first.head_sha} {amended}"
    assert house.show(f"{left.head_sha}:one") == "better"
    assert is_settled(house, left.head_sha)
    await house.workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=left.head_sha, expected=first.head_sha)
    assert house.tip(BRANCH) == left.head_sha


async def test_an_amend_before_any_push_is_simply_the_commit(house):
    made = await house.start()
    commit(made.path, "one", "1")
    git(made.path, "commit", "-q", "--amend", "-m", "amended")
    left = await house.collect()
    assert (left.head_sha, left.problems) == (git(made.path, "rev-parse", "HEAD"), ())


async def test_a_branch_reset_behind_its_start_returns_to_it(house):
    second = house.publish({"two": "2"})
    made = await house.start()
    git(made.path, "reset", "-q", "--hard", "HEAD^")
    left = await house.collect()
    assert left.head_sha == second
    assert "behind its start" in left.problems[0]
    assert is_settled(house, second)
    assert (made.path / "two").exists()


async def test_an_unrelated_history_is_saved_and_the_branch_restored(house):
    made = await house.start()
    git(made.path, "checkout", "-q", "--orphan", "fresh")
    own = commit(made.path, "one")
    git(made.path, "branch", "-q", "-M", BRANCH)
    left = await house.collect()
    assert left.head_sha == made.head_sha
    assert own in house.salvaged().values()
    assert is_settled(house, made.head_sha)
    assert not (made.path / "one").exists()


@pytest.mark.case("C052")
async def test_a_rebase_left_with_conflicts_is_undone_and_saved(house):
    made = await house.start()
    own = commit(made.path, "src/app.py", "spin = 1\n")
    house.publish({"src/app.py": "spin = 2\n"})
    await house.start()
    git(made.path, "rebase", "origin/main", check=False)
    assert (house.admin / "rebase-merge").exists()
    (made.path / "notes").write_text("in between")
    left = await house.collect()
    assert (left.head_sha, left.committed_for_it) == (own, False)
    assert any("rebase" in problem for problem in left.problems)
    assert any(
        git(house.engine, "show", f"{sha}:notes", check=False) == "in between" for sha in house.salvaged().values()
    )
    assert is_settled(house, own)
    assert not (made.path / "notes").exists()


@pytest.mark.case("C052")
async def test_a_rebase_in_progress_is_never_handed_over(house):
    made = await house.start()
    own = commit(made.path, "src/app.py", "spin = 1\n")
    house.publish({"src/app.py": "spin = 2\n"})
    await house.start()
    git(made.path, "rebase", "origin/main", check=False)
    again = await house.start()
    assert again.head_sha == own
    assert any("rebase" in warning for warning in again.warnings)
    assert is_settled(house, own)


@pytest.mark.case("C052")
async def test_uncommitted_work_that_a_rebase_put_away_is_saved(house):
    made = await house.start()
    commit(made.path, "src/app.py", "spin = 1\n")
    house.publish({"src/app.py": "spin = 2\n"})
    await house.start()
    (made.path / "README.md").write_text("put away")
    git(made.path, "rebase", "--autostash", "origin/main", check=False)
    await house.collect()
    shown = [git(house.engine, "show", f"{sha}:README.md") for sha in house.salvaged().values()]
    assert "put away" in shown


async def test_a_finished_rebase_onto_the_new_base_is_the_work(house):
    made = await house.start()
    commit(made.path, "one")
    new = house.publish({"more": "1"})
    await house.start()
    git(made.path, "rebase", "-q", "origin/main")
    left = await house.collect()
    assert git(house.engine, "rev-parse", f"{left.head_sha}^") == new
    assert left.problems == ()


async def test_a_resolved_merge_is_finished_with_both_parents(house):
    made = await house.start()
    own = commit(made.path, "src/app.py", "spin = 1\n")
    theirs = house.publish({"src/app.py": "spin = 2\n"})
    await house.start()
    git(made.path, "merge", "origin/main", check=False)
    (made.path / "src" / "app.py").write_text("spin = 3\n")
    left = await house.collect()
    assert left.committed_for_it
    assert git(house.engine, "log", "-1", "--format=%P", left.head_sha) == f"{own} {theirs}"
    assert is_settled(house, left.head_sha)


async def test_a_merge_left_with_conflicts_is_undone_and_saved(house):
    made = await house.start()
    own = commit(made.path, "src/app.py", "spin = 1\n")
    house.publish({"src/app.py": "spin = 2\n"})
    await house.start()
    git(made.path, "merge", "origin/main", check=False)
    left = await house.collect()
    assert (left.head_sha, left.committed_for_it) == (own, False)
    assert "src/app.py" in left.problems[0]
    [sha] = house.salvaged().values()
    assert "<<<<<<<" in house.show(f"{sha}:src/app.py")
    assert is_settled(house, own)


async def test_a_cherry_pick_and_a_bisect_are_ended(house):
    made = await house.start()
    own = commit(made.path, "src/app.py", "spin = 1\n")
    theirs = house.publish({"src/app.py": "spin = 2\n"})
    await house.start()
    git(made.path, "cherry-pick", theirs, check=False)
    assert (await house.collect()).head_sha == own
    assert is_settled(house, own)
    git(made.path, "bisect", "start", "HEAD", made.head_sha)
    left = await house.collect()
    assert left.head_sha == own
    assert is_settled(house, own)
    assert "bisect" not in git(made.path, "status")


async def test_a_sparse_checkout_deletes_nothing(house):
    made = await house.start()
    git(made.path, "sparse-checkout", "set", "--no-cone", "/README.md")
    assert not (made.path / "src").exists()
    (made.path / "README.md").write_text("changed")
    left = await house.collect()
    assert git(house.engine, "diff", "--name-status", made.head_sha, left.head_sha) == "M\tREADME.md"
    assert git(made.path, "status", "--porcelain") == ""
    assert not (made.path / "src").exists()


async def test_flags_in_the_agents_index_hide_nothing(house):
    made = await house.start()
    git(made.path, "update-index", "--assume-unchanged", "src/app.py")
    git(made.path, "update-index", "--skip-worktree", "README.md")
    (made.path / "src" / "app.py").write_text("hidden")
    (made.path / "README.md").write_text("hidden")
    left = await house.collect()
    assert git(house.engine, "diff", "--name-only", made.head_sha, left.head_sha).split() == ["README.md", "src/app.py"]


async def test_a_repository_inside_is_left_out_and_told(house):
    made = await house.start()
    inner = made.path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    commit(inner, "a")
    empty = made.path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    (made.path / "x").write_text("1")
    left = await house.collect()
    assert git(house.engine, "diff", "--name-only", made.head_sha, left.head_sha) == "x"
    assert any("inner" in problem for problem in left.problems)
    assert any("empty" in problem for problem in left.problems)


async def test_a_replaced_git_file_is_put_aside_and_the_files_are_kept(house):
    made = await house.start()
    (made.path / ".git").unlink()
    git(made.path, "init", "-q")
    commit(made.path, "one", "1")
    left = await house.collect()
    assert left.committed_for_it
    assert house.show(f"{left.head_sha}:one") == "1"
    assert any("aside" in problem for problem in left.problems)
    assert is_settled(house, left.head_sha)
    [kept] = (house.engine.parent / "aside").iterdir()
    assert git(kept, "log", "--format=%s") == "agent's commit"


async def test_a_linked_git_folder_is_not_followed(house):
    made = await house.start()
    (made.path / ".git").unlink()
    (made.path / ".git").symlink_to(house.person / ".git")
    (made.path / "one").write_text("1")
    before = git(house.person, "rev-parse", "HEAD")
    left = await house.collect()
    assert house.show(f"{left.head_sha}:one") == "1"
    assert is_settled(house, left.head_sha)
    assert git(house.person, "rev-parse", "HEAD") == before
    assert (house.person / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
async def test_an_unreadable_file_is_left_out_and_told(house):
    made = await house.start()
    (made.path / "secret").write_text("1")
    (made.path / "secret").chmod(0)
    (made.path / "x").write_text("1")
    left = await house.collect()
    assert any("secret" in problem for problem in left.problems)
    assert house.show(f"{left.head_sha}:x") == "1"


async def test_damaged_head_and_locks_are_survived(house):
    made = await house.start()
    own = commit(made.path, "one")
    (house.admin / "HEAD").write_bytes(b"\xff\xfe garbage")
    (house.admin / "index").write_bytes(b"not an index")
    (house.admin / "index.lock").write_bytes(b"")
    (made.path / "two").write_text("2")
    left = await house.collect()
    assert git(house.engine, "rev-parse", f"{left.head_sha}^") == own
    assert is_settled(house, left.head_sha)


async def test_a_workspace_that_is_gone_is_missing(house):
    with pytest.raises(Missing):
        await house.start(base_ref="nowhere")
    with pytest.raises(Missing):
        await house.collect()
    made = await house.start()
    shutil.rmtree(made.path)
    with pytest.raises(Missing):
        await house.collect()


async def test_fifos_and_sockets_do_not_hold_it_up(house):
    made = await house.start()
    os.mkfifo(made.path / "pipe")
    (made.path / "x").write_text("1")
    left = await house.collect()
    assert git(house.engine, "diff", "--name-only", made.head_sha, left.head_sha) == "x"
