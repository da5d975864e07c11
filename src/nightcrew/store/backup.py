"""A copy of the database beside it, before an upgrade changes it."""

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from itertools import count
from pathlib import Path

from nightcrew.store.database import LOCK_TIMEOUT_S, plain_connection
from nightcrew.store.error import damaged, translated


def make_backup(connection: sqlite3.Connection, path: Path, *, schema: int, now: datetime) -> Path:
    """Copy the database `path` to `<its name>.backup-<schema>-<time>`, mode 0600, and return where it is.

    The copy is one sound file without side files. An unsound database raises ConfigError and leaves no copy.
    """
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(path, str(verdict))
    copy = _reserve(path, f"{path.name}.backup-{schema:04}-{now:%Y%m%dT%H%M%SZ}")
    try:
        with translated(copy), closing(sqlite3.connect(copy, isolation_level=None)) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        _flush(copy)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    return copy


def back_up(path: Path, *, now: datetime) -> Path:
    """The same for a database that may be in use."""
    with plain_connection(path, lock_timeout_s=LOCK_TIMEOUT_S, read_only=True) as connection:
        (schema,) = connection.execute("SELECT ifnull(max(number), 0) FROM schema_migrations").fetchone()
        return make_backup(connection, path, schema=schema, now=now)


def _reserve(path: Path, name: str) -> Path:
    # The name may be taken by an upgrade that was tried in the same second.
    for n in count(1):
        copy = path.with_name(name if n == 1 else f"{name}-{n}")
        try:
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            continue
        return copy
    raise AssertionError("count never ends")


def _flush(copy: Path) -> None:
    for path in (copy, copy.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
