"""The journal as rows: what was about to be done outside, and how it ended."""

from collections.abc import Mapping
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.ports.store import Effect
from nightcrew.store.codec import parse_time, render_json, render_time
from nightcrew.store.statement import Row, Value, ask, ask_one, update

_ENDS = ("done", "refused", "unknown")
_FINAL = ("done", "refused")


async def record_intent(
    connection: Connection, *, key: str, kind: str, task: TaskKey | None, run: RunId | None, detail: str, at: datetime
) -> int:
    rows = await ask(
        connection,
        "INSERT INTO effects (key, kind, state, project, number, run, detail, at)"
        " VALUES (?, ?, 'intent', ?, ?, ?, ?, ?) RETURNING id",
        key,
        kind,
        None if task is None else task.project,
        None if task is None else task.number,
        run,
        detail,
        render_time(at),
    )
    return int(rows[0]["id"])


async def settle_effect(connection: Connection, effect: int, *, state: str, detail: str, at: datetime) -> None:
    """Missing if there is no such line; Conflict if it is done or refused and was to become something else. What is
    unknown may become known. Saying the same again changes nothing."""
    if state not in _ENDS:
        raise Bug(f"an effect cannot end as {state!r}")
    row = await ask_one(connection, "SELECT state, key FROM effects WHERE id = ?", effect)
    if row is None:
        raise Missing(f"the journal has no line {effect}")
    if row["state"] == state:
        return
    if row["state"] in _FINAL:
        raise Conflict(f"effect {row['key']} is {row['state']} already and cannot become {state}")
    change: dict[str, Value] = {"state": state, "detail": detail, "settled_at": render_time(at)}
    await update(connection, "effects", change, where={"id": effect})


async def load_effects(connection: Connection, *, open_only: bool, task: TaskKey | None) -> tuple[Effect, ...]:
    """Oldest first. Open are those whose end was never written down; one that ended as unknown is settled."""
    statement = "SELECT * FROM effects WHERE true"
    values: list[Value] = []
    if open_only:
        statement += " AND state = 'intent'"
    if task is not None:
        statement += " AND project = ? AND number = ?"
        values += [task.project, task.number]
    return tuple(_parse(row) for row in await ask(connection, statement + " ORDER BY id", *values))


async def load_lost_effects(connection: Connection, kinds: tuple[str, ...]) -> Mapping[TaskKey, datetime]:
    """Those that ended as unknown, and not those that are under way."""
    rows = await ask(
        connection,
        "SELECT project, number, max(settled_at) AS settled_at FROM effects WHERE state = 'unknown'"
        " AND project IS NOT NULL AND kind IN (SELECT value FROM json_each(?)) GROUP BY project, number",
        render_json(kinds),
    )
    return {TaskKey(row["project"], row["number"]): parse_time(row["settled_at"]) for row in rows}


def _parse(row: Row) -> Effect:
    return Effect(
        id=row["id"],
        key=row["key"],
        kind=row["kind"],
        state=row["state"],
        task=None if row["project"] is None else TaskKey(row["project"], row["number"]),
        run=None if row["run"] is None else RunId(row["run"]),
        detail=row["detail"],
        at=parse_time(row["at"] if row["settled_at"] is None else row["settled_at"]),
    )
