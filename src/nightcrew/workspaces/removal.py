"""Taking a workspace away, after its work is proven to be elsewhere. Whatever cannot be proven keeps everything."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.workspaces.build import find_own_marker
from nightcrew.workspaces.clearing import take_away
from nightcrew.workspaces.file import is_folder, is_there
from nightcrew.workspaces.lease import load_lease
from nightcrew.workspaces.link import find_tip, load_link
from nightcrew.workspaces.marker import Marker, Stage, write_marker
from nightcrew.workspaces.repository import REMOTE, Repository
from nightcrew.workspaces.salvage import salvage_commit, salvage_snapshot
from nightcrew.workspaces.settle import collected_ref
from nightcrew.workspaces.snapshot import take_snapshot


async def remove_worktree(
    repository: Repository, number: int, *, installation: str, merged: bool, at: datetime
) -> tuple[str, ...]:
    """Save what is not saved, then remove folder, link and the task's repository (of a shared one, its branch).
    Returns the refs made.

    Conflict, and nothing removed, while a run holds the lease, or if the folder is not ours. A folder that a ref cannot
    hold (with repositories of its own inside, or files that git cannot read) is not deleted but put aside whole.
    """
    marker = find_own_marker(repository, number, installation=installation)
    if marker is None:
        return ()
    if holder := load_lease(repository.lease(number)).holder:
        raise Conflict(f"the workspace of {repository.project}#{number} is in use by run {holder}; nothing was removed")
    tree = repository.tree(number)
    if is_there(tree) and not is_folder(tree):
        raise Conflict(f"{tree} is not a folder; somebody replaced it, and nothing was removed")
    refs: tuple[str, ...] = ()
    whole = True  # what was never handed over holds no work
    if marker.stage is Stage.READY:
        refs, whole = await _save(repository, marker, merged=merged, at=at)
    if marker.stage is not Stage.REMOVING:
        marker = replace(marker, stage=Stage.REMOVING, whole=whole)
        write_marker(repository.marker(number), marker)
    await take_away(repository, marker)
    return refs


async def _save(repository: Repository, marker: Marker, *, merged: bool, at: datetime) -> tuple[tuple[str, ...], bool]:
    """Keep in refs what is nowhere else; those refs, and whether they hold all there is."""
    link = load_link(repository, marker.number)
    tip = find_tip(repository, marker.number, marker.branch)
    collected = await repository.find_ref(collected_ref(marker.number))
    known = [*link.commits, *([tip] if tip is not None else [])]
    await repository.transfer(marker.number, known)
    excluded = [collected] if merged and collected is not None else []
    refs: list[str] = []
    for sha in dict.fromkeys([*known, *([collected] if collected is not None else [])]):
        if await _is_elsewhere(repository, sha, excluded=excluded):
            continue
        refs.append(await salvage_commit(repository, marker.number, sha, at=at))
    head = link.head or tip or collected or marker.head_sha
    if not is_folder(repository.tree(marker.number)):
        return tuple(dict.fromkeys(refs)), True
    with repository.temporary() as folder:
        snapshot = await take_snapshot(repository, marker.number, head=head, scratch=Path(folder), copied=marker.copied)
        if snapshot.is_dirty:
            why = "uncommitted when the workspace was removed"
            refs.append(await salvage_snapshot(repository, marker.number, snapshot, head=head, at=at, why=why))
        return tuple(dict.fromkeys(refs)), snapshot.is_whole


async def _is_elsewhere(repository: Repository, sha: Sha, *, excluded: list[Sha]) -> bool:
    """Whether every commit up to `sha` is on the remote as last fetched, or in what counts as merged."""
    done = await repository.run("rev-list", "--max-count=1", sha, "--not", f"--glob={REMOTE}*", *excluded)
    return not done.text.strip()
