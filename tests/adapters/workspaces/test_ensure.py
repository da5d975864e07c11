"""Making, adopting and repairing worktrees."""

import asyncio
import shutil

import pytest

from nightcrew.core.errors import Conflict, Invalid, Missing, Unavailable
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.scm import Remote
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, House, git, spec


async def test_a_fresh_workspace_is_what_git_itself_calls_a_worktree(house):
    made = await house.start()
    assert made.path == house.tree
    assert made.base_sha == made.head_sha == house.tip("main")
    assert made.warnings == ()
    assert git(made.path, "status", "--porcelain", "-b") == f"## {BRANCH}"
    assert git(made.path, "rev-parse", "HEAD") == made.head_sha
    listed = git(house.agents, "worktree", "list", "--porcelain")
    assert f"worktree {made.path}\nHEAD {made.head_sha}\nbranch refs/heads/{BRANCH}\nlocked" in listed
    assert git(house.agents, "fsck", "--strict") == ""
    assert git(made.path, "rev-parse", "origin/main") == made.head_sha
    assert (made.path / "src" / "app.py").read_text() == "spin = 0\n"


@pytest.mark.case("C036")
@pytest.mark.case("C038")
@pytest.mark.parametrize("base", ["master", "develop", "trunk/next"])
async def test_the_base_may_have_any_name(tmp_path, base):
    house = House(tmp_path / "house")
    sha = house.publish({"a": "1"}, branch=base)
    made = await house.start(base_ref=base)
    assert made.base_sha == sha


@pytest.mark.case("C037")
async def test_a_missing_base_is_named_and_never_guessed(house):
    house.publish({"old": "1"}, branch="master")
    with pytest.raises(Missing, match=r"no branch 'trunk'; it has main, master"):
        await house.start(base_ref="trunk")
    assert not house.tree.exists()


async def test_a_repository_without_commits_says_so(tmp_path):
    house = House(tmp_path / "house")
    with pytest.raises(Invalid, match="no commits yet"):
        await house.start()
    assert not house.tree.exists()


async def test_a_project_that_was_not_fetched_is_missing(house):
    with pytest.raises(Missing, match="not fetched"):
        await house.workspaces.ensure_workspace(spec())


@pytest.mark.case("C058")
@pytest.mark.parametrize("base", ["-x", "--upload-pack=touch hit", "main^{tree}", "a..b", "refs/heads/../x", "a b"])
async def test_a_base_that_looks_like_an_option_is_refused(house, base):
    with pytest.raises(Invalid):
        await house.start(base_ref=base)
    assert not list(house.root.rglob("hit"))


@pytest.mark.case("C058")
@pytest.mark.parametrize(
    "url", ["--upload-pack=touch hit", "ext::sh -c 'touch hit'", "-x", "", "relative/path", "fd::7"]
)
async def test_an_address_that_would_run_a_program_is_refused(house, url):
    with pytest.raises(Invalid):
        await house.workspaces.fetch(PROJECT, Remote(url))
    assert not list(house.root.rglob("hit"))


@pytest.mark.case("C058")
@pytest.mark.parametrize("branch", ["-x", "nightcrew/7-a.lock", "a..b", "HEAD", "x y", ""])
async def test_a_branch_that_git_would_refuse_is_refused(house, branch):
    await house.fetch()
    asked = spec()
    with pytest.raises(Invalid):
        await house.workspaces.ensure_workspace(type(asked)(PROJECT, NUMBER, branch, "main", asked.lease))


async def test_asking_twice_is_asking_once(house):
    first = await house.start()
    (first.path / "new.txt").write_text("half done")
    second = await house.start()
    assert (second.path, second.head_sha, second.base_sha) == (first.path, first.head_sha, first.base_sha)
    assert (second.path / "new.txt").read_text() == "half done"
    assert second.warnings == ("uncommitted changes of an earlier run are still in the workspace",)
    assert len(git(house.agents, "worktree", "list").splitlines()) == 2


async def test_the_base_moves_only_for_new_workspaces(house):
    old = house.tip("main")
    first = await house.start()
    new = house.publish({"more": "1"})
    again = await house.start()
    other = await house.start(number=8, run="run-2")
    assert first.base_sha == again.base_sha == old
    assert other.base_sha == new
    assert git(first.path, "rev-parse", "origin/main") == new


@pytest.mark.case("C119")
async def test_three_tasks_at_once_have_three_worktrees(house):
    before = git(house.person, "status", "--porcelain", "-b"), git(house.person, "rev-parse", "HEAD")
    await house.fetch()
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(house.workspaces.ensure_workspace(spec(number=number, run=f"run-{number}")))
            for number in (1, 2, 3)
        ]
    paths = [task.result().path for task in asked]
    assert len(set(paths)) == 3
    assert all(git(path, "status", "--porcelain") == "" for path in paths)
    assert all(house.person not in path.parents for path in paths)
    assert (git(house.person, "status", "--porcelain", "-b"), git(house.person, "rev-parse", "HEAD")) == before
    assert "worktree" not in (house.person / ".git" / "config").read_text()


async def test_a_second_run_is_told_who_holds_the_lease(house):
    await house.start(run="run-1")
    with pytest.raises(Conflict, match="run-1"):
        await house.start(run="run-2")
    restarted = house.open()
    with pytest.raises(Conflict, match="run-1"):
        await restarted.ensure_workspace(spec(run="run-2"))
    await restarted.release(PROJECT, NUMBER, lease="run-2")
    with pytest.raises(Conflict, match="run-1"):
        await restarted.ensure_workspace(spec(run="run-2"))
    await restarted.release(PROJECT, NUMBER, lease="run-1")
    await restarted.release(PROJECT, NUMBER, lease="run-1")
    assert (await restarted.ensure_workspace(spec(run="run-2"))).path == house.tree


@pytest.mark.case("C039")
async def test_the_worktree_of_a_dead_session_is_taken_over_with_its_commits(house):
    made = await house.start()
    (made.path / "one").write_text("1")
    git(made.path, "add", "-A")
    git(made.path, "commit", "-q", "-m", "first part")
    head = git(made.path, "rev-parse", "HEAD")
    house.workspaces = house.open()
    again = await house.start()
    assert again.head_sha == head
    assert again.warnings == ()
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"


async def leave_only_the_repository(house: House) -> None:
    """As after a crash, or by somebody's hand."""
    made = await house.start()
    await house.workspaces.release(PROJECT, NUMBER, lease=RunId("run-1"))
    shutil.rmtree(made.path)
    (house.engine.parent / "tasks" / f"{NUMBER}.json").unlink()


@pytest.mark.case("C040")
async def test_a_branch_left_without_a_worktree_does_not_stop_the_task(house):
    await leave_only_the_repository(house)
    left = git(house.agents, "commit-tree", "-m", "left", f"{house.tip('main')}^{{tree}}", "-p", house.tip("main"))
    git(house.agents, "update-ref", f"refs/heads/{BRANCH}", left)
    made = await house.start(run="run-2")
    assert made.head_sha == house.tip("main")
    assert "left from earlier" in made.warnings[0]
    assert list(house.salvaged().values()) == [left]


async def test_a_folder_that_is_not_ours_is_left_alone(house):
    await house.fetch()
    house.tree.mkdir(parents=True)
    (house.tree / "precious").write_text("x")
    with pytest.raises(Conflict, match="not made by this installation"):
        await house.workspaces.ensure_workspace(spec())
    with pytest.raises(Conflict, match="not made by this installation"):
        await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=True)
    assert (house.tree / "precious").read_text() == "x"


async def test_another_installations_worktree_is_left_alone(house):
    made = await house.start()
    other = house.open(installation="another")
    for call in (
        other.ensure_workspace(spec()),
        other.remove_workspace(PROJECT, NUMBER, merged=True),
        other.collect(PROJECT, NUMBER, agent="claude", commit=CommitSettings(), message="x"),
    ):
        with pytest.raises(Conflict, match="belongs to"):
            await call
    assert git(made.path, "status", "--porcelain") == ""


async def test_a_link_in_the_place_of_the_folder_is_never_followed(house, tmp_path):
    made = await house.start()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "secret").write_text("x")
    shutil.rmtree(made.path)
    made.path.symlink_to(theirs)
    with pytest.raises(Conflict):
        await house.start()
    with pytest.raises(Missing):
        await house.collect()
    await house.workspaces.release(PROJECT, NUMBER, lease="run-1")
    with pytest.raises(Conflict):
        await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=False)
    assert (theirs / "secret").read_text() == "x"


async def test_a_folder_deleted_by_hand_is_made_again_with_its_commits(house):
    made = await house.start()
    (made.path / "one").write_text("1")
    left = await house.collect()
    shutil.rmtree(made.path)
    again = await house.start()
    assert again.head_sha == left.head_sha
    assert (again.path / "one").read_text() == "1"
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"


async def test_lost_metadata_is_made_again_and_uncommitted_work_stays(house):
    made = await house.start()
    (made.path / "src" / "app.py").write_text("spin = 1\n")
    shutil.rmtree(house.admin)
    again = await house.start()
    assert (again.path / "src" / "app.py").read_text() == "spin = 1\n"
    assert "lost its link" in again.warnings[0]
    assert (await house.collect()).committed_for_it
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"


async def test_a_pruned_worktree_list_and_a_left_index_lock_are_repaired(house):
    made = await house.start()
    (house.admin / "index.lock").write_bytes(b"")
    (house.admin / "gitdir").write_text("/nowhere/.git\n")
    (house.admin / "HEAD").write_text("ref: refs/heads/other\n")
    again = await house.start()
    assert git(again.path, "status", "--porcelain", "-b") == f"## {BRANCH}"
    assert not (house.admin / "index.lock").exists()
    assert str(made.path) in git(house.agents, "worktree", "list")


async def test_a_start_is_where_a_new_workspace_begins(house):
    head = house.publish({"theirs": "1"}, branch=BRANCH)
    base = git(house.bare, "rev-parse", "main")
    made = await house.start(start=head)
    assert (made.head_sha, made.base_sha) == (head, base)
    assert git(made.path, "log", "--format=%H", "origin/main..HEAD") == head


async def test_a_start_that_nobody_has_is_missing(house):
    with pytest.raises(Missing):
        await house.start(start=Sha("1" * 40))


async def test_an_existing_workspace_goes_forward_to_the_start(house):
    made = await house.start()
    (made.path / "mine").write_text("1")
    left = await house.collect()
    await house.workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    git(house.person, "fetch", "-q", "origin")
    git(house.person, "checkout", "-q", "-b", BRANCH, f"origin/{BRANCH}")
    head = house.publish({"theirs": "1", "mine": None}, branch=BRANCH)
    (made.path / "half").write_text("uncommitted")
    again = await house.start(start=head)
    assert again.head_sha == head == git(made.path, "rev-parse", "HEAD")
    assert git(made.path, "status", "--porcelain") == ""
    assert not (made.path / "half").exists()
    [(ref, sha)] = house.salvaged().items()
    assert ref in again.warnings[0]
    assert house.show(f"{sha}:half") == "uncommitted"


async def test_commits_that_went_apart_from_the_start_are_saved(house):
    made = await house.start()
    (made.path / "mine").write_text("1")
    left = await house.collect()
    head = house.publish({"theirs": "1"}, branch=BRANCH)
    again = await house.start(start=head)
    assert again.head_sha == head
    assert not (made.path / "mine").exists()
    assert list(house.salvaged().values()) == [left.head_sha]


async def test_a_new_branch_name_is_taken_over(house):
    made = await house.start()
    (made.path / "mine").write_text("1")
    left = await house.collect()
    again = await house.start(branch="nightcrew/7-other")
    assert again.head_sha == left.head_sha
    assert git(made.path, "status", "--porcelain", "-b") == "## nightcrew/7-other"
    assert git(house.agents, "branch", "--list", BRANCH) == ""


async def test_a_branch_in_the_way_of_the_name_is_told(house):
    await leave_only_the_repository(house)
    git(house.agents, "update-ref", "-d", f"refs/heads/{BRANCH}")
    git(house.agents, "branch", "nightcrew", house.tip("main"))
    with pytest.raises(Conflict, match="in its way"):
        await house.workspaces.ensure_workspace(spec())


async def test_odd_paths_survive_the_whole_way(house):
    names = ["with space", "ünï/çødé", "new\nline", "-dash", "!bang", "tab\tname", 'quo"te', "#hash", ":(top)x"]
    house.publish({name: name for name in names})
    made = await house.start()
    assert all((made.path / name).read_text() == name for name in names)
    for name in names:
        (made.path / f"{name} two").write_text("2")
    left = await house.collect()
    assert left.problems == ()
    tree = await house.workspaces.list_tree(PROJECT, left.head_sha)
    assert set(tree) >= {*names, *(f"{name} two" for name in names)}
    for name in names:
        assert await house.workspaces.find_file(PROJECT, left.head_sha, name) == name


async def test_two_projects_whose_names_look_alike_do_not_share(house):
    await house.workspaces.fetch("a/b__c", house.remote)
    await house.workspaces.fetch("a__b/c", house.remote)
    await house.workspaces.fetch("sub/group/deep", house.remote)
    one, other = house.workspaces.path("a/b__c", 1), house.workspaces.path("a__b/c", 1)
    assert one.parent != other.parent


@pytest.mark.case("C045")
async def test_large_file_filters_do_not_run_and_pointers_are_checked_out(house):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 3\n"
    house.publish({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": pointer})
    made = await house.start()
    assert (made.path / "a.bin").read_text() == pointer
    assert git(made.path, "status", "--porcelain") == ""


async def test_five_thousand_files_are_no_trouble(house):
    house.publish({f"many/{number % 50}/{number}.txt": str(number) for number in range(5_000)})
    made = await house.start()
    (made.path / "many" / "0" / "0.txt").write_text("changed")
    left = await house.collect()
    changed = git(house.engine, "diff", "--name-only", made.head_sha, left.head_sha)
    assert changed == "many/0/0.txt"


async def test_a_lease_of_a_run_that_nobody_knows_is_given_up(house):
    await house.start()
    with pytest.raises(Conflict):
        await house.start(run="run-2")
    await house.workspaces.release(PROJECT, NUMBER, lease=None)
    await house.start(run="run-2")


async def test_a_workspace_whose_marker_was_lost_is_kept_and_made_anew(house):
    made = await house.start()
    (made.path / "half.txt").write_text("half")
    for file in (house.home / "repos").glob("*/tasks/*"):
        file.unlink()
    again = await house.start(run="run-2")
    assert not (again.path / "half.txt").exists()
    (kept,) = (house.home / "repos").glob("*/aside/*/half.txt")
    assert kept.read_text() == "half"
    assert any(str(kept.parent) in warning for warning in again.warnings)


async def test_the_repository_of_a_task_that_was_deleted_is_made_again_around_its_files(house):
    made = await house.start()
    (made.path / "half.txt").write_text("half")
    shutil.rmtree(house.agents)
    left = await house.collect()
    assert left.committed_for_it
    assert git(made.path, "status", "--porcelain", "-b") == f"## {BRANCH}"
    assert git(house.agents, "config", "user.name") == "Unnamed agent"


async def test_a_repository_that_was_deleted_is_made_again_by_the_next_fetch(house):
    made = await house.start()
    (made.path / "half.txt").write_text("half")
    shutil.rmtree(house.engine)
    with pytest.raises(Unavailable):
        await house.workspaces.find_branch(PROJECT, "main")
    await house.fetch()
    left = await house.collect()
    assert left.committed_for_it


async def test_refs_that_name_nothing_do_not_stop_a_fetch(house):
    await house.start()
    for ref in (house.home / "repos").glob("*/engine.git/refs/**/*"):
        if ref.is_file():
            ref.write_text("not a sha")
    sha = house.publish({"b": "2"})
    await house.fetch()
    assert await house.workspaces.find_branch(PROJECT, "main") == sha
