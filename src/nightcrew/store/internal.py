"""Internal tasks as rows: the task itself in `tasks` like any other, and beside it what an issue would say of it."""

from collections.abc import Mapping

from aiosqlite import Connection

from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.ids import INTERNAL_FROM, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask, Pins, TaskKind
from nightcrew.ports.store import Beside, Draft, InternalChange
from nightcrew.store import event as events
from nightcrew.store import task as tasks
from nightcrew.store.codec import parse_enum, parse_json, render_json
from nightcrew.store.statement import Row, Value, ask, ask_one, insert, update

_OPEN = (
    "SELECT own.* FROM internal_tasks AS own JOIN tasks USING (project, number)"
    " WHERE tasks.status <> 'done' OR tasks.moving_to IS NOT NULL OR EXISTS"
    " (SELECT 1 FROM runs WHERE (runs.project, runs.number) = (own.project, own.number) AND runs.state <> 'ended')"
)


async def record_internal(
    connection: Connection, project: str, draft: Draft, *, beside: Beside | None = None
) -> TaskKey:
    row = await ask_one(connection, "SELECT max(number) AS last FROM internal_tasks WHERE project = ?", project)
    key = TaskKey(project, 1 + (row["last"] if row is not None and row["last"] is not None else INTERNAL_FROM))
    task, internal, event = draft(key)
    if (task.key, internal.key) != (key, key):
        raise Bug(f"{key} was to be recorded as {task.key}")
    if await ask_one(connection, "SELECT 1 FROM internal_tasks WHERE mark = ?", internal.mark) is not None:
        raise Conflict(f"there is an internal task with the mark {internal.mark!r} already")
    await tasks.record_task(connection, task, event=event)
    await insert(connection, "internal_tasks", {"project": key.project, "number": key.number, **_render(internal)})
    if beside is not None:
        other, change = beside(key)
        await tasks.update_task(connection, other, change, event=None)
    return key


async def change_internal(
    connection: Connection, key: TaskKey, change: InternalChange, *, event: Event | None
) -> InternalTask:
    stored = await find_internal(connection, key)
    if stored is None:
        raise Missing(f"there is no internal task {key}")
    changed = change(stored)
    if changed != stored:
        where: dict[str, Value] = {"project": key.project, "number": key.number}
        await update(connection, "internal_tasks", _render(changed), where=where)
    if event is not None:
        await events.record_event(connection, event)
    return changed


async def find_internal(connection: Connection, key: TaskKey) -> InternalTask | None:
    statement = "SELECT * FROM internal_tasks WHERE project = ? AND number = ?"
    row = await ask_one(connection, statement, key.project, key.number)
    return None if row is None else _parse(row)


async def load_internals(connection: Connection) -> Mapping[TaskKey, InternalTask]:
    return {one.key: one for one in map(_parse, await ask(connection, _OPEN))}


def _render(internal: InternalTask) -> dict[str, Value]:
    """Every column but the key."""
    return {
        "kind": internal.kind.value,
        "mark": internal.mark,
        "body": internal.body,
        "agent": internal.pins.agent,
        "model": internal.pins.model,
        "complexity": internal.pins.complexity,
        "skills": render_json(internal.pins.skills),
        "job": internal.job,
        "result": internal.result,
        "issue": internal.issue,
        "is_closed": internal.is_closed,
    }


def _parse(row: Row) -> InternalTask:
    return InternalTask(
        key=TaskKey(row["project"], row["number"]),
        kind=parse_enum(TaskKind, row["kind"]),
        mark=row["mark"],
        body=row["body"],
        pins=Pins(row["agent"], row["model"], row["complexity"], parse_json(tuple[str, ...], row["skills"])),
        job=row["job"],
        result=row["result"],
        issue=row["issue"],
        is_closed=bool(row["is_closed"]),
    )
