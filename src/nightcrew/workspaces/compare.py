"""Comparing some files of a folder, as they are now, with a commit. Git is asked for the commit alone: in a folder that
an agent writes to, its index and filters say nothing that can be relied on."""

import asyncio
import os
import stat
from collections.abc import Callable, Iterator
from hashlib import sha1, sha256
from pathlib import Path

from nightcrew.core.ids import Sha
from nightcrew.workspaces.history import list_entries
from nightcrew.workspaces.repository import Repository

MOST_FILES = 2_000
LARGEST_FILE = 4_000_000
"""Bytes. Settings are small; a larger file counts as changed."""

_DIFFERS = ("", "")
Entry = tuple[str, str]
"""Mode and object id of a file, as git names them."""

Digest = Callable[[bytes], str]


async def list_changed_paths(
    repository: Repository, folder: Path, *, base: Sha, names: tuple[str, ...]
) -> tuple[str, ...]:
    """The files at or below `names` that are not in `folder` as they are in `base`, sorted."""
    listed = await list_entries(repository, base, "-r", paths=names)
    then: dict[str, Entry] = {}
    for line in listed.stdout.split(b"\0"):
        facts, _, path = line.partition(b"\t")
        if facts:
            mode, _kind, oid = facts.decode("ascii").split(" ")
            then[path.decode("utf-8", "surrogateescape")] = (mode, oid)
    now = await asyncio.to_thread(_load, folder, names, _sha1 if len(base) == 40 else _sha256)
    return tuple(sorted(path for path in then.keys() | now.keys() if then.get(path) != now.get(path)))


def _load(folder: Path, names: tuple[str, ...], digest: Digest) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for name in names:
        for path in _walk(folder / name):
            found[path.relative_to(folder).as_posix()] = _entry(path, digest)
            if len(found) > MOST_FILES:
                return {**found, name: _DIFFERS}
    return found


def _walk(top: Path) -> Iterator[Path]:
    """Everything below `top` that is no folder, or `top` itself; a folder that is a link is one entry."""
    if not top.is_dir() or top.is_symlink():
        if top.is_symlink() or top.exists():
            yield top
        return
    for place, folders, files in os.walk(top):
        for name in [*files, *(name for name in folders if (Path(place) / name).is_symlink())]:
            yield Path(place) / name


def _entry(path: Path, digest: Digest) -> Entry:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return "120000", _object_id(os.fsencode(path.readlink()), digest)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_FILE:
            return _DIFFERS
        mode = "100755" if facts.st_mode & stat.S_IXUSR else "100644"
        return mode, _object_id(path.read_bytes(), digest)
    except OSError:
        return _DIFFERS


def _object_id(content: bytes, digest: Digest) -> str:
    """The id of a blob: the digest of its header and content (git's documentation, "Git Objects")."""
    return digest(b"blob %d\0" % len(content) + content)


def _sha1(content: bytes) -> str:
    return sha1(content, usedforsecurity=False).hexdigest()


def _sha256(content: bytes) -> str:
    return sha256(content).hexdigest()
