"""The repository that all tasks of a project once shared: it stays for the worktrees that were made in it, and goes
with the last of them. What a branch or worktree of it still holds is saved first."""

import asyncio
import os
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.core.ids import Sha
from nightcrew.workspaces.file import discard, find_bytes, find_document, is_folder
from nightcrew.workspaces.link import put_aside
from nightcrew.workspaces.ref import parse_object_id
from nightcrew.workspaces.repository import LAYOUT, REMOTE, Repository
from nightcrew.workspaces.salvage import salvage_commit

_NO_TASK = 0
"""Under which number is saved what belongs to no task any more."""


async def retire_shared(repository: Repository, *, at: datetime) -> tuple[str, ...]:
    """Remove it, if there is one and no task is in it any more; the refs under which commits were saved. One whose
    commits cannot be taken over is put aside whole."""
    shared = repository.shared
    if not is_folder(shared) or _is_in_use(repository):
        return ()
    tips = await asyncio.to_thread(_list_tips, shared)
    refs = []
    try:
        await repository.transfer(_NO_TASK, tips, source=shared)
    except Invalid:
        put_aside(repository, shared, name="agents")
        return ()
    for sha in tips:
        done = await repository.run("rev-list", "--max-count=1", sha, "--not", f"--glob={REMOTE}*")
        if done.text.strip():
            refs.append(await salvage_commit(repository, _NO_TASK, sha, at=at))
    await asyncio.to_thread(discard, shared, repository.trash)
    return tuple(refs)


def _is_in_use(repository: Repository) -> bool:
    markers = (find_document(path) for path in (repository.folder / "tasks").glob("*.json"))
    return any(marker is not None and marker.get("layout", 1) != LAYOUT for marker in markers)


def _list_tips(shared: Path) -> tuple[Sha, ...]:
    """What its branches and detached worktrees are at. Only names of objects are believed."""
    texts = [line.partition(" ")[0] for line in _read(shared / "packed-refs").splitlines() if " refs/heads/" in line]
    for folder, _, names in os.walk(shared / "refs" / "heads"):
        texts += [_read(Path(folder) / name).strip() for name in names]
    texts += [_read(path).strip() for path in (shared / "worktrees").glob("*/HEAD")]
    return tuple(dict.fromkeys(sha for text in texts if (sha := parse_object_id(text)) is not None))


def _read(path: Path) -> str:
    return (find_bytes(path) or b"").decode("utf-8", "replace")
