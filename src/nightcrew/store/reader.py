"""Reading: single statements on a connection of their own, which SQLite lets only read.

A question is one statement, fetched whole in one hop to the connection's thread. So a caller that is cancelled leaves
no transaction open, and questions of several callers may follow each other on the one connection.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from aiosqlite import Connection

from nightcrew.core.errors import Unavailable
from nightcrew.store.database import connection_for_reading
from nightcrew.store.error import translated

T = TypeVar("T")


class Reader:
    """Asks questions until it is closed. Made by `reading`."""

    def __init__(self, connection: Connection, *, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._is_open = True

    async def read(self, question: Callable[[Connection], Awaitable[T]]) -> T:
        """The answer of `question`, which sees all that was committed when it began; Unavailable once closed."""
        if not self._is_open:
            raise Unavailable(f"{self._path} is closed")
        with translated(self._path):
            return await question(self._connection)

    def stop(self) -> None:
        self._is_open = False


@asynccontextmanager
async def reading(path: Path, *, lock_timeout_s: float) -> AsyncIterator[Reader]:
    """A reader of the database `path` for as long as the body runs."""
    async with connection_for_reading(path, lock_timeout_s=lock_timeout_s) as connection:
        reader = Reader(connection, path=path)
        try:
            yield reader
        finally:
            reader.stop()
