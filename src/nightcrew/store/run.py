"""Runs as rows. What a run is (task, role, agent, folder, …) is written once; how it goes is replaced."""

from aiosqlite import Connection

from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.run import Role, Run, RunOutcome, RunState, Stop
from nightcrew.store import event as events
from nightcrew.store import saying as sayings
from nightcrew.store import task as tasks
from nightcrew.store.codec import (
    parse_enum,
    parse_optional_json,
    parse_optional_time,
    parse_time,
    render_optional_json,
    render_optional_time,
    render_time,
)
from nightcrew.store.statement import Row, Value, ask, ask_one, insert, update

_WAYS = ("failure.kind", "interruption.kind", "report.outcome", "report.decision")
"""Where in an outcome it stands how a run ended, what blames the agent first."""


async def find_run(connection: Connection, run: RunId) -> Run | None:
    row = await ask_one(connection, "SELECT * FROM runs WHERE id = ?", run)
    return None if row is None else _parse(row)


async def get_run(connection: Connection, run: RunId) -> Run:
    """The run; Missing if there is none."""
    found = await find_run(connection, run)
    if found is None:
        raise Missing(f"there is no run {run}")
    return found


async def load_runs(connection: Connection, *, task: TaskKey | None, open_only: bool, limit: int) -> tuple[Run, ...]:
    """In the order in which they were recorded: the clock may have been set back in between."""
    terms = ["true"]
    values: list[Value] = []
    if task is not None:
        terms.append("project = ? AND number = ?")
        values += [task.project, task.number]
    if open_only:
        terms.append("state <> 'ended'")
    statement = f"SELECT * FROM runs WHERE {' AND '.join(terms)} ORDER BY rowid DESC LIMIT ?"  # noqa: S608 - terms are literals
    rows = await ask(connection, statement, *values, max(limit, 0))
    return tuple(_parse(row) for row in reversed(rows))


async def record_run(connection: Connection, run: Run, *, event: Event) -> bool:
    await tasks.get_task(connection, run.task)
    key, role = run.task, run.role.value
    same = await ask_one(
        connection,
        "SELECT id FROM runs WHERE project = ? AND number = ? AND role = ? AND attempt = ?",
        key.project,
        key.number,
        role,
        run.attempt,
    )
    if same is not None:
        return False
    if await find_run(connection, run.id) is not None:
        raise Bug(f"two runs with the id {run.id}")
    if run.role is Role.AUTHOR and run.is_open:
        holder = await _find_open_author(connection, key)
        if holder is not None:
            raise Conflict(f"{key} has an open author run already: {holder.id} of {holder.agent}")
    await insert(connection, "runs", _render_identity(run) | _render_course(run))
    await sayings.bind_sayings(connection, run)
    await events.record_event(connection, event)
    return True


async def count_runs(connection: Connection) -> dict[tuple[str, str, str], int]:
    ways = ", ".join(f"json_extract(outcome, '$.{place}')" for place in _WAYS)
    statement = (
        f"SELECT agent, role, coalesce({ways}, 'reported') AS how, count(*) AS many FROM runs"  # noqa: S608 - literals
        " WHERE state = 'ended' GROUP BY agent, role, how"
    )
    return {(row["agent"], row["role"], row["how"]): row["many"] for row in await ask(connection, statement)}


async def save_run(connection: Connection, run: Run, *, event: Event | None) -> None:
    stored = await get_run(connection, run.id)
    if run.is_open and not stored.is_open:
        raise Conflict(f"run {run.id} has ended and does not become {run.state.value} again")
    await update(connection, "runs", _render_course(run), where={"id": run.id})
    await sayings.note_delivered(connection, run)
    if event is not None:
        await events.record_event(connection, event)


async def _find_open_author(connection: Connection, key: TaskKey) -> Run | None:
    row = await ask_one(
        connection,
        "SELECT * FROM runs WHERE project = ? AND number = ? AND role = 'author' AND state <> 'ended'",
        key.project,
        key.number,
    )
    return None if row is None else _parse(row)


def _render_identity(run: Run) -> dict[str, Value]:
    return {
        "id": run.id,
        "project": run.task.project,
        "number": run.task.number,
        "role": run.role.value,
        "agent": run.agent,
        "model": run.model,
        "attempt": run.attempt,
        "session": run.session,
        "folder": run.folder,
        "created_at": render_time(run.created_at),
        "deadline_s": run.deadline_s,
        "resumes": run.resumes,
        "hears": run.hears,
    }


def _render_course(run: Run) -> dict[str, Value]:
    return {
        "state": run.state.value,
        "head_sha": run.head_sha,
        "agent_session": run.agent_session,
        "started_at": render_optional_time(run.started_at),
        "ended_at": render_optional_time(run.ended_at),
        "outcome": render_optional_json(run.outcome),
        "began_s": run.began_s,
        "stop": render_optional_json(run.stop),
    }


def _parse(row: Row) -> Run:
    return Run(
        id=RunId(row["id"]),
        task=TaskKey(row["project"], row["number"]),
        role=parse_enum(Role, row["role"]),
        agent=row["agent"],
        model=row["model"],
        attempt=row["attempt"],
        state=parse_enum(RunState, row["state"]),
        session=row["session"],
        folder=row["folder"],
        created_at=parse_time(row["created_at"]),
        deadline_s=row["deadline_s"],
        head_sha=None if row["head_sha"] is None else Sha(row["head_sha"]),
        agent_session=row["agent_session"],
        started_at=parse_optional_time(row["started_at"]),
        ended_at=parse_optional_time(row["ended_at"]),
        outcome=parse_optional_json(RunOutcome, row["outcome"]),
        resumes=row["resumes"],
        hears=bool(row["hears"]),
        began_s=row["began_s"],
        stop=parse_optional_json(Stop, row["stop"]),
    )
