"""Small files that must be whole or absent, and folders that go in one step. No git here."""

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from nightcrew.core.errors import Conflict

_MOST_BYTES = 1_000_000


def replace_file(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Have `path` hold `content`, atomically: a reader sees the old or the new, a crash leaves one of them.
    `durable`: also a loss of power. Never writes through a link that somebody put there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    fresh.replace(path)


def replace_document(path: Path, document: dict[str, object]) -> None:
    """`replace_file` of a JSON object."""
    replace_file(path, json.dumps(document, ensure_ascii=True, sort_keys=True).encode() + b"\n", durable=True)


def find_document(path: Path) -> dict[str, object] | None:
    """The JSON object in a file, None if there is none. Conflict if it is not understood: unknown is not absent."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Conflict(f"{path} cannot be read ({error}); look at it, and remove it if it is not needed") from error
    if not isinstance(document, dict):
        raise Conflict(f"{path} does not hold what Nightcrew wrote; look at it, and remove it if it is not needed")
    return document


def find_bytes(path: Path) -> bytes | None:
    """The content of a regular file that others may write: never through a symbolic link, never a device, at most
    a megabyte. None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(_MOST_BYTES)
    finally:
        os.close(descriptor)


def is_folder(path: Path) -> bool:
    """Whether `path` itself is a folder, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def is_there(path: Path) -> bool:
    """Whether anything at all has this name, a dangling link included."""
    return os.path.lexists(path)


def discard(path: Path, trash: Path) -> None:
    """Remove a file or folder in one step (a rename into `trash`, on the same disk), then empty what was moved.
    A crash in between leaves rubbish in `trash`, which the next call takes along."""
    trash.mkdir(parents=True, exist_ok=True)
    if is_there(path):
        path.rename(Path(mkdtemp(dir=trash)) / "gone")
    for old in trash.iterdir():
        _remove_tree(old)


def _remove_tree(path: Path) -> None:
    """rmtree that also gets through read-only folders, as package caches make them, and past another such call."""

    def force(call: Callable[..., object], name: str, _error: object) -> None:
        if not os.path.lexists(name):
            return
        os.chmod(os.path.dirname(name), 0o700)  # noqa: PTH101, PTH120 - rmtree hands over text
        if os.path.isdir(name) and not os.path.islink(name):  # noqa: PTH112, PTH114 - rmtree hands over text
            os.chmod(name, 0o700)  # noqa: PTH101 - rmtree hands over text
            shutil.rmtree(name, ignore_errors=True)
        else:
            call(name)

    shutil.rmtree(path, onerror=force)
