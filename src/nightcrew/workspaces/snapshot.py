"""What a worktree holds now, as a git tree, without touching it.

The tree is made in an index of our own, filled from a commit and then from the files; so nothing that an agent set in
its own index (assume-unchanged, an fsmonitor) hides a change, and its .gitignore files count while its filters do not.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha
from nightcrew.workspaces.complaint import clean
from nightcrew.workspaces.file import find_bytes, is_folder
from nightcrew.workspaces.ref import find_ref, parse_object_id
from nightcrew.workspaces.repository import Repository

_LINK_MODE = "160000"
_CONFLICT_MARKS = (b"<<<<<<< ", b">>>>>>> ")
_SAID_LINES = 5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`tree` of the files; `index` the index that matches them (valid inside the caller's scratch folder); `is_dirty`
    whether it differs from the commit; `problems` words about what was left out; `nested` repositories inside whose
    own commits the tree cannot hold; `unresolved` paths still in conflict."""

    tree: str
    index: Path
    is_dirty: bool
    problems: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    is_read: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether `tree` holds all that there is, but for ignored files."""
        return self.is_read and not self.nested


async def take_snapshot(
    repository: Repository, number: int, *, head: Sha, scratch: Path, copied: tuple[str, ...] = ()
) -> Snapshot:
    """The files of task `number`'s worktree over commit `head`. `copied` files stay out unless `head` has them."""
    tree = repository.tree(number)
    if not is_folder(tree):
        raise Missing(f"the workspace {tree} is not there, or is not a folder any more")
    index = scratch / "index"
    env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(tree)}
    await repository.run("read-tree", head, env=env)
    agents_index = _copy_index(repository.admin(number) / "index", scratch)
    links = await _list_links(repository, env)
    hidden = await _list_hidden(repository, tree, agents_index)
    # Git would run `status` inside a submodule, under a configuration that an agent may have written there; and what
    # a sparse checkout left out is not deleted. Neither is looked at.
    await _mark(repository, env, "--skip-worktree", [*links, *hidden])
    added = await repository.run("add", "-A", "--ignore-errors", env=env, ok=(0, 1, 128))
    problems = _render_refusals(added.stderr) if added.returncode else ()
    nested, unwanted = await _list_unwanted(repository, env, head=head, copied=copied)
    await _mark(repository, env, "--force-remove", [*nested, *unwanted])
    problems += tuple(f"{os.fsdecode(path)} is a repository of its own and was left out" for path in nested)
    moved = [path for path, sha in links.items() if _find_nested_head(tree / os.fsdecode(path)) not in (None, sha)]
    problems += tuple(f"the submodule {os.fsdecode(path)} was moved; its new commit was not recorded" for path in moved)
    await _mark(repository, env, "--no-skip-worktree", list(links))
    made = (await repository.run("write-tree", env=env)).text.strip()
    return Snapshot(
        made,
        index,
        made != await repository.tree_of(head),
        tuple(clean(problem) for problem in problems),
        (*(os.fsdecode(path) for path in nested), *(os.fsdecode(path) for path in moved)),
        await _list_unresolved(repository, tree, agents_index),
        added.returncode == 0,
    )


async def reset_tree(repository: Repository, number: int, *, to: Sha, index: Path) -> None:
    """Have the worktree's files as in commit `to`. `index` describes the files as they are: what it names and `to`
    does not is removed, so it must have been saved before. Ignored files stay."""
    env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(repository.tree(number))}
    await repository.run("read-tree", "--reset", "-u", to, env=env, doing=f"checking out {to[:10]}")


def install_index(repository: Repository, number: int, index: Path) -> None:
    """Have the agent's index be the one we made, so that its git sees exactly what was committed."""
    target = repository.admin(number) / "index"
    fresh = target.with_name("index.nightcrew")
    fresh.unlink(missing_ok=True)
    shutil.copyfile(index, fresh, follow_symlinks=False)
    fresh.replace(target)


def _copy_index(path: Path, scratch: Path) -> Path | None:
    # Git insists on writing beside an index that it reads; a copy keeps the agent's own untouched.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        copy = scratch / "agents-index"
        with os.fdopen(os.dup(descriptor), "rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        return copy
    finally:
        os.close(descriptor)


async def _list_links(repository: Repository, env: dict[str, str]) -> dict[bytes, str]:
    """Paths of submodules in the index, and the commits they are recorded at."""
    listed = await repository.run("ls-files", "-s", "-z", env=env)
    links = {}
    for entry in listed.stdout.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        mode, _, rest = facts.partition(b" ")
        if mode == _LINK_MODE.encode():
            links[path] = rest.split(b" ")[0].decode("ascii")
    return links


async def _list_hidden(repository: Repository, tree: Path, index: Path | None) -> list[bytes]:
    """Paths that the agent's sparse checkout took away from the disk."""
    if index is None:
        return []
    env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(tree)}
    listed = await repository.run("ls-files", "-t", "-z", env=env, ok=(0, 128))
    entries = [entry[2:] for entry in listed.stdout.split(b"\0") if entry.startswith(b"S ")]
    return [path for path in entries if not os.path.lexists(tree / os.fsdecode(path))]


async def _mark(repository: Repository, env: dict[str, str], option: str, paths: Iterable[bytes]) -> None:
    names = b"".join(path + b"\0" for path in paths)
    if names:
        await repository.run("update-index", option, "-z", "--stdin", env=env, stdin=names)


async def _list_unwanted(
    repository: Repository, env: dict[str, str], *, head: Sha, copied: tuple[str, ...]
) -> tuple[list[bytes], list[bytes]]:
    """What was added but must not be committed: repositories inside, and files that we copied in."""
    listed = await repository.run("diff-index", "--cached", "--raw", "--no-renames", "-z", head, env=env)
    parts = listed.stdout.split(b"\0")
    ours = {os.fsencode(name) for name in copied}
    nested, unwanted = [], []
    for facts, path in zip(parts[::2], parts[1::2], strict=False):
        _, mode, *_, status = facts.decode("ascii").split(" ")
        if mode == _LINK_MODE:
            nested.append(path)
        elif status == "A" and path in ours:
            unwanted.append(path)
    return nested, unwanted


async def _list_unresolved(repository: Repository, tree: Path, index: Path | None) -> tuple[str, ...]:
    """Paths that the agent's index has in conflict and whose file still has conflict marks."""
    if index is None:
        return ()
    env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(tree)}
    listed = await repository.run("ls-files", "-u", "-z", env=env, ok=(0, 128))
    paths = {entry.partition(b"\t")[2] for entry in listed.stdout.split(b"\0") if entry}
    return tuple(sorted(os.fsdecode(path) for path in paths if _has_marks(tree / os.fsdecode(path))))


def _has_marks(path: Path) -> bool:
    lines = (find_bytes(path) or b"").splitlines()
    return all(any(line.startswith(mark) for line in lines) for mark in _CONFLICT_MARKS)


def _find_nested_head(path: Path) -> str | None:
    """HEAD of an initialised submodule, read from its files; None where there is none."""
    git_dir = path / ".git"
    pointer = find_bytes(git_dir)
    if pointer is not None:
        git_dir = path / os.fsdecode(pointer.removeprefix(b"gitdir:").strip())
    text = (find_bytes(git_dir / "HEAD") or b"").decode("utf-8", "replace").strip()
    if text.startswith("ref:"):
        return find_ref(git_dir, text.removeprefix("ref:").strip())
    return parse_object_id(text)


def _render_refusals(said: bytes) -> tuple[str, ...]:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.startswith(("error:", "fatal:"))]
    more = (f"and {len(lines) - _SAID_LINES} more",) if len(lines) > _SAID_LINES else ()
    return tuple(f"left out: {line.partition(':')[2].strip()}" for line in lines[:_SAID_LINES]) + more
