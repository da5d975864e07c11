"""One service a home: a lock that the operating system frees when its holder dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightcrew.core.errors import Conflict


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock while the body runs. Conflict, naming the holder's pid, if another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            raise Conflict(
                f"another Nightcrew (pid {holder}) already runs on {path.parent}; stop it, or use another --home"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def find_holder(path: Path) -> int:
    """The pid of the process that holds the lock; 0 if none does. What a dead one left there is none."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.read(descriptor, 20).decode("ascii", "replace").strip()
        return int(said) if said.isdecimal() else -1
    finally:
        os.close(descriptor)
    return 0
