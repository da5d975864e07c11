"""Jobs as rows: since when each has its schedule, and one row for each due time."""

from dataclasses import replace
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.errors import Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRecord, JobRun, JobState
from nightcrew.ports.job_store import DraftTask
from nightcrew.store import event as events
from nightcrew.store import internal as internals
from nightcrew.store.codec import parse_enum, parse_optional_time, parse_time, render_optional_time, render_time
from nightcrew.store.statement import Row, Value, ask, ask_one, insert, update

KEPT = 1000
"""Rows that are kept of one job."""
_NOTE = (
    "INSERT INTO jobs (project, name, mark, since_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET mark = excluded.mark, since_at = excluded.since_at"
)
_SWITCH = (
    "INSERT INTO jobs (project, name, mark, since_at, enabled) VALUES (?, ?, '', ?, ?)"
    " ON CONFLICT DO UPDATE SET enabled = excluded.enabled"
)
_LAST = (
    "SELECT job_runs.* FROM (SELECT DISTINCT project, job FROM job_runs"
    " WHERE project = ifnull(?1, project) AND job = ifnull(?2, job)) AS known"
    " JOIN job_runs ON job_runs.rowid IN (SELECT rowid FROM job_runs"
    " WHERE project = known.project AND job = known.job AND (NOT ?4 OR state <> 'skipped')"
    " ORDER BY rowid DESC LIMIT ?3) ORDER BY due_at DESC, job_runs.project, job_runs.job"
)
"""Along the index `job_runs_as_recorded`: there may be a thousand rows of each job, and this is asked at every look."""
_FORGET = (
    "DELETE FROM job_runs WHERE project = ?1 AND job = ?2 AND rowid < (SELECT rowid FROM job_runs"
    " WHERE project = ?1 AND job = ?2 ORDER BY rowid DESC LIMIT 1 OFFSET ?3)"
    " AND rowid <> ifnull((SELECT max(rowid) FROM job_runs"
    " WHERE project = ?1 AND job = ?2 AND state <> 'skipped'), 0)"
)
"""But the last that was not skipped: its task may live, and keeps the job."""


async def note_job(connection: Connection, project: str, name: str, *, mark: str, at: datetime) -> None:
    await ask(connection, _NOTE, project, name, mark, render_time(at))


async def switch_job(connection: Connection, project: str, name: str, *, enabled: bool, event: Event) -> None:
    await ask(connection, _SWITCH, project, name, render_time(event.at), enabled)
    await events.record_event(connection, event)


async def load_job_records(connection: Connection) -> tuple[JobRecord, ...]:
    rows = await ask(connection, "SELECT * FROM jobs ORDER BY project, name")
    return tuple(
        JobRecord(
            project=row["project"],
            name=row["name"],
            mark=row["mark"],
            since_at=parse_time(row["since_at"]),
            enabled=None if row["enabled"] is None else bool(row["enabled"]),
        )
        for row in rows
    )


async def record_job_run(
    connection: Connection, run: JobRun, *, event: Event, draft: DraftTask | None
) -> JobRun | None:
    if await find_job_run(connection, run.project, run.job, run.due_at) is not None:
        return None
    task = None if draft is None else await internals.record_internal(connection, run.project, draft)
    whole: dict[str, Value] = {**_where(run.project, run.job, run.due_at), **_render(run)}
    if task is not None:
        whole["number"] = task.number
    await insert(connection, "job_runs", whole)
    await ask(connection, _FORGET, run.project, run.job, KEPT)
    await events.record_event(connection, event)
    return await find_job_run(connection, run.project, run.job, run.due_at)


async def save_job_run(connection: Connection, run: JobRun, *, event: Event, draft: DraftTask | None) -> None:
    if await find_job_run(connection, run.project, run.job, run.due_at) is None:
        raise Missing(f"{run.job} of {run.project} has no run of {run.due_at}")
    task = run.task if draft is None else await internals.record_internal(connection, run.project, draft)
    await update(
        connection, "job_runs", _render(replace(run, task=task)), where=_where(run.project, run.job, run.due_at)
    )
    await events.record_event(connection, event)


async def find_job_run(connection: Connection, project: str, name: str, due_at: datetime) -> JobRun | None:
    statement = "SELECT * FROM job_runs WHERE project = ? AND job = ? AND due_at = ?"
    row = await ask_one(connection, statement, project, name, render_time(due_at))
    return None if row is None else _parse(row)


async def load_job_runs(
    connection: Connection, *, project: str | None, name: str | None, each: int, started: bool
) -> tuple[JobRun, ...]:
    return tuple(_parse(row) for row in await ask(connection, _LAST, project, name, each, started))


def _where(project: str, name: str, due_at: datetime) -> dict[str, Value]:
    return {"project": project, "job": name, "due_at": render_time(due_at)}


def _render(run: JobRun) -> dict[str, Value]:
    """Every column but the key."""
    return {
        "began_at": render_time(run.began_at),
        "state": run.state.value,
        "is_late": run.is_late,
        "by_hand": run.by_hand,
        "number": None if run.task is None else run.task.number,
        "words": run.words,
        "exit_code": run.exit_code,
        "log": run.log,
        "ended_at": render_optional_time(run.ended_at),
    }


def _parse(row: Row) -> JobRun:
    return JobRun(
        project=row["project"],
        job=row["job"],
        due_at=parse_time(row["due_at"]),
        began_at=parse_time(row["began_at"]),
        state=parse_enum(JobState, row["state"]),
        is_late=bool(row["is_late"]),
        by_hand=bool(row["by_hand"]),
        task=None if row["number"] is None else TaskKey(row["project"], row["number"]),
        words=row["words"],
        exit_code=row["exit_code"],
        log=row["log"],
        ended_at=parse_optional_time(row["ended_at"]),
    )
