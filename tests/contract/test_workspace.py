"""What every Workspace does, on real git and in memory alike."""

from pathlib import Path
from typing import Any, Protocol

import pytest

from nightcrew.core.errors import Conflict, Invalid, Missing, Unavailable
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.settings import CommitSettings, ProjectSettings
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import Checkout, Left, MergeConflict, WorkFolder, Workspace
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, Clock, House, git, spec
from tests.fakes.forge_state import ForgeState
from tests.fakes.workspace import FakeWorkspaces

Files = dict[str, str | None]


class World(Protocol):
    """A workspace port, and the hands of people and agents around it."""

    port: Workspace
    remote: Remote

    def publish(self, files: Files, *, branch: str = "main") -> Sha: ...
    def edit(self, files: Files) -> None: ...
    def commit(self, agent: str) -> Sha: ...
    def rewind(self, sha: Sha) -> None: ...
    def tip(self, branch: str) -> str: ...
    def open_from_a_fork(self, number: int, files: Files) -> Sha: ...


class RealWorld:
    def __init__(self, root: Path) -> None:
        self.house = House(root)
        self.port: Workspace = self.house.workspaces
        self.remote = self.house.remote

    def publish(self, files: Files, *, branch: str = "main") -> Sha:
        return self.house.publish(files, branch=branch)

    def edit(self, files: Files) -> None:
        for name, text in files.items():
            path = self.house.tree / name
            if text is None:
                path.unlink()
            else:
                path.write_text(text)

    def commit(self, agent: str) -> Sha:
        git(self.house.tree, "add", "-A")
        author = f"{agent} <{agent}@nightcrew.invalid>" if agent else "A Person <person@example.com>"
        git(self.house.tree, "commit", "-q", f"--author={author}", "-m", "agent's commit")
        return Sha(git(self.house.tree, "rev-parse", "HEAD"))

    def rewind(self, sha: Sha) -> None:
        git(self.house.tree, "reset", "-q", "--hard", sha)

    def tip(self, branch: str) -> str:
        return self.house.tip(branch)

    def open_from_a_fork(self, number: int, files: Files) -> Sha:
        sha = self.house.publish(files, branch="theirs")
        git(self.house.bare, "update-ref", f"refs/pull/{number}/head", sha)
        git(self.house.bare, "update-ref", "-d", "refs/heads/theirs")
        return sha


class FakeWorld:
    def __init__(self) -> None:
        self.fake = FakeWorkspaces(Clock())
        self.port: Workspace = self.fake
        self.remote = Remote("memory")

    def publish(self, files: Files, *, branch: str = "main") -> Sha:
        return self.fake.publish(PROJECT, files, branch=branch)

    def edit(self, files: Files) -> None:
        self.fake.edit(PROJECT, NUMBER, files)

    def commit(self, agent: str) -> Sha:
        return self.fake.commit(PROJECT, NUMBER, agent=agent)

    def rewind(self, sha: Sha) -> None:
        self.fake.move_head(PROJECT, NUMBER, sha)

    def tip(self, branch: str) -> str:
        return self.fake.repository(PROJECT).remote.get(branch, "")

    def open_from_a_fork(self, number: int, files: Files) -> Sha:
        sha = self.fake.publish(PROJECT, files, branch="theirs")
        repository = self.fake.repository(PROJECT)
        del repository.remote["theirs"]
        repository.pulls[number] = sha
        return sha


@pytest.fixture(params=["git", "fake"])
def world(request, tmp_path):
    return RealWorld(tmp_path / "house") if request.param == "git" else FakeWorld()


async def start(world: World, **rest: Any) -> Checkout:
    await world.port.fetch(PROJECT, world.remote)
    return await world.port.ensure_workspace(spec(**rest))


async def collect(world: World, agent: str = "claude") -> Left:
    return await world.port.collect(PROJECT, NUMBER, agent=agent, commit=CommitSettings(), message="Work of the run")


async def test_before_a_fetch_nothing_is_known(world):
    for call in (
        world.port.find_branch(PROJECT, "main"),
        world.port.ensure_workspace(spec()),
        world.port.list_tree(PROJECT, Sha("1" * 40)),
    ):
        with pytest.raises(Missing):
            await call
    await world.port.release(PROJECT, NUMBER, lease=RunId("run-1"))
    assert await world.port.remove_workspace(PROJECT, NUMBER, merged=False) == ()


async def test_a_fetch_shows_branches_as_they_were_then(world):
    first = world.publish({"a": "1"})
    await world.port.fetch(PROJECT, world.remote)
    second = world.publish({"a": "2"})
    assert await world.port.find_branch(PROJECT, "main") == first
    await world.port.fetch(PROJECT, world.remote)
    assert await world.port.find_branch(PROJECT, "main") == second
    assert await world.port.find_branch(PROJECT, "other") is None


async def test_the_head_of_a_pull_request_from_a_fork_is_fetched_by_its_number(world):
    base = world.publish({"a": "1"})
    head = world.open_from_a_fork(7, {"b": "1"})
    await world.port.fetch(PROJECT, world.remote)
    with pytest.raises(Missing):
        await world.port.load_diff(PROJECT, base=base, head=head)
    for _ in range(2):
        await world.port.fetch(PROJECT, world.remote, pulls=(7,))
    assert "b" in await world.port.load_diff(PROJECT, base=base, head=head)
    assert await world.port.find_branch(PROJECT, "theirs") is None
    await world.port.ensure_review_checkout(PROJECT, RunId("run-9"), head)
    await world.port.remove_checkout(PROJECT, RunId("run-9"))


async def test_a_workspace_starts_at_the_fetched_base(world):
    sha = world.publish({"a": "1"})
    made = await start(world)
    assert (made.base_sha, made.head_sha, made.warnings) == (sha, sha, ())
    assert made.path == world.port.path(PROJECT, NUMBER)
    again = await start(world)
    assert again == made


@pytest.mark.parametrize(("base", "error"), [("nope", Missing), ("-x", Invalid), ("a..b", Invalid)])
async def test_a_bad_base_is_told(world, base, error):
    world.publish({"a": "1"})
    with pytest.raises(error):
        await start(world, base_ref=base)


async def test_a_repository_without_commits_is_invalid(world):
    with pytest.raises(Invalid):
        await start(world)


async def test_one_writer_at_a_time(world):
    world.publish({"a": "1"})
    await start(world, run="run-1")
    with pytest.raises(Conflict, match="run-1"):
        await start(world, run="run-2")
    await world.port.release(PROJECT, NUMBER, lease=RunId("run-2"))
    with pytest.raises(Conflict, match="run-1"):
        await start(world, run="run-2")
    await world.port.release(PROJECT, NUMBER, lease=RunId("run-1"))
    await start(world, run="run-2")


async def test_what_could_not_be_had_is_not_held(world):
    world.publish({"a": "1"})
    with pytest.raises(Missing):
        await start(world, run="run-1", base_ref="nope")
    await start(world, run="run-2")
    with pytest.raises(Conflict, match="run-2"):
        await start(world, run="run-3")


async def test_no_work_is_no_change(world):
    world.publish({"a": "1"})
    made = await start(world)
    assert await collect(world) == Left(made.head_sha, committed_for_it=False)


async def test_own_commits_and_leftovers_are_told_with_their_agents(world):
    base = world.publish({"a": "1"})
    await start(world)
    world.edit({"b": "2"})
    own = world.commit("codex")
    world.edit({"c": "3"})
    person = world.commit("")
    world.edit({"a": None})
    left = await collect(world)
    assert left.committed_for_it
    commits = await world.port.list_commits(PROJECT, base=base, head=left.head_sha)
    assert [(one.sha, one.agents) for one in commits] == [
        (own, {"codex"}), (person, set()), (left.head_sha, {"claude"}),
    ]  # fmt: skip
    assert await world.port.list_tree(PROJECT, left.head_sha) == ("b", "c")
    assert await world.port.find_file(PROJECT, left.head_sha, "b") == "2"
    assert await world.port.find_file(PROJECT, left.head_sha, "b", limit=0) == ""
    assert await world.port.find_file(PROJECT, left.head_sha, "a") is None
    diff = await world.port.load_diff(PROJECT, base=base, head=left.head_sha)
    assert "+++ b/b" in diff
    assert await collect(world) == Left(left.head_sha, committed_for_it=False)


async def test_a_rewritten_pushed_commit_is_joined(world):
    base = world.publish({"a": "1"})
    await start(world)
    world.edit({"b": "2"})
    first = await collect(world)
    await world.port.push(PROJECT, world.remote, branch=BRANCH, sha=first.head_sha, expected=None)
    await start(world, start=first.head_sha)
    world.rewind(base)
    world.edit({"b": "3"})
    world.commit("claude")
    left = await collect(world)
    assert left.problems
    assert await world.port.is_ancestor(PROJECT, ancestor=first.head_sha, descendant=left.head_sha)
    assert await world.port.find_file(PROJECT, left.head_sha, "b") == "3"


async def test_a_branch_moved_back_returns_to_its_start(world):
    first = world.publish({"a": "1"})
    second = world.publish({"a": "2"})
    await start(world)
    world.rewind(first)
    left = await collect(world)
    assert left.head_sha == second
    assert left.problems


async def test_a_push_is_a_plain_one(world):
    world.publish({"a": "1"})
    await start(world)
    world.edit({"b": "2"})
    left = await collect(world)
    await world.port.push(PROJECT, world.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    await world.port.push(PROJECT, world.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    assert world.tip(BRANCH) == left.head_sha
    assert await world.port.find_branch(PROJECT, BRANCH) == left.head_sha
    theirs = world.publish({"c": "3"}, branch="theirs")
    with pytest.raises(Conflict):
        await world.port.push(PROJECT, world.remote, branch="theirs", sha=left.head_sha, expected=None)
    with pytest.raises(Conflict):
        await world.port.push(PROJECT, world.remote, branch="theirs", sha=left.head_sha, expected=theirs)
    with pytest.raises(Missing):
        await world.port.push(PROJECT, world.remote, branch="x", sha=Sha("1" * 40), expected=None)
    with pytest.raises(Invalid):
        await world.port.push(PROJECT, world.remote, branch="-x", sha=left.head_sha, expected=None)


async def test_a_later_start_moves_the_workspace_and_saves_what_went_apart(world):
    world.publish({"a": "1"})
    await start(world)
    world.edit({"b": "2"})
    left = await collect(world)
    world.edit({"c": "uncommitted"})
    theirs = world.publish({"d": "4"}, branch="theirs")
    made = await start(world, start=theirs)
    assert made.head_sha == theirs
    assert len(made.warnings) == 2
    assert all("refs/nightcrew/salvage/7/" in warning for warning in made.warnings)
    assert await collect(world) == Left(theirs, committed_for_it=False)
    assert left.head_sha != theirs


async def test_preparing_happens_once(world, tmp_path):
    world.publish({"a": "1"})
    await start(world)
    for _ in range(2):
        assert await world.port.prepare(spec(), ProjectSettings(PROJECT), log=tmp_path / "log") == ()


async def test_history_questions(world):
    first = world.publish({"a": "1"})
    feature = world.publish({"f": "1"}, branch="feature")
    second = world.publish({"b": "1"})
    await world.port.fetch(PROJECT, world.remote)
    port = world.port
    assert await port.is_ancestor(PROJECT, ancestor=first, descendant=first)
    assert await port.is_ancestor(PROJECT, ancestor=first, descendant=feature)
    assert not await port.is_ancestor(PROJECT, ancestor=feature, descendant=second)
    assert await port.find_merge_base(PROJECT, feature, second) == first
    with pytest.raises(Missing):
        await port.is_ancestor(PROJECT, ancestor=Sha("1" * 40), descendant=first)
    with pytest.raises(Missing):
        await port.list_commits(PROJECT, base=first, head=Sha("1" * 40))


async def test_checkouts_and_merges(world):
    world.publish({"a": "1", "same": "1"})
    feature = world.publish({"a": "2", "f": "1"}, branch="feature")
    fine = world.publish({"other": "1"})
    await world.port.fetch(PROJECT, world.remote)
    port = world.port
    one = await port.ensure_review_checkout(PROJECT, RunId("R1"), feature)
    assert await port.ensure_review_checkout(PROJECT, RunId("R1"), feature) == one
    assert isinstance(await port.ensure_merge_checkout(PROJECT, "m1", base=fine, head=feature), Path)
    clash = world.publish({"a": "3"})
    await port.fetch(PROJECT, world.remote)
    assert await port.ensure_merge_checkout(PROJECT, "m1", base=clash, head=feature) == MergeConflict(("a",))
    for key in ("R1", "m1", "m1", "never"):
        await port.remove_checkout(PROJECT, key)
    with pytest.raises(Missing):
        await port.ensure_review_checkout(PROJECT, RunId("R2"), Sha("1" * 40))


async def test_removal_saves_what_is_nowhere_else(world):
    world.publish({"a": "1"})
    await start(world)
    world.edit({"b": "2"})
    await collect(world)
    with pytest.raises(Conflict, match="run-1"):
        await world.port.remove_workspace(PROJECT, NUMBER, merged=False)
    await world.port.release(PROJECT, NUMBER, lease=RunId("run-1"))
    world.edit({"c": "3"})
    refs = await world.port.remove_workspace(PROJECT, NUMBER, merged=False)
    assert len(refs) == 2
    assert all(ref.startswith("refs/nightcrew/salvage/7/") for ref in refs)
    assert await world.port.remove_workspace(PROJECT, NUMBER, merged=False) == ()
    with pytest.raises(Missing):
        await collect(world)


async def test_removal_of_merged_or_pushed_work_saves_nothing(world):
    world.publish({"a": "1"})
    for merged in (True, False):
        await start(world)
        world.edit({"b": str(merged)})
        left = await collect(world)
        if not merged:
            await world.port.push(PROJECT, world.remote, branch=BRANCH, sha=left.head_sha, expected=None)
        await world.port.release(PROJECT, NUMBER, lease=RunId("run-1"))
        assert await world.port.remove_workspace(PROJECT, NUMBER, merged=merged) == ()


async def test_the_workspaces_in_memory_share_branches_with_the_forge_in_memory(tmp_path):
    clock = Clock()
    forge = ForgeState(clock)
    project = forge.add_project(PROJECT)
    port = FakeWorkspaces(clock, home=tmp_path, forge=forge)
    await port.fetch(PROJECT, Remote("memory"))
    made = await port.ensure_workspace(spec())
    assert made.head_sha == project.branches["main"]
    port.edit(PROJECT, NUMBER, {"new": "1"})
    left = await port.collect(PROJECT, NUMBER, agent="claude", commit=CommitSettings(), message="Work")
    await port.push(PROJECT, Remote("memory"), branch=BRANCH, sha=left.head_sha, expected=None)
    assert project.branches[BRANCH] == left.head_sha
    assert project.commits[left.head_sha].paths == ("new",)
    theirs = forge.push(PROJECT, "main", paths=("theirs",))
    await port.fetch(PROJECT, Remote("memory"))
    assert await port.find_branch(PROJECT, "main") == theirs
    assert await port.find_merge_base(PROJECT, theirs, left.head_sha) == made.base_sha


async def test_scripted_errors_of_the_workspaces_in_memory(tmp_path):
    port = FakeWorkspaces(Clock(), home=tmp_path)
    sha = port.publish(PROJECT, {"a": "1"})
    port.fail("fetch", Unavailable("no network"))
    port.fail("push", Unavailable("lost answer"), after=True)
    with pytest.raises(Unavailable):
        await port.fetch(PROJECT, Remote("memory"))
    await port.fetch(PROJECT, Remote("memory"))
    with pytest.raises(Unavailable):
        await port.push(PROJECT, Remote("memory"), branch="x", sha=sha, expected=None)
    assert port.repository(PROJECT).remote["x"] == sha
    await port.push(PROJECT, Remote("memory"), branch="x", sha=sha, expected=None)
    assert port.calls == [("fetch", PROJECT)] * 2 + [("push", PROJECT)] * 2


async def test_paths_that_differ_from_a_commit_are_told(world):
    base = world.publish({"set/a": "1", "set/b": "2", "set.json": "3", "other": "4"})
    made = await start(world)

    async def changed(*names: str) -> tuple[str, ...]:
        found: tuple[str, ...] = await world.port.list_changed_paths(PROJECT, made.path, base=base, names=names)
        return found

    assert await changed("set", "set.json", "none") == ()
    world.edit({"set/a": "one", "set/b": None, "set/c": "new", "other": "x"})
    assert await changed("set", "set.json", "none") == ("set/a", "set/b", "set/c")
    assert await changed("set.json") == ()


async def test_folders_are_listed_with_what_they_are(world):
    sha = world.publish({"a": "1"})
    assert world.port.list_folders(PROJECT) == ()
    await start(world)
    path = await world.port.ensure_review_checkout(PROJECT, RunId("run-9"), sha)
    tree = world.port.path(PROJECT, NUMBER)
    assert world.port.list_folders(PROJECT) == (
        WorkFolder(tree, NUMBER, RunId("run-1")),
        WorkFolder(path, checkout="run-9"),
    )
    await world.port.release(PROJECT, NUMBER, lease=RunId("run-1"))
    assert world.port.list_folders(PROJECT)[0] == WorkFolder(tree, NUMBER)
