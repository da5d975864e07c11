"""What SQLite complains about, in the words of the ports. Nothing outside this package sees an SQLite error."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightcrew.core.errors import Bug, ConfigError, Denied, NightcrewError, Problem, Unavailable

# Primary result codes: the low byte of `sqlite_errorcode` (https://www.sqlite.org/rescode.html).
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_REFUSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise what a caller of the store may act on instead of an SQLite error about the database `path`."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path=path) from error


def translate(error: sqlite3.Error, *, path: Path) -> Exception:
    """The exception that says what is wrong with the database and what to do about it."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if primary in _LOCKED:
        return Unavailable(f"{path} is locked by another program for longer than the limit; it is tried again later")
    if primary == sqlite3.SQLITE_FULL:
        return Unavailable(f"the disk that holds {path} is full; free some space, nothing was written")
    if primary in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return Unavailable(f"{path} cannot be read or written ({error}); check the disk and the folder's permissions")
    if primary in _REFUSED:
        return Denied(f"{path} may not be written ({error}); check the owner and the mode of the file and its folder")
    if primary in _DAMAGED:
        return damaged(path, str(error))
    return Bug(f"{type(error).__name__} from {path}: {error}")


def damaged(path: Path, what: str) -> NightcrewError:
    """The database cannot be trusted: a person has to choose what to restore."""
    return ConfigError(
        [
            Problem(
                str(path),
                f"this is not a sound Nightcrew database: {what}",
                f"stop Nightcrew, keep a copy of the file, then restore the newest {path.name}.backup-* beside it or"
                f" save what can be saved with `sqlite3 {path.name} .recover`; nothing was changed",
            )
        ]
    )
