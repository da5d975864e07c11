"""The right to write to a workspace: one run at a time, with a fencing number that grows at each new holder.

A lease outlives the process; it ends only when its holder, or whoever knows that the holder is over, gives it up.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import Conflict, Unavailable
from nightcrew.core.ids import RunId
from nightcrew.workspaces.file import find_document, replace_document


@dataclass(frozen=True, slots=True)
class Lease:
    """Run `holder` may write (None: nobody); `fence` counts the holders so far."""

    holder: RunId | None
    fence: int


def load_lease(path: Path) -> Lease:
    """Who holds it now."""
    found = find_document(path) or {}
    holder, fence = found.get("run"), found.get("fence")
    return Lease(RunId(holder) if isinstance(holder, str) and holder else None, fence if isinstance(fence, int) else 0)


def take_lease(path: Path, run: RunId, *, at: datetime, what: str) -> Lease:
    """Hold the lease for `run`; its own lease is entered again with the same fencing number. Conflict names another
    holder."""
    with _alone(path):
        lease = load_lease(path)
        if lease.holder == run:
            return lease
        if lease.holder is not None:
            raise Conflict(f"{what} is in use by run {lease.holder}; it is one writer at a time")
        taken = Lease(run, lease.fence + 1)
        replace_document(path, {"run": run, "fence": taken.fence, "at": at.isoformat()})
        return taken


def give_up_lease(path: Path, run: RunId | None) -> None:
    """Have `run` not hold it (None: nobody). A lease of another run is left alone."""
    if not path.exists():
        return
    with _alone(path):
        lease = load_lease(path)
        if run in (None, lease.holder):
            replace_document(path, {"run": "", "fence": lease.fence})


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unavailable(f"{path} is being written by another process") from error
        yield
    finally:
        os.close(descriptor)
