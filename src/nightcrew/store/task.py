"""Tasks as rows. The status columns change in `change_status` and `settle_status` alone."""

from dataclasses import replace
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.command import SettledCommand
from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Edge, Status, allows
from nightcrew.core.model.delegation import Delegated
from nightcrew.core.model.event import Event
from nightcrew.core.model.holdup import Holdup
from nightcrew.core.model.landing import Landing
from nightcrew.core.model.route import Route
from nightcrew.core.model.task import BaseConflict, Block, Stack, Task
from nightcrew.ports.store import Change
from nightcrew.store import command as commands
from nightcrew.store import event as events
from nightcrew.store.codec import (
    parse_enum,
    parse_json,
    parse_optional_json,
    parse_optional_time,
    parse_time,
    render_json,
    render_optional_json,
    render_optional_time,
    render_time,
)
from nightcrew.store.statement import Row, Value, ask, ask_one, insert, update


async def load_tasks(connection: Connection, *, project: str | None, include_done: bool) -> tuple[Task, ...]:
    """By project and number. A task that is done while its labels are still to be set counts as not done."""
    rows = await ask(
        connection,
        "SELECT * FROM tasks WHERE (? OR status <> 'done' OR moving_to IS NOT NULL) AND project = ifnull(?, project)"
        " ORDER BY project, number",
        include_done,
        project,
    )
    return tuple(_parse(row) for row in rows)


async def find_task(connection: Connection, key: TaskKey) -> Task | None:
    row = await ask_one(connection, "SELECT * FROM tasks WHERE project = ? AND number = ?", key.project, key.number)
    return None if row is None else _parse(row)


async def get_task(connection: Connection, key: TaskKey) -> Task:
    """The task; Missing if there is none."""
    task = await find_task(connection, key)
    if task is None:
        raise Missing(f"there is no task {key}")
    return task


async def record_task(connection: Connection, task: Task, *, event: Event) -> bool:
    if await find_task(connection, task.key) is not None:
        return False
    status: dict[str, Value] = {
        "status": task.status.value,
        "moving_to": None if task.moving_to is None else task.moving_to.value,
        "moving_over": _render_statuses(task.moving_over),
    }
    await insert(connection, "tasks", _where(task.key) | status | _render(task))
    await events.record_event(connection, event)
    return True


async def update_task(connection: Connection, key: TaskKey, change: Change, *, event: Event | None) -> Task:
    stored = await get_task(connection, key)
    changed = _changed(stored, change)
    await _save_fields(connection, changed, stored=stored, at=None if event is None else event.at)
    if event is not None:
        await events.record_event(connection, event)
    return await get_task(connection, key)


async def change_status(
    connection: Connection,
    key: TaskKey,
    edge: Edge,
    *,
    event: Event,
    change: Change | None,
    labels_follow: bool,
    command: SettledCommand | None,
) -> None:
    if not allows(edge.source, edge.target, edge.evidence):
        raise Bug(f"no move {edge.source.value} → {edge.target.value} because {edge.evidence.value}")
    stored = await get_task(connection, key)
    if stored.status is not edge.source:
        raise Conflict(f"{key} is {stored.status.value}, not {edge.source.value}: not moved to {edge.target.value}")
    move: dict[str, Value] = {
        "status": edge.target.value,
        "moving_to": edge.target.value if labels_follow else None,
        "moving_over": _render_statuses(stored.passed_over if labels_follow else ()),
        "updated_at": render_time(max(stored.updated_at, event.at)),
    }
    await update(connection, "tasks", move, where=_where(key))
    if change is not None:
        await _save_fields(connection, _changed(stored, change), stored=stored, at=event.at)
    if command is not None:
        await commands.record_command(connection, command, event=None)
    await events.record_event(connection, event)


def _render_statuses(statuses: tuple[Status, ...]) -> str:
    return render_json(tuple(status.value for status in statuses))


async def settle_status(connection: Connection, key: TaskKey) -> None:
    if (await get_task(connection, key)).moving_to is not None:
        await update(connection, "tasks", {"moving_to": None, "moving_over": "[]"}, where=_where(key))


async def save_route(connection: Connection, key: TaskKey, route: Route, *, at: datetime) -> None:
    """Make `route` the task's present one."""
    stored = await get_task(connection, key)
    await _save_fields(connection, replace(stored, route=route), stored=stored, at=at)


def _changed(stored: Task, change: Change) -> Task:
    changed = change(stored)
    if changed.key != stored.key:
        raise Bug(f"{stored.key} was to be changed into {changed.key}")
    return changed


async def _save_fields(connection: Connection, task: Task, *, stored: Task, at: datetime | None) -> None:
    with_status = replace(task, status=stored.status, moving_to=stored.moving_to, moving_over=stored.moving_over)
    if replace(with_status, updated_at=stored.updated_at) == stored:
        return
    times = (stored.updated_at, task.updated_at, stored.updated_at if at is None else at)
    await update(connection, "tasks", _render(replace(task, updated_at=max(times))), where=_where(task.key))


def _where(key: TaskKey) -> dict[str, Value]:
    return {"project": key.project, "number": key.number}


def _render(task: Task) -> dict[str, Value]:
    """Every column but the key and the status."""
    return {
        "title": task.title,
        "priority": task.priority,
        "route": render_optional_json(task.route),
        "block": render_optional_json(task.block),
        "branch": task.branch,
        "base_ref": task.base_ref,
        "started_from": task.started_from,
        "pull": task.pull,
        "attempts": task.attempts,
        "cycles": task.cycles,
        "tried": render_json(task.tried),
        "approved_sha": task.approved_sha,
        "merge_sha": task.merge_sha,
        "comment_id": task.comment_id,
        "told": task.told,
        "reset_at": render_optional_time(task.reset_at),
        "vouched": task.vouched,
        "updates": task.updates,
        "conflicts": task.conflicts,
        "conflict": render_optional_json(task.conflict),
        "waived": task.waived,
        "stack": render_optional_json(task.stack),
        "holdups": render_json(task.holdups),
        "done_after": task.done_after,
        "landing": render_optional_json(task.landing),
        "delegated": render_optional_json(task.delegated),
        "adopted_at": render_optional_time(task.adopted_at),
        "created_at": render_time(task.created_at),
        "updated_at": render_time(task.updated_at),
    }


def _parse(row: Row) -> Task:
    return Task(
        key=TaskKey(row["project"], row["number"]),
        title=row["title"],
        status=parse_enum(Status, row["status"]),
        created_at=parse_time(row["created_at"]),
        updated_at=parse_time(row["updated_at"]),
        priority=row["priority"],
        moving_to=None if row["moving_to"] is None else parse_enum(Status, row["moving_to"]),
        route=parse_optional_json(Route, row["route"]),
        block=parse_optional_json(Block, row["block"]),
        branch=row["branch"],
        base_ref=row["base_ref"],
        started_from=_sha(row["started_from"]),
        pull=row["pull"],
        attempts=row["attempts"],
        cycles=row["cycles"],
        tried=parse_json(tuple[str, ...], row["tried"]),
        approved_sha=_sha(row["approved_sha"]),
        merge_sha=_sha(row["merge_sha"]),
        comment_id=row["comment_id"],
        told=row["told"],
        reset_at=parse_optional_time(row["reset_at"]),
        adopted_at=parse_optional_time(row["adopted_at"]),
        vouched=row["vouched"],
        updates=row["updates"],
        conflicts=row["conflicts"],
        conflict=parse_optional_json(BaseConflict, row["conflict"]),
        waived=bool(row["waived"]),
        stack=parse_optional_json(Stack, row["stack"]),
        holdups=parse_json(tuple[Holdup, ...], row["holdups"]),
        done_after=row["done_after"],
        landing=parse_optional_json(Landing, row["landing"]),
        delegated=parse_optional_json(Delegated, row["delegated"]),
        moving_over=tuple(parse_enum(Status, word) for word in parse_json(tuple[str, ...], row["moving_over"])),
    )


def _sha(stored: str | None) -> Sha | None:
    return None if stored is None else Sha(stored)
