"""Leaving a merge for an author: its conflict stands in the worktree as after `git merge`, with marks in the files, all
stages in the index, and the commit to be merged written down, so that `git commit` concludes it."""

from datetime import datetime
from pathlib import Path

from nightcrew.core.ids import Sha
from nightcrew.workspaces.file import replace_file
from nightcrew.workspaces.join import merge_trees
from nightcrew.workspaces.link import end_operation
from nightcrew.workspaces.marker import Marker
from nightcrew.workspaces.repository import Repository
from nightcrew.workspaces.salvage import salvage_snapshot
from nightcrew.workspaces.snapshot import install_index, take_snapshot

_WHY = "the base had to be merged"


async def begin_merge(
    repository: Repository, marker: Marker, *, base: Sha, message: str, at: datetime
) -> tuple[str, ...]:
    """Begin it over the worktree's HEAD; the paths in conflict, none if HEAD has the base already. Uncommitted work is
    saved first: the marks would be among it."""
    head, number = marker.head_sha, marker.number
    await repository.check_there(base)
    if await repository.is_ancestor(base, head):
        return ()
    merged = await merge_trees(repository, head, base)
    with repository.temporary() as folder:
        snapshot = await take_snapshot(repository, number, head=head, scratch=Path(folder), copied=marker.copied)
        if snapshot.is_dirty:
            await salvage_snapshot(repository, number, snapshot, head=head, at=at, why=_WHY)
        env = {"GIT_INDEX_FILE": str(snapshot.index), "GIT_WORK_TREE": str(repository.tree(number))}
        await repository.run("read-tree", "--reset", "-u", merged.tree, env=env, doing="laying out the merge")
        await _stage(repository, env, merged.stages, nothing="0" * len(base))
        end_operation(repository, number)
        install_index(repository, number, snapshot.index)
    admin = repository.admin(number)
    replace_file(admin / "MERGE_MSG", message.encode("utf-8", "replace") + b"\n")
    replace_file(admin / "MERGE_MODE", b"")
    # Last: with it there is a merge in progress.
    replace_file(admin / "MERGE_HEAD", f"{base}\n".encode())
    return merged.paths


async def _stage(repository: Repository, env: dict[str, str], stages: tuple[bytes, ...], *, nothing: str) -> None:
    if not stages:
        return
    names = {stage.partition(b"\t")[2] for stage in stages}
    absent = [f"0 {nothing}\t".encode() + name for name in sorted(names)]
    lines = b"".join(line + b"\0" for line in (*absent, *stages))
    await repository.run("update-index", "-z", "--index-info", env=env, stdin=lines)
