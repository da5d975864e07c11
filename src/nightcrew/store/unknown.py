"""Failures that no pattern knows, one row for each agent, exit code and shape of its text."""

from aiosqlite import Connection

from nightcrew.core.ids import RunId
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.store.codec import parse_time, render_time
from nightcrew.store.statement import Value, ask, ask_one, insert, update

ROWS_AT_MOST = 200
"""What was not seen again for the longest goes first."""


async def load_unknown_failures(connection: Connection) -> tuple[UnknownFailure, ...]:
    """The newest first."""
    rows = await ask(connection, "SELECT * FROM unknown_failures ORDER BY last_at DESC, agent, exit_code, shape")
    return tuple(
        UnknownFailure(
            agent=row["agent"],
            exit_code=row["exit_code"],
            text=row["text"],
            first_at=parse_time(row["first_at"]),
            last_at=parse_time(row["last_at"]),
            run=RunId(row["run"]),
            count=row["count"],
        )
        for row in rows
    )


async def record_unknown_failure(connection: Connection, failure: UnknownFailure) -> None:
    """Insert, or count one more of its shape. A run counts once."""
    where: dict[str, Value] = {"agent": failure.agent, "exit_code": failure.exit_code, "shape": failure.shape}
    known = await ask_one(
        connection,
        "SELECT count, run FROM unknown_failures WHERE agent = ? AND exit_code = ? AND shape = ?",
        *where.values(),
    )
    newest: dict[str, Value] = {"text": failure.text, "last_at": render_time(failure.last_at), "run": failure.run}
    if known is None:
        row = {**where, **newest, "count": failure.count, "first_at": render_time(failure.first_at)}
        await insert(connection, "unknown_failures", row)
    elif known["run"] != failure.run:
        await update(connection, "unknown_failures", {**newest, "count": known["count"] + 1}, where=where)
    await ask(
        connection,
        "DELETE FROM unknown_failures WHERE (agent, exit_code, shape) IN (SELECT agent, exit_code, shape"
        " FROM unknown_failures ORDER BY last_at DESC, agent, exit_code, shape LIMIT -1 OFFSET ?)",
        ROWS_AT_MOST,
    )
