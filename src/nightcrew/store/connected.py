"""What every part of the store over SQLite stands on: the connection that reads, and the one that writes."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from aiosqlite import Connection

from nightcrew.core.errors import Denied
from nightcrew.store.reader import Reader
from nightcrew.store.writer import Writer

T = TypeVar("T")


class Connected:
    """Questions go to the reader, changes to the writer, each a transaction."""

    def __init__(self, path: Path, *, reader: Reader, writer: Writer | None) -> None:
        self._path = path
        self._reader = reader
        self._writer = writer

    async def _read(self, question: Callable[[Connection], Awaitable[T]]) -> T:
        return await self._reader.read(question)

    async def _write(self, body: Callable[[Connection], Awaitable[T]]) -> T:
        if self._writer is None:
            raise Denied(f"{self._path} was opened for reading only; the service writes")
        return await self._writer.transact(body)

    @property
    def writes(self) -> int:
        """Transactions that changed nothing are not counted, nor are those of other processes."""
        return 0 if self._writer is None else self._writer.writes
