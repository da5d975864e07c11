"""Nightcrew's own facts in one SQLite file. What the facts mean is in core; what may be asked is the store port."""

from nightcrew.store.sqlite import SqliteStore

__all__ = ["SqliteStore"]
