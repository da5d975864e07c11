"""Refs of the agents' repository, read and written as files (gitrepository-layout(5)), without running git there.

Git run on that repository would read configuration and hooks that agents can write. Names come from us or are checked;
what is read is only ever believed to be a name or an object id.
"""

import contextlib
import os
import re
from pathlib import Path

from nightcrew.core.errors import Conflict, NightcrewError
from nightcrew.core.ids import Sha, parse_sha
from nightcrew.workspaces.file import find_bytes, is_folder

_LINKS = 5
_NAME = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]+")
_PACKED = "packed-refs"


def find_ref(git_dir: Path, name: str) -> Sha | None:
    """The object that a ref leads to, through at most five symbolic refs; None if there is none or it is damaged."""
    for _ in range(_LINKS):
        if not _is_ref_name(name):
            return None
        content = find_bytes(git_dir / name)
        if content is None:
            return _find_packed(git_dir, name)
        text = content.decode("utf-8", "replace").strip()
        if not text.startswith("ref:"):
            return parse_object_id(text)
        name = text.removeprefix("ref:").strip()
    return None


def parse_object_id(text: str) -> Sha | None:
    """A full object id, or None."""
    try:
        return parse_sha(text)
    except NightcrewError:
        return None


def write_ref(git_dir: Path, name: str, sha: Sha) -> None:
    """Have the ref at `sha`, atomically. Conflict if another ref's name is in its way, or a link leads elsewhere."""
    path = git_dir / name
    _ensure_parent(git_dir, path, name)
    lock = path.with_name(path.name + ".lock")
    # Only the engine writes these refs, and one call at a time: a lock that is there was left by a killed git.
    with contextlib.suppress(OSError):
        lock.unlink()
    try:
        with os.fdopen(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as file:
            file.write(f"{sha}\n".encode())
        _remove_empty_folders(path)
        lock.replace(path)
    except OSError as error:
        raise Conflict(f"the ref {name} cannot be written in {git_dir}: {error.strerror}") from error


def delete_ref(git_dir: Path, name: str) -> None:
    """Have no such ref. Idempotent. Conflict if the packed refs are being written by someone else."""
    _drop_packed(git_dir, name)
    for path in (git_dir / name, git_dir / f"{name}.lock", git_dir / "logs" / name):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            path.unlink()


def _is_ref_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and ".." not in name and "//" not in name


def _find_packed(git_dir: Path, name: str) -> Sha | None:
    for line in (find_bytes(git_dir / _PACKED) or b"").decode("utf-8", "replace").splitlines():
        sha, _, rest = line.partition(" ")
        if rest == name:
            return parse_object_id(sha)
    return None


def _drop_packed(git_dir: Path, name: str) -> None:
    if _find_packed(git_dir, name) is None:
        return
    packed, lock = git_dir / _PACKED, git_dir / f"{_PACKED}.lock"
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    except FileExistsError as error:
        raise Conflict(f"{lock} is held; remove it if no git is running in {git_dir}") from error
    kept, dropping = [], False
    for line in (find_bytes(packed) or b"").splitlines(keepends=True):
        dropping = line.rstrip(b"\n").endswith(b" " + name.encode()) or (dropping and line.startswith(b"^"))
        if not dropping:
            kept.append(line)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"".join(kept))
    lock.replace(packed)


def _ensure_parent(git_dir: Path, path: Path, name: str) -> None:
    folder = git_dir
    for part in path.relative_to(git_dir).parts[:-1]:
        folder = folder / part
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        if not is_folder(folder):
            raise Conflict(f"the ref {name} cannot be made: {folder} is in its way; rename that branch")


def _remove_empty_folders(path: Path) -> None:
    # `a/b` was deleted and left the folder `a`; git removes such folders too when `a` is made.
    if is_folder(path):
        for folder, _, _ in os.walk(path, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
