"""Events as rows: appended, never changed."""

from aiosqlite import Connection

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.store.codec import parse_object, parse_time, render_json, render_time
from nightcrew.store.statement import Row, Value, ask


async def record_event(connection: Connection, event: Event) -> int:
    """The id that it was given; later events have greater ones."""
    rows = await ask(
        connection,
        "INSERT INTO events (kind, why, at, project, number, run, data) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        event.kind,
        event.why,
        render_time(event.at),
        None if event.task is None else event.task.project,
        None if event.task is None else event.task.number,
        event.run,
        render_json(dict(event.data)),
    )
    return int(rows[0]["id"])


async def load_events(
    connection: Connection, *, task: TaskKey | None, after: int, limit: int, newest: bool
) -> tuple[Event, ...]:
    """Oldest first; of those after `after`, the first `limit`, or the last `limit` with `newest`."""
    statement = "SELECT * FROM events WHERE id > ?"
    values: list[Value] = [after]
    if task is not None:
        statement += " AND project = ? AND number = ?"
        values += [task.project, task.number]
    statement += f" ORDER BY id {'DESC' if newest else 'ASC'} LIMIT ?"
    rows = await ask(connection, statement, *values, max(limit, 0))
    events = tuple(_parse(row) for row in rows)
    return events[::-1] if newest else events


def _parse(row: Row) -> Event:
    return Event(
        kind=row["kind"],
        why=row["why"],
        at=parse_time(row["at"]),
        task=None if row["project"] is None else TaskKey(row["project"], row["number"]),
        run=None if row["run"] is None else RunId(row["run"]),
        data=parse_object(row["data"]),
        id=row["id"],
    )
