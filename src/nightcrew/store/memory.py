"""What runs learned, read out of their reports. What a person had forgotten is marked by a value, and left out."""

from aiosqlite import Connection

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.memory import Memory
from nightcrew.store import run as runs
from nightcrew.store import value
from nightcrew.store.codec import parse_time
from nightcrew.store.statement import Value, ask

FORGOTTEN = "memory.forgotten."

_SELECT = (
    "SELECT runs.*, tasks.title AS title, json_extract(outcome, '$.report.learned') AS learned FROM runs"
    " JOIN tasks ON tasks.project = runs.project AND tasks.number = runs.number"
    " WHERE role = 'author' AND outcome IS NOT NULL AND json_extract(outcome, '$.report.learned') <> ''"
    ' AND NOT EXISTS (SELECT 1 FROM "values" WHERE name = ? || runs.id)'
)


async def load_memories(connection: Connection, *, project: str | None, limit: int) -> tuple[Memory, ...]:
    """The newest `limit`, oldest first."""
    statement, values = _SELECT, list[Value]([FORGOTTEN])
    if project is not None:
        statement += " AND runs.project = ?"
        values.append(project)
    rows = await ask(connection, f"{statement} ORDER BY runs.rowid DESC LIMIT ?", *values, max(limit, 0))
    return tuple(
        Memory(
            RunId(row["id"]),
            TaskKey(row["project"], row["number"]),
            row["agent"],
            parse_time(row["ended_at"] if row["ended_at"] is not None else row["created_at"]),
            row["title"],
            row["learned"],
        )
        for row in reversed(rows)
    )


async def forget_memory(connection: Connection, run: RunId) -> None:
    """Missing if there is no such run."""
    await runs.get_run(connection, run)
    await value.save_value(connection, f"{FORGOTTEN}{run}", "yes")
