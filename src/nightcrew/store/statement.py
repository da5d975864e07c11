"""The ways in which statements are run. Each is one hop to the connection's thread and leaves no cursor open."""

import sqlite3
from collections.abc import Mapping

from aiosqlite import Connection

from nightcrew.store.codec import storable

Value = str | int | float | bytes | None
Row = sqlite3.Row


async def ask(connection: Connection, statement: str, *values: Value) -> list[Row]:
    """Run a statement whole; its rows (those of RETURNING, for one that writes)."""
    return list(await connection.execute_fetchall(statement, [storable(value) for value in values]))


async def ask_one(connection: Connection, statement: str, *values: Value) -> Row | None:
    """The first row, or None."""
    rows = await ask(connection, statement, *values)
    return rows[0] if rows else None


async def insert(connection: Connection, table: str, row: Mapping[str, Value]) -> None:
    """Insert a row. Table and column names are the callers' own words, never outside text."""
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are literals of this package
    await ask(connection, statement, *row.values())


async def update(connection: Connection, table: str, row: Mapping[str, Value], *, where: Mapping[str, Value]) -> None:
    """Set the columns of `row` where the columns of `where` are equal. Names as for `insert`."""
    changes = ", ".join(f"{name} = ?" for name in row)
    terms = " AND ".join(f"{name} = ?" for name in where)
    statement = f"UPDATE {table} SET {changes} WHERE {terms}"  # noqa: S608 - names are literals of this package
    await ask(connection, statement, *row.values(), *where.values())
