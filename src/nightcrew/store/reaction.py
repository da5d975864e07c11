"""Reactions and deliveries as rows: how often a kind was sent, when a person was told, which run was given what."""

from collections.abc import Mapping
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.reaction import Reaction, ReactionKey, ReactionKind
from nightcrew.store.codec import parse_enum, parse_optional_time, parse_time, render_optional_time, render_time
from nightcrew.store.statement import Row, ask, ask_one

_NOTE = (
    "INSERT INTO reactions (project, number, pull, head_sha, run, kind, seen_at, told_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET told_at = coalesce(told_at, excluded.told_at)"
)
_SEND = (
    "INSERT INTO reactions (project, number, pull, head_sha, run, kind, seen_at, sent, sent_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)"
    " ON CONFLICT DO UPDATE SET sent_at = excluded.sent_at,"
    " sent = CASE WHEN sent_at <= ? THEN 1 ELSE sent + 1 END"
)


async def note_reaction(
    connection: Connection, task: TaskKey, key: ReactionKey, *, at: datetime, is_told: bool
) -> None:
    """It was seen, and with `is_told` a person was told; the first time of each stays."""
    told_at = render_time(at) if is_told else None
    await ask(connection, _NOTE, *_where(task, key), render_time(at), told_at)


async def record_sent(
    connection: Connection, task: TaskKey, key: ReactionKey, *, at: datetime, reset_at: datetime | None
) -> None:
    """It went to the agent once more; what was sent before `reset_at` is not counted any more."""
    times = (render_time(at), render_time(at), render_optional_time(reset_at))
    await ask(connection, _SEND, *_where(task, key), *times)


async def load_reactions(connection: Connection) -> Mapping[TaskKey, tuple[Reaction, ...]]:
    found: dict[TaskKey, tuple[Reaction, ...]] = {}
    for row in await ask(connection, "SELECT * FROM reactions ORDER BY rowid"):
        task = TaskKey(row["project"], row["number"])
        found[task] = (*found.get(task, ()), _parse(row))
    return found


async def record_delivery(
    connection: Connection, task: TaskKey, run: RunId, things: tuple[str, ...], *, at: datetime
) -> bool:
    """False, and nothing written, if the run has its brief already."""
    if await ask_one(connection, "SELECT 1 FROM deliveries WHERE run = ? AND thing = 'brief'", run):
        return False
    for thing in ("brief", *things):
        await record_thing(connection, task, run, thing, at=at)
    return True


async def record_thing(connection: Connection, task: TaskKey, run: RunId, thing: str, *, at: datetime) -> None:
    statement = "INSERT OR IGNORE INTO deliveries (project, number, thing, run, at) VALUES (?, ?, ?, ?, ?)"
    await ask(connection, statement, task.project, task.number, thing, run, render_time(at))


async def load_deliveries(connection: Connection) -> Mapping[TaskKey, frozenset[str]]:
    found: dict[TaskKey, set[str]] = {}
    for row in await ask(connection, "SELECT project, number, thing FROM deliveries WHERE thing <> 'brief'"):
        found.setdefault(TaskKey(row["project"], row["number"]), set()).add(row["thing"])
    return {task: frozenset(things) for task, things in found.items()}


def _where(task: TaskKey, key: ReactionKey) -> tuple[str | int, ...]:
    return (task.project, task.number, key.pull, key.head_sha, key.run or "", key.kind.value)


def _parse(row: Row) -> Reaction:
    return Reaction(
        ReactionKey(
            row["pull"],
            Sha(row["head_sha"]),
            parse_enum(ReactionKind, row["kind"]),
            RunId(row["run"]) if row["run"] else None,
        ),
        seen_at=parse_time(row["seen_at"]),
        sent=row["sent"],
        sent_at=parse_optional_time(row["sent_at"]),
        told_at=parse_optional_time(row["told_at"]),
    )
