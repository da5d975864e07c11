"""Making a task's worktree, and adopting or repairing the one that is there.

The marker is written before anything else and says `ready` only at the end: a folder without a marker is not ours, and
one that is not ready was never handed over, so that it can be made again over itself.
"""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.ports.workspace import Checkout, WorkspaceSpec
from nightcrew.workspaces.clearing import take_away
from nightcrew.workspaces.file import find_bytes, is_folder, is_there
from nightcrew.workspaces.link import branch_ref, end_operation, ensure_link, find_tip, is_linked, put_aside
from nightcrew.workspaces.marker import Marker, Stage, find_marker, write_marker
from nightcrew.workspaces.ref import delete_ref, write_ref
from nightcrew.workspaces.repository import REMOTE, Repository
from nightcrew.workspaces.salvage import salvage_commit, salvage_snapshot
from nightcrew.workspaces.settle import collected_ref, settle
from nightcrew.workspaces.snapshot import reset_tree, take_snapshot


def find_own_marker(repository: Repository, number: int, *, installation: str) -> Marker | None:
    """The marker of a task's worktree. Conflict if the worktree is somebody else's: then nothing may be touched. One of
    ours whose marker was lost is put aside whole, as if it were not there."""
    put_aside_unmarked(repository, number)
    marker = find_marker(repository.marker(number))
    tree = repository.tree(number)
    if marker is None:
        if is_there(tree):
            raise Conflict(f"{tree} is there, but was not made by this installation; move it away")
        return None
    owner = (marker.installation, marker.project, marker.number)
    if owner != (installation, repository.project, number):
        raise Conflict(f"{tree} belongs to {marker.project}#{marker.number} of {marker.installation}; move it away")
    return marker


def put_aside_unmarked(repository: Repository, number: int) -> tuple[str, ...]:
    """Make room where a task's worktree stands whose marker was lost: what is in it is kept. Only one that says itself
    that it belongs to these repositories; words for the task, if there was one."""
    tree = repository.tree(number)
    link = (find_bytes(tree / ".git") or b"").decode("utf-8", "replace").strip()
    if find_marker(repository.marker(number)) is not None or not repository.is_own_link(number, link):
        return ()
    kept = put_aside(repository, tree, name=f"{number}-tree")
    return (f"a workspace was left of which nothing was known any more; it is kept as {kept}",)


async def ensure_worktree(repository: Repository, spec: WorkspaceSpec, *, installation: str, at: datetime) -> Checkout:
    """Have the worktree of `spec` whole and on its branch."""
    marker = find_own_marker(repository, spec.number, installation=installation)
    base = await repository.get_base(spec.base_ref)
    if spec.start is not None:
        await repository.check_there(spec.start)
    if marker is not None and marker.stage is Stage.REMOVING:
        await take_away(repository, marker)
        marker = None
    if marker is None:
        made = await _make(repository, spec, base=base, installation=installation, at=at)
    else:
        if marker.stage is Stage.MAKING:
            await _fill(repository, marker)
            marker = marker.at(Stage.READY)
        await repository.ensure_agents(spec.number)
        made = await _adopt(repository, spec, marker, at=at)
    # Lets the agent compare with, and merge, the base as last fetched; it has no remote to ask.
    write_ref(repository.agents(spec.number), REMOTE + spec.base_ref, base)
    return made


async def _make(repository: Repository, spec: WorkspaceSpec, *, base: Sha, installation: str, at: datetime) -> Checkout:
    warnings: tuple[str, ...] = ()
    start = spec.start or base
    left = find_tip(repository, spec.number, spec.branch)
    if left is not None and left != start:
        await repository.transfer(spec.number, [left])
        if not await repository.is_ancestor(left, start):
            ref = await salvage_commit(repository, spec.number, left, at=at)
            warnings = (f"a branch {spec.branch} was left from earlier; its commits are saved as {ref}",)
    fork = await find_merge_base(repository, start, base) or base
    marker = Marker(installation, spec.project, spec.number, spec.branch, fork, start, start)
    return await _fill(repository, marker, warnings=warnings)


async def _fill(repository: Repository, marker: Marker, *, warnings: tuple[str, ...] = ()) -> Checkout:
    """Put down all of it: link, branch, files, index; then say that it is ready."""
    number = marker.number
    making = replace(marker, stage=Stage.MAKING, prepared=False, copied=())
    write_marker(repository.marker(number), making)
    await repository.ensure_agents(number)
    write_ref(repository.agents(number), branch_ref(marker.branch), marker.head_sha)
    end_operation(repository, number)
    ensure_link(repository, number, marker.branch)
    with repository.temporary() as folder:
        index = repository.admin(number) / "index"
        index.unlink(missing_ok=True)
        if any(path.name != ".git" for path in repository.tree(number).iterdir()):
            # A crash left some files; those that the commit does not have go too, since no agent was here yet.
            await repository.run("read-tree", marker.head_sha, env=_env(repository, number, Path(folder) / "index"))
            await repository.run("add", "-A", "--ignore-errors", env=_env(repository, number, Path(folder) / "index"),
                                 ok=(0, 1, 128))  # fmt: skip
            (Path(folder) / "index").replace(index)
        await reset_tree(repository, number, to=marker.head_sha, index=index)
    await repository.set_ref(collected_ref(number), marker.head_sha)
    write_marker(repository.marker(number), making.at(Stage.READY))
    return Checkout(repository.tree(number), marker.base_sha, marker.head_sha, warnings)


def _env(repository: Repository, number: int, index: Path) -> dict[str, str]:
    return {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(repository.tree(number))}


async def _adopt(repository: Repository, spec: WorkspaceSpec, marker: Marker, *, at: datetime) -> Checkout:
    tree = repository.tree(spec.number)
    if is_there(tree) and not is_folder(tree):
        raise Conflict(f"{tree} is not a folder; somebody replaced it, and nothing was changed")
    if not is_folder(tree):
        return await _restore(repository, spec, marker)
    warnings: list[str] = []
    if not is_linked(repository, spec.number, marker.branch) and not is_folder(repository.admin(spec.number)):
        warnings.append("the workspace had lost its link to the repository; it was linked again")
    settled = await settle(repository, marker, at=at, author=None)
    warnings.extend(settled.problems)
    head = settled.head
    if spec.start is not None and not await repository.is_ancestor(spec.start, head):
        warnings.extend(await _move(repository, spec, marker, head=head, at=at))
        head = spec.start
    elif settled.is_dirty:
        warnings.append("uncommitted changes of an earlier run are still in the workspace")
    if spec.branch != marker.branch:
        write_ref(repository.agents(spec.number), branch_ref(spec.branch), head)
        ensure_link(repository, spec.number, spec.branch)
        delete_ref(repository.agents(spec.number), branch_ref(marker.branch))
    start = spec.start or marker.start_sha
    write_marker(repository.marker(spec.number), replace(marker, branch=spec.branch, start_sha=start, head_sha=head))
    return Checkout(tree, marker.base_sha, head, tuple(warnings))


async def _restore(repository: Repository, spec: WorkspaceSpec, marker: Marker) -> Checkout:
    """The folder was deleted by hand: its commits are still there, so it is made again at the last of them."""
    tip = find_tip(repository, marker.number, marker.branch)
    head = tip or marker.head_sha
    await repository.transfer(spec.number, [head])
    if spec.start is not None and await repository.is_ancestor(head, spec.start):
        head = spec.start
    words = ("the workspace's folder was gone; it was made again from its commits",)
    start = spec.start or marker.start_sha
    made = await _fill(repository, replace(marker, branch=spec.branch, head_sha=head, start_sha=start), warnings=words)
    if spec.branch != marker.branch:
        delete_ref(repository.agents(spec.number), branch_ref(marker.branch))
    return made


async def _move(
    repository: Repository, spec: WorkspaceSpec, marker: Marker, *, head: Sha, at: datetime
) -> tuple[str, ...]:
    """Bring the worktree to `spec.start`, which it does not contain: forward if it can, else after saving it."""
    start = spec.start or head
    words: list[str] = []
    if not await repository.is_ancestor(head, start):
        ref = await salvage_commit(repository, spec.number, head, at=at)
        words.append(f"the branch was changed elsewhere; the workspace's own commits are saved as {ref}")
    with repository.temporary() as folder:
        snapshot = await take_snapshot(repository, spec.number, head=head, scratch=Path(folder), copied=marker.copied)
        if snapshot.is_dirty:
            ref = await salvage_snapshot(
                repository, spec.number, snapshot, head=head, at=at, why="the branch was changed elsewhere"
            )
            words.append(f"the branch was changed elsewhere; uncommitted work is saved as {ref}")
        end_operation(repository, spec.number)
        await reset_tree(repository, spec.number, to=start, index=snapshot.index)
        write_ref(repository.agents(spec.number), branch_ref(marker.branch), start)
        ensure_link(repository, spec.number, marker.branch)
        snapshot.index.replace(repository.admin(spec.number) / "index")
    await repository.set_ref(collected_ref(spec.number), start)
    return tuple(words)


async def find_merge_base(repository: Repository, one: Sha, other: Sha) -> Sha | None:
    """The best common ancestor, None if the histories are unrelated."""
    if one == other:
        return one
    done = await repository.run("merge-base", one, other, ok=(0, 1))
    return Sha(done.text.split()[0]) if done.returncode == 0 else None
