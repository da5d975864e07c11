"""Shortening history at its old end: events, and lines of the journal. What may not be cut, the schema keeps."""

from datetime import datetime

from aiosqlite import Connection

from nightcrew.store.codec import render_time
from nightcrew.store.statement import ask

# Events go from the oldest on without a gap, up to the first that is to stay: clocks may have been set back.
_CUT = "SELECT coalesce((SELECT min(id) FROM events WHERE at >= ?) - 1, (SELECT max(id) FROM events), 0) AS cut"
_OVER = (
    "FROM effects WHERE state IN ('done', 'refused') AND settled_at < ? AND EXISTS (SELECT 1 FROM tasks WHERE"
    " tasks.project = effects.project AND tasks.number = effects.number AND tasks.status = 'done')"
)


async def count_history(connection: Connection, *, before: datetime) -> int:
    """How many rows `cut_history` would take away."""
    cut = await _find_cut(connection, before)
    events = await ask(connection, "SELECT count(*) AS many FROM events WHERE id <= ?", cut)
    effects = await ask(connection, f"SELECT count(*) AS many {_OVER}", render_time(before))
    return int(events[0]["many"]) + int(effects[0]["many"])


async def cut_history(connection: Connection, *, before: datetime) -> int:
    cut = await _find_cut(connection, before)
    await ask(connection, "UPDATE event_history SET cut_through = max(cut_through, ?)", cut)
    events = await ask(connection, "DELETE FROM events WHERE id <= ? RETURNING id", cut)
    effects = await ask(connection, f"DELETE {_OVER} RETURNING id", render_time(before))
    return len(events) + len(effects)


async def _find_cut(connection: Connection, before: datetime) -> int:
    return int((await ask(connection, _CUT, render_time(before)))[0]["cut"])
