"""The link between a worktree and the agents' repository: the files that `git worktree add` would make.

Made by hand after gitrepository-layout(5), because git itself would run under the agents' configuration. Also what
an unfinished operation (rebase, merge, bisect) of an agent left there, and how it is ended.
"""

import contextlib
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.workspaces.file import find_bytes, is_folder, is_there, replace_file
from nightcrew.workspaces.ref import find_ref, parse_object_id
from nightcrew.workspaces.repository import Repository

_BRANCH = "refs/heads/"


class Operation(Enum):
    """What an agent was in the middle of."""

    REBASE = "rebase"
    MERGE = "merge"
    PICK = "cherry-pick or revert"
    BISECT = "bisect"


_SIGNS = (
    ("rebase-merge", Operation.REBASE),
    ("rebase-apply", Operation.REBASE),
    ("MERGE_HEAD", Operation.MERGE),
    ("CHERRY_PICK_HEAD", Operation.PICK),
    ("REVERT_HEAD", Operation.PICK),
    ("sequencer", Operation.PICK),
    ("BISECT_LOG", Operation.BISECT),
)
_LEFTOVERS = (
    *(name for name, _ in _SIGNS),
    "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG", "REBASE_HEAD", "BISECT_START", "BISECT_TERMS",
    "BISECT_NAMES", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_RUN", "BISECT_FIRST_PARENT",
    "index.lock", "HEAD.lock",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """What the worktree's link says. `head` is the commit checked out; `merging` are the other parents of a merge in
    progress; `before` is where a rebase began, `autostash` what it put away."""

    head: Sha | None
    operation: Operation | None
    merging: tuple[Sha, ...] = ()
    before: Sha | None = None
    autostash: Sha | None = None

    @property
    def commits(self) -> tuple[Sha, ...]:
        """All commits that it names."""
        return tuple(sha for sha in (self.head, *self.merging, self.before, self.autostash) if sha is not None)

    def without(self, bad: Collection[Sha | None]) -> "Link":
        """The same, not naming any of `bad`."""
        return Link(
            None if self.head in bad else self.head,
            self.operation,
            tuple(sha for sha in self.merging if sha not in bad),
            None if self.before in bad else self.before,
            None if self.autostash in bad else self.autostash,
        )


def load_link(repository: Repository, number: int) -> Link:
    """Read it; nothing is believed beyond names and object ids."""
    admin = repository.admin(number)
    if not is_folder(admin):
        return Link(None, None)
    text = _read(admin / "HEAD").strip()
    head = parse_object_id(text)
    if text.startswith("ref:"):
        head = find_ref(repository.agents(number), text.removeprefix("ref:").strip())
    operation = next((kind for name, kind in _SIGNS if is_there(admin / name)), None)
    rebases = [admin / "rebase-merge", admin / "rebase-apply"]
    return Link(
        head,
        operation,
        tuple(sha for word in _read(admin / "MERGE_HEAD").split() if (sha := parse_object_id(word)) is not None),
        next((sha for path in rebases if (sha := parse_object_id(_read(path / "orig-head"))) is not None), None),
        next((sha for path in rebases if (sha := parse_object_id(_read(path / "autostash"))) is not None), None),
    )


def _read(path: Path) -> str:
    return (find_bytes(path) or b"").decode("utf-8", "replace")


def find_tip(repository: Repository, number: int, branch: str) -> Sha | None:
    """Where a branch of the repository of a task's agents is."""
    return find_ref(repository.agents(number), _BRANCH + branch)


def branch_ref(branch: str) -> str:
    return _BRANCH + branch


def ensure_link(repository: Repository, number: int, branch: str) -> tuple[str, ...]:
    """Have the worktree linked and its HEAD attached to `branch`; what else stood in the place of its `.git` is put
    aside. Returns words about what was found wrong."""
    admin, tree = repository.admin(number), repository.tree(number)
    for folder in (admin.parent, admin, tree):
        if is_there(folder) and not is_folder(folder):
            raise Conflict(f"{folder} is not a folder; somebody replaced it, and nothing was changed")
        folder.mkdir(parents=True, exist_ok=True)
    problems = _ensure_git_file(repository, number)
    replace_file(admin / "commondir", b"../..\n")
    replace_file(admin / "gitdir", os.fsencode(tree / ".git") + b"\n")
    # Keeps `git worktree prune` and `remove`, run by an agent, from taking a task's worktree.
    replace_file(admin / "locked", b"kept by Nightcrew\n")
    replace_file(admin / "HEAD", f"ref: {_BRANCH}{branch}\n".encode())
    return problems


def is_linked(repository: Repository, number: int, branch: str) -> bool:
    """Whether all files of the link say what `ensure_link` would write."""
    admin, tree = repository.admin(number), repository.tree(number)
    wanted = {
        admin / "HEAD": f"ref: {_BRANCH}{branch}\n".encode(),
        admin / "commondir": b"../..\n",
        admin / "gitdir": os.fsencode(tree / ".git") + b"\n",
        tree / ".git": b"gitdir: " + os.fsencode(admin) + b"\n",
    }
    folders = is_folder(admin) and is_folder(tree)
    return folders and all(find_bytes(path) == content for path, content in wanted.items())


def _ensure_git_file(repository: Repository, number: int) -> tuple[str, ...]:
    path = repository.tree(number) / ".git"
    wanted = b"gitdir: " + os.fsencode(repository.admin(number)) + b"\n"
    if find_bytes(path) == wanted:
        return ()
    problems: tuple[str, ...] = ()
    if is_there(path):
        kept = put_aside(repository, path, name=f"{number}-git")
        problems = (f"the workspace's .git had been replaced; what was there is kept in {kept}",)
    replace_file(path, wanted)
    return problems


def put_aside(repository: Repository, path: Path, *, name: str) -> Path:
    """Move a file or folder to where nothing is ever removed; returns where it is now."""
    repository.aside.mkdir(parents=True, exist_ok=True)
    for count in range(1, 10_000):
        kept = repository.aside / f"{name}-{count}"
        if not is_there(kept):
            path.rename(kept)
            return kept
    raise Conflict(f"{repository.aside} is full of saved files; look at them and remove what is not needed")


def end_operation(repository: Repository, number: int) -> None:
    """Forget an operation in progress, and locks that a killed git left; its work must have been kept before."""
    admin = repository.admin(number)
    for name in _LEFTOVERS:
        path = admin / name
        if is_folder(path):
            shutil.rmtree(path, ignore_errors=True)
        elif is_there(path):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
