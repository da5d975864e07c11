"""Small named facts without a table of their own."""

from collections.abc import Mapping

from aiosqlite import Connection

from nightcrew.store.statement import ask, ask_one


async def find_value(connection: Connection, name: str) -> str | None:
    row = await ask_one(connection, 'SELECT value FROM "values" WHERE name = ?', name)
    return None if row is None else str(row["value"])


async def save_value(connection: Connection, name: str, value: str) -> None:
    await ask(
        connection,
        'INSERT INTO "values" (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        value,
    )


async def load_values(connection: Connection, prefix: str) -> Mapping[str, str]:
    """Those whose names begin with `prefix` (case counts), by name."""
    statement = 'SELECT name, value FROM "values" WHERE substr(name, 1, ?) = ? ORDER BY name'
    rows = await ask(connection, statement, len(prefix), prefix)
    return {row["name"]: row["value"] for row in rows}
