"""The forge's one SQLite file: opening, asking, copying it for stale reads. What the tables mean is in `schema`."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightcrew.core.errors import Bug, Invalid
from nightcrew.forges.local.schema import SCHEMA

Row = sqlite3.Row
Value = str | int | float | bytes | None


class Store:
    """One connection, shared by threads through a lock; every statement outside `transaction` is its own."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.row_factory = sqlite3.Row
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open or create the file; the tables are created when absent."""
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
        connection.executescript(SCHEMA)
        return cls(connection)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _execute(self, sql: str, values: tuple[Value, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except (OverflowError, UnicodeEncodeError) as error:
            raise Invalid("a number or text that cannot be stored") from error
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:
            # What comes from a request's JSON may be of any shape; the statements are our own.
            if "binding parameter" not in str(error):
                raise
            raise Invalid("a value of a kind that cannot be stored") from error

    def all(self, sql: str, *values: Value) -> list[Row]:
        with self._lock:
            return self._execute(sql, values).fetchall()

    def find(self, sql: str, *values: Value) -> Row | None:
        """The first row, or None."""
        with self._lock:
            row: Row | None = self._execute(sql, values).fetchone()
            return row

    def get(self, sql: str, *values: Value) -> Row:
        """The row that must be there."""
        row = self.find(sql, *values)
        if row is None:
            raise Bug(f"no row for {sql!r}")
        return row

    def count(self, sql: str, *values: Value) -> int:
        return int(self.get(sql, *values)[0])

    def run(self, sql: str, *values: Value) -> int:
        """Run a statement; the id of the row it inserted."""
        with self._lock:
            return int(self._execute(sql, values).lastrowid or 0)

    def insert(self, table: str, /, **columns: Value) -> int:
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        return self.run(f"INSERT INTO {table} ({names}) VALUES ({marks})", *columns.values())  # noqa: S608 - own names

    def update(self, table: str, row_id: int, /, **columns: Value) -> None:
        """Set columns of the row whose `id` is `row_id`."""
        sets = ", ".join(f"{name} = ?" for name in columns)
        self.run(f"UPDATE {table} SET {sets} WHERE id = ?", *columns.values(), row_id)  # noqa: S608 - own names

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; nests into the outer one. Must not be held over an await."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def snapshot(self) -> "Store":
        """A copy in memory of everything as it is now."""
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        with self._lock:
            self._connection.backup(copy)
        return Store(copy)
