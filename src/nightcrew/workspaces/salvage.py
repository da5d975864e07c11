"""Saving work before anything is removed or reset: `refs/nightcrew/salvage/<number>/<time>`, which nothing deletes."""

from datetime import datetime

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.workspaces.commit import make_commit, nightcrew
from nightcrew.workspaces.repository import Repository
from nightcrew.workspaces.snapshot import Snapshot

SALVAGE = "refs/nightcrew/salvage/"

_TRIES = 1_000
_NONE = "0" * 40


async def salvage_commit(repository: Repository, number: int, sha: Sha, *, at: datetime) -> str:
    """Keep a commit; returns its ref. A commit that is kept already gets no second one."""
    prefix = f"{SALVAGE}{number}/"
    listed = await repository.run("for-each-ref", "--format=%(refname)", f"--points-at={sha}", prefix)
    if names := listed.text.split():
        return names[0]
    stem = f"{prefix}{at:%Y%m%dT%H%M%SZ}"
    for count in range(1, _TRIES):
        name = stem if count == 1 else f"{stem}-{count}"
        if await repository.find_ref(name) is None:
            await repository.run("update-ref", "--no-deref", name, sha, _NONE, doing="saving work")
            return name
    raise Conflict(f"{repository.project} has too many saved states of task {number} under {stem}")


async def salvage_snapshot(
    repository: Repository, number: int, snapshot: Snapshot, *, head: Sha, at: datetime, why: str
) -> str:
    """Keep the files of a worktree, untracked ones included, as a commit on top of `head`; returns its ref."""
    message = f"Saved work of task {number}: {why}\n"
    who = nightcrew(at)
    sha = await make_commit(
        repository, tree=snapshot.tree, parents=[head], message=message, author=who, is_published=False
    )
    return await salvage_commit(repository, number, sha, at=at)
