"""Throw-away checkouts, for reviewers and for checks of a merge result.

Each is a small repository of its own that borrows the engine's objects: whatever runs in it can look at history, and
can harm neither the engine's repository nor a task's branch.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.ids import Sha
from nightcrew.ports.workspace import MergeConflict
from nightcrew.workspaces.file import discard, find_document, is_folder, replace_document, replace_file
from nightcrew.workspaces.git import NIGHTCREW, NIGHTCREW_EMAIL, Identity, identity_environment
from nightcrew.workspaces.repository import REMOTE, Repository, quote_path, safe_name

_MERGE_CONFLICT = 1
_CONFIG = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[advice]\n\tdetachedHead = false\n"
    "[gc]\n\tauto = 0\n[user]\n\tname = Unnamed agent\n\temail = unnamed@agents.nightcrew.invalid\n"
    "[commit]\n\tgpgSign = false\n[push]\n\tdefault = nothing\n"
)


def checkout_path(repository: Repository, key: str) -> Path:
    return repository.checkouts / safe_name(key)


async def ensure_checkout(repository: Repository, key: str, *, sha: Sha) -> Path:
    """A checkout of exactly `sha`. One that was made whole for the same commit is returned as it is."""
    await repository.check_there(sha)
    path, facts = checkout_path(repository, key), {"sha": str(sha)}
    if _is_whole(repository, key, facts):
        return path
    await asyncio.to_thread(_prepare, repository, key)
    return await _finish(repository, key, sha=sha, facts=facts)


async def ensure_merge(repository: Repository, key: str, *, base: Sha, head: Sha) -> Path | MergeConflict:
    """A checkout of the merge of head into base. Its commit and objects live and die with the checkout."""
    await repository.check_there(base, head)
    facts = {"base": str(base), "head": str(head)}
    if _is_whole(repository, key, facts):
        return checkout_path(repository, key)
    await asyncio.to_thread(_prepare, repository, key)
    env = _borrowing(repository, key)
    done = await repository.run(
        "merge-tree", "--write-tree", "--name-only", "-z", base, head, env=env, ok=(0, _MERGE_CONFLICT, 128)
    )
    tree, *paths = done.stdout.split(b"\0")
    if done.returncode == _MERGE_CONFLICT and tree:
        await asyncio.to_thread(remove_checkout, repository, key)
        # Paths end at the first empty field; messages for people follow.
        named = paths[: paths.index(b"")] if b"" in paths else paths
        return MergeConflict(tuple(sorted({os.fsdecode(path) for path in named})))
    if done.returncode != 0:
        await asyncio.to_thread(remove_checkout, repository, key)
        if "unrelated histories" in done.complaint:
            raise Invalid(f"{base[:10]} and {head[:10]} have no common history; they cannot be merged")
        raise repository.complain(done, doing=f"merging {head[:10]} into {base[:10]}")
    times = (await repository.run("show", "-s", "--format=%ct", base, head)).text.split()
    who = Identity(NIGHTCREW, NIGHTCREW_EMAIL, max(int(time) for time in times))
    made = await repository.run(
        "commit-tree", "-p", base, "-p", head, "-m", f"Merge {head} into {base}", tree.decode("ascii"),
        env={**env, **identity_environment(who)},
    )  # fmt: skip
    return await _finish(repository, key, sha=Sha(made.text.strip()), facts=facts)


def remove_checkout(repository: Repository, key: str) -> None:
    """Have no such checkout. Idempotent."""
    path = checkout_path(repository, key)
    _facts(repository, key).unlink(missing_ok=True)
    discard(path, repository.trash)


def _facts(repository: Repository, key: str) -> Path:
    return repository.checkouts / f"{safe_name(key)}.json"


def _is_whole(repository: Repository, key: str, facts: Mapping[str, str]) -> bool:
    return is_folder(checkout_path(repository, key)) and find_document(_facts(repository, key)) == facts


def _prepare(repository: Repository, key: str) -> None:
    """An empty repository in the place of whatever was there."""
    if not safe_name(key).strip("."):
        raise Missing(f"{key!r} does not name a checkout")
    remove_checkout(repository, key)
    git_dir = checkout_path(repository, key) / ".git"
    for folder in (git_dir / "objects" / "info", git_dir / "objects" / "pack", git_dir / "refs"):
        folder.mkdir(parents=True)
    (git_dir / "objects" / "info" / "alternates").write_bytes(quote_path(repository.engine / "objects"))
    (git_dir / "config").write_text(_CONFIG, encoding="utf-8")


def _borrowing(repository: Repository, key: str) -> dict[str, str]:
    """Variables under which the engine's git reads its own objects too, and writes into the checkout's."""
    return {"GIT_OBJECT_DIRECTORY": str(checkout_path(repository, key) / ".git" / "objects")}


async def _finish(repository: Repository, key: str, *, sha: Sha, facts: Mapping[str, str]) -> Path:
    path = checkout_path(repository, key)
    git_dir = path / ".git"
    listed = await repository.run("for-each-ref", "--format=%(objectname) %(refname)", REMOTE)
    replace_file(git_dir / "packed-refs", b"# pack-refs with: sorted \n" + listed.stdout)
    replace_file(git_dir / "HEAD", f"{sha}\n".encode())
    env = {**_borrowing(repository, key), "GIT_WORK_TREE": str(path), "GIT_INDEX_FILE": str(git_dir / "index")}
    await repository.run("read-tree", "--reset", "-u", sha, env=env, doing=f"checking out {sha[:10]}")
    replace_document(_facts(repository, key), dict(facts))
    return path
