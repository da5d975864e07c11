"""Making the bare repositories that the forge holds: empty, from files, or from a local repository."""

import re
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

from nightcrew.core.errors import Invalid
from nightcrew.forges.local.git import Git, Signature, is_ref_name, run_git

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


def valid_name(name: str) -> bool:
    """Whether this may name an owner or a repository; such a name is also a safe folder name."""
    return _NAME.match(name) is not None and not name.endswith((".git", ".lock", "."))


async def make_repository(
    path: Path,
    *,
    default_branch: str,
    import_from: Path | None,
    files: Mapping[str, str] | None,
    author: tuple[str, str],
    at: datetime,
) -> str:
    """Make the bare repository at `path`, whole or not at all. Returns the name of its default branch."""
    if not is_ref_name(default_branch):
        raise Invalid(f"not a branch name: {default_branch!r}")
    if path.is_symlink():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".{path.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    done = await run_git("init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}", str(made))
    if done.returncode != 0:
        raise Invalid(f"cannot make a repository at {made}: {done.complaint}")
    git = Git(made)
    (made / "info").mkdir(exist_ok=True)
    branch = default_branch
    if import_from is not None:
        branch = await _import(git, import_from, default_branch=default_branch)
    elif files:
        stamp = Signature(*author, at.isoformat())
        await git.set_ref(
            f"refs/heads/{branch}", await commit_files(git, files, stamp=stamp, message="Initial commit\n")
        )
    made.rename(path)
    return branch


async def _import(git: Git, source: Path, *, default_branch: str) -> str:
    """All branches and tags of a local repository; its current branch becomes the default."""
    wanted = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
    done = await run_git(
        f"--git-dir={git.path}", "-c", "safe.directory=*", "fetch", "--quiet", "--no-write-fetch-head",
        "--end-of-options", source.absolute().as_uri(), *wanted,
    )  # fmt: skip
    if done.returncode != 0:
        raise Invalid(f"cannot import {source}: {done.complaint}")
    heads = await git.heads()
    current = await run_git("-C", str(source), "symbolic-ref", "--quiet", "--short", "HEAD")
    named = current.text.strip()
    branch = (
        named if named in heads else default_branch if default_branch in heads else next(iter(heads), default_branch)
    )
    await git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    return branch


async def commit_files(
    git: Git, files: Mapping[str, str], *, stamp: Signature, message: str, parent: str | None = None
) -> str:
    """A commit that holds these files over those of `parent`; no ref moves."""
    index = {"GIT_INDEX_FILE": str(git.path / "nightcrew-index")}
    try:
        if parent:
            await git.run("read-tree", parent, env=index)
        lines = []
        for name, text in files.items():
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\0" in name:
                raise Invalid(f"not a path in a repository: {name!r}")
            blob = (await git.run("hash-object", "-w", "--stdin", stdin=text.encode())).text.strip()
            lines.append(f"100644 {blob}\t{name}\0")
        await git.run("update-index", "-z", "--index-info", stdin="".join(lines).encode(), env=index)
        tree = (await git.run("write-tree", env=index)).text.strip()
    finally:
        (git.path / "nightcrew-index").unlink(missing_ok=True)
    return await git.commit_tree(tree, [parent] if parent else [], message=message, author=stamp, committer=stamp)
