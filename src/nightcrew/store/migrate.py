"""Bringing a database to the schema of this program, or saying why not. Runs whole on one thread, before any other use.

Each migration is its own transaction together with its row in `schema_migrations`, so a crash leaves the schema
before it or after it. A database that holds something already is copied first.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import ConfigError, Missing, NightcrewError, Problem
from nightcrew.store.backup import make_backup
from nightcrew.store.codec import render_time
from nightcrew.store.database import LOCK_TIMEOUT_S, check_library, ensure_private, plain_connection
from nightcrew.store.error import translate
from nightcrew.store.migration import Applied, Migration, compare, load_migrations

_FAULTS_OF_MIGRATION = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)
"""What the statements themselves can be blamed for; anything else is the disk, a lock, or the file."""

_RECORD = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number     INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    sha256     TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


def upgrade(
    path: Path,
    *,
    now: datetime,
    migrations: Sequence[Migration] | None = None,
    lock_timeout_s: float = LOCK_TIMEOUT_S,
) -> Path | None:
    """Make or upgrade the database `path`; where the backup is, if one was made.

    ConfigError if the file is not Nightcrew's or does not fit this program, NightcrewError if a migration fails,
    Unavailable if the file is locked or the disk full. Whatever is raised, no row is lost.
    """
    check_library()
    known = load_migrations() if migrations is None else tuple(migrations)
    ensure_private(path)
    with plain_connection(path, lock_timeout_s=lock_timeout_s) as connection:
        applied = load_applied(connection, path=path)
        pending = compare(applied, known, path=path)
        _ensure_wal(connection, path=path)
        if not pending:
            return None
        backup = make_backup(connection, path, schema=len(applied), now=now) if applied else None
        # A table is rebuilt by dropping it, which must not cascade; what is broken afterwards is looked for.
        connection.execute("PRAGMA foreign_keys = OFF")
        for migration in pending:
            try:
                _apply(connection, migration, now=now)
            except (sqlite3.Error, NightcrewError) as error:
                if backup is not None and migration is pending[0]:
                    backup.unlink()  # the database is what it was; a restart in a loop must not fill the disk
                    backup = None
                raise _failed(path, migration, error, backup=backup) from error
        return backup


def check(path: Path, *, migrations: Sequence[Migration] | None = None, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
    """Whether the database can be read as it is: Missing if there is none, ConfigError if its schema is not that of
    this program. Nothing is made or changed."""
    check_library()
    known = load_migrations() if migrations is None else tuple(migrations)
    if not path.is_file() or path.stat().st_size == 0:
        raise Missing(f"there is no database at {path}; start the service once: nightcrew serve")
    with plain_connection(path, lock_timeout_s=lock_timeout_s, read_only=True) as connection:
        applied = load_applied(connection, path=path)
    if not applied:
        raise Missing(f"the database at {path} is still empty; start the service once: nightcrew serve")
    if compare(applied, known, path=path):
        what = f"the database has the older schema {len(applied):04}, this program reads {known[-1].number:04}"
        hint = "start the service once, it makes a backup and upgrades: nightcrew serve"
        raise ConfigError([Problem(str(path), what, hint)])


def load_applied(connection: sqlite3.Connection, *, path: Path) -> tuple[Applied, ...]:
    """What the database says was applied; nothing for an empty one. ConfigError if it is some other program's."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "schema_migrations" in tables:
        rows = connection.execute("SELECT number, name, sha256 FROM schema_migrations ORDER BY number")
        return tuple(Applied(*row) for row in rows)
    if tables:
        what = f"it holds tables ({', '.join(sorted(tables)[:3])}, …) but is not a database of Nightcrew"
        raise ConfigError([Problem(str(path), what, "choose another home, or move the file away; nothing was changed")])
    return ()


def _ensure_wal(connection: sqlite3.Connection, *, path: Path) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        what = "the file system under it cannot share memory between programs, which the database needs"
        raise ConfigError([Problem(str(path), what, "put Nightcrew's home on a local disk")])


def _apply(connection: sqlite3.Connection, migration: Migration, *, now: datetime) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_RECORD)
        _run_statements(connection, migration)
        row = (migration.number, migration.name, migration.sha256, render_time(now))
        connection.execute("INSERT INTO schema_migrations VALUES (?, ?, ?, ?)", row)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run_statements(connection: sqlite3.Connection, migration: Migration) -> None:
    (last,) = connection.execute("SELECT ifnull(max(number), 0) FROM schema_migrations").fetchone()
    if last != migration.number - 1:
        raise NightcrewError(f"another program upgraded it to {last:04} just now; start again")
    connection.set_authorizer(_refuse_transactions)
    try:
        for statement in _statements(migration.sql):
            connection.execute(statement)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_AUTH:
            raise NightcrewError("it begins or ends a transaction itself, which a migration must not do") from error
        raise
    finally:
        connection.set_authorizer(None)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise NightcrewError(f"it leaves a row of {broken[0]} that refers to a missing row of {broken[2]}")


def _refuse_transactions(action: int, *_names: str | None) -> int:
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_TRANSACTION else sqlite3.SQLITE_OK


def _statements(sql: str) -> Iterator[str]:
    """The statements of a script; one ends at a line end, where SQLite finds it complete (triggers hold `;` too)."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def _failed(path: Path, migration: Migration, error: Exception, *, backup: Path | None) -> Exception:
    if (
        isinstance(error, sqlite3.Error)
        and getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _FAULTS_OF_MIGRATION
    ):
        return translate(error, path=path)
    kept = f"; a copy from before the upgrade is {backup}" if backup is not None else ""
    return NightcrewError(
        f"{path}: migration {migration.label} failed and was undone: {error}. The database is at schema"
        f" {migration.number - 1:04} and has lost nothing{kept}. Install the version that ran last, or report this."
    )
