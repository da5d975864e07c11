"""Notices as rows: an outbox, and to whom each was delivered."""

from collections.abc import Sequence
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.store.codec import parse_enum, parse_time, render_time, storable
from nightcrew.store.statement import Row, Value, ask

_INSERT = (
    "INSERT INTO notices (at, project, number, kind, priority, words, mark, receiver) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (mark) DO NOTHING RETURNING id"
)
_RANK = "CASE priority WHEN 'urgent' THEN 0 WHEN 'action' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END"


async def record_notice(connection: Connection, notice: Notice) -> bool:
    """False if one with its mark is kept already."""
    rows = await ask(
        connection,
        _INSERT,
        render_time(notice.at),
        notice.project,
        None if notice.task is None else notice.task.number,
        notice.kind,
        notice.priority.value,
        storable(notice.words),
        notice.mark or None,
        notice.receiver,
    )
    return bool(rows)


async def has_notice(connection: Connection, mark: str) -> bool:
    return bool(await ask(connection, "SELECT 1 FROM notices WHERE mark = ?", mark))


async def load_notices(
    connection: Connection, *, receiver: str | None, after: int, limit: int, newest: bool
) -> tuple[Notice, ...]:
    """Oldest first; of those after `after`, the first `limit`, or the last `limit` with `newest`. For a receiver, the
    `limit` that matter most; what is for it alone is given to it whatever `after` says."""
    statement, values = "SELECT * FROM notices AS told WHERE id > ?", list[Value]([after])
    if receiver is not None:
        statement = (
            "SELECT * FROM notices AS told WHERE ((id > ? AND receiver = '') OR receiver = ?)"
            " AND NOT EXISTS (SELECT 1 FROM notice_deliveries AS had WHERE had.notice = told.id AND had.receiver = ?)"
        )
        values += [receiver, receiver]
    order = "id DESC" if newest else "id" if receiver is None else f"{_RANK}, id"
    rows = await ask(connection, f"{statement} ORDER BY {order} LIMIT ?", *values, limit)
    return tuple(sorted((_parse(row) for row in rows), key=lambda notice: notice.id))


async def record_notices_delivered(connection: Connection, ids: Sequence[int], *, receiver: str, at: datetime) -> None:
    statement = (
        "INSERT OR IGNORE INTO notice_deliveries (notice, receiver, at) SELECT id, ?, ? FROM notices WHERE id = ?"
    )
    for one in ids:
        await ask(connection, statement, receiver, render_time(at), one)


async def load_addressed(connection: Connection) -> frozenset[str]:
    """The receivers for which alone something is kept that they were not given yet."""
    statement = (
        "SELECT DISTINCT receiver FROM notices AS told WHERE receiver <> '' AND NOT EXISTS"
        " (SELECT 1 FROM notice_deliveries AS had WHERE had.notice = told.id AND had.receiver = told.receiver)"
    )
    return frozenset(row["receiver"] for row in await ask(connection, statement))


def _parse(row: Row) -> Notice:
    return Notice(
        project=row["project"],
        kind=row["kind"],
        priority=parse_enum(Priority, row["priority"]),
        words=row["words"],
        at=parse_time(row["at"]),
        task=None if row["number"] is None else TaskKey(row["project"], row["number"]),
        mark=row["mark"] or "",
        id=row["id"],
        receiver=row["receiver"],
    )
