"""A copy of a database that may be in use, for looking at what would be done without doing it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from nightcrew.store.error import damaged, translated

_MAGIC = b"SQLite format 3\0"


def is_database(path: Path) -> bool:
    """Whether the file is one of SQLite's, by how it begins."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def check_sound(path: Path) -> None:
    """ConfigError if the database is damaged."""
    with translated(path), closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as base:
        verdict = base.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(path, str(verdict))


def copy_database(source: Path, target: Path) -> None:
    """Copy `source` to `target`, consistent whatever is being written meanwhile."""
    with (
        translated(source),
        closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as origin,
        closing(sqlite3.connect(target)) as copy,
    ):
        origin.backup(copy)
    target.chmod(0o600)
