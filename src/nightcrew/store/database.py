"""The database file and connections to it: modes, pragmas, opening and closing. No table is known here."""

import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import aiosqlite

from nightcrew.core.errors import ConfigError, Problem
from nightcrew.store.error import translated

LOCK_TIMEOUT_S = 5.0
"""How long a statement waits for another program's lock before the store is Unavailable."""

OLDEST_SQLITE = (3, 37, 0)
"""The first with STRICT tables (https://www.sqlite.org/stricttables.html)."""

_WAL_LIMIT = 64 * 1024 * 1024


def ensure_private(path: Path) -> None:
    """Make the file `path` if there is none, in a folder made 0700 if there is none, and let only its owner read it.

    SQLite gives its side files (`-wal`, `-shm`) the mode of the database. A folder that exists is left as it is.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        # Not opened: closing any descriptor of the file would drop the locks that this process holds on it.
        path.chmod(0o600)


def check_library() -> None:
    """ConfigError where Python's SQLite is too old for the schema."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        problem = f"SQLite {sqlite3.sqlite_version} is too old, {needed} or newer is needed"
        raise ConfigError([Problem("Python", problem, "use a Python that brings a newer SQLite")])


@contextmanager
def plain_connection(path: Path, *, lock_timeout_s: float, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection for work that is done in one go on one thread: migrations, checks and backups."""
    uri = _uri(path, read_only=read_only)
    with (
        translated(path),
        closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=lock_timeout_s)) as connection,
    ):
        yield connection


@asynccontextmanager
async def connection_for_writing(path: Path, *, lock_timeout_s: float) -> AsyncIterator[aiosqlite.Connection]:
    """The connection that the writer task owns.

    `synchronous = FULL`: a transaction is on the disk when it is committed. NORMAL would be enough to keep the file
    sound, but a power cut could then take back the last commits, and among them the note of an effect that was made
    on a forge, which lost no power. It costs one fsync a transaction, on the connection's own thread.
    """
    async with _connection(path, lock_timeout_s=lock_timeout_s, read_only=False) as connection:
        for pragma in ("synchronous = FULL", "foreign_keys = ON", f"journal_size_limit = {_WAL_LIMIT}"):
            with translated(path):
                await connection.execute_fetchall(f"PRAGMA {pragma}")
        yield connection


@asynccontextmanager
async def connection_for_reading(path: Path, *, lock_timeout_s: float) -> AsyncIterator[aiosqlite.Connection]:
    """A connection that SQLite lets only read. Each statement sees what was committed when it began."""
    async with _connection(path, lock_timeout_s=lock_timeout_s, read_only=True) as connection:
        yield connection


@asynccontextmanager
async def _connection(path: Path, *, lock_timeout_s: float, read_only: bool) -> AsyncIterator[aiosqlite.Connection]:
    with translated(path):
        uri = _uri(path, read_only=read_only)
        connection = await aiosqlite.connect(uri, uri=True, isolation_level=None, timeout=lock_timeout_s)
    try:
        connection.row_factory = sqlite3.Row
        yield connection
    finally:
        await connection.close()


def _uri(path: Path, *, read_only: bool) -> str:
    # `rw`, not `rwc`: only `ensure_private` makes the file, with its mode.
    return f"file:{quote(str(path.absolute()))}?mode={'ro' if read_only else 'rw'}"
