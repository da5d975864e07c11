"""A copy of a database that may be in use, for looking at what would be done without doing it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from nightcrew.store.error import translated


def copy_database(source: Path, target: Path) -> None:
    """Copy `source` to `target`, consistent whatever is being written meanwhile."""
    with (
        translated(source),
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as origin,
        closing(sqlite3.connect(target)) as copy,
    ):
        origin.backup(copy)
    target.chmod(0o600)
