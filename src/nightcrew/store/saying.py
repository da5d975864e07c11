"""Messages to agents as rows: what was said, which run has it, and what became of it."""

from collections.abc import Mapping
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.saying import Saying, SayingState
from nightcrew.store import task as tasks
from nightcrew.store.codec import parse_enum, parse_optional_time, parse_time, render_optional_time, render_time
from nightcrew.store.statement import Row, Value, ask, ask_one, insert, update


async def record_saying(connection: Connection, saying: Saying) -> bool:
    """False if there is one with its id. Missing if there is no such task."""
    await tasks.get_task(connection, saying.task)
    if await _find_saying(connection, saying.id) is not None:
        return False
    await insert(
        connection,
        "sayings",
        {
            "id": saying.id,
            "project": saying.task.project,
            "number": saying.task.number,
            "author": saying.author,
            "text": saying.text,
            "said_at": render_time(saying.said_at),
            "receiver": saying.receiver,
            "interrupts": saying.interrupts,
            "state": SayingState.QUEUED.value,
        },
    )
    return True


async def bind_sayings(connection: Connection, run: Run) -> None:
    """An author takes every message of its task that waits."""
    if run.role is Role.AUTHOR and run.is_open:
        statement = "UPDATE sayings SET run = ? WHERE project = ? AND number = ? AND state = 'queued' AND run IS NULL"
        await ask(connection, statement, run.id, run.task.project, run.task.number)


async def note_delivered(connection: Connection, run: Run) -> None:
    """A run was started: the messages that it took stand in its prompt."""
    if run.role is Role.AUTHOR and run.state is RunState.RUNNING and run.started_at is not None:
        statement = "UPDATE sayings SET state = 'delivered', delivered_at = ? WHERE run = ? AND state = 'queued'"
        await ask(connection, statement, render_time(run.started_at), run.id)


async def settle_saying(connection: Connection, settled: SettleSaying, *, at: datetime) -> Saying | None:
    """What became of it, if it is still open and has that run; as it stands then. Back in the queue it has no run."""
    saying = await _find_saying(connection, settled.saying)
    if saying is None or not saying.is_open or saying.run != settled.run:
        return None
    is_back = settled.state is SayingState.QUEUED
    changes: dict[str, Value] = {
        "state": settled.state.value,
        "why": settled.why,
        "session": settled.session,
        "run": None if is_back else settled.run,
        "tries": saying.tries + (is_back and settled.is_tried),
        "delivered_at": None if is_back else render_optional_time(saying.delivered_at),
        "seen_at": render_time(at) if settled.state is SayingState.SEEN else None,
    }
    await update(connection, "sayings", changes, where={"id": saying.id})
    return await _find_saying(connection, saying.id)


async def _find_saying(connection: Connection, saying: str) -> Saying | None:
    row = await ask_one(connection, "SELECT * FROM sayings WHERE id = ?", saying)
    return None if row is None else _parse(row)


async def load_sayings(connection: Connection, *, task: TaskKey | None) -> Mapping[TaskKey, tuple[Saying, ...]]:
    """In the order in which they were recorded."""
    where = "" if task is None else " WHERE project = ? AND number = ?"
    statement = f"SELECT * FROM sayings{where} ORDER BY rowid"  # noqa: S608 - the term is a literal
    found: dict[TaskKey, tuple[Saying, ...]] = {}
    for row in await ask(connection, statement, *(() if task is None else (task.project, task.number))):
        saying = _parse(row)
        found[saying.task] = (*found.get(saying.task, ()), saying)
    return found


def _parse(row: Row) -> Saying:
    return Saying(
        id=row["id"],
        task=TaskKey(row["project"], row["number"]),
        author=row["author"],
        text=row["text"],
        said_at=parse_time(row["said_at"]),
        receiver=row["receiver"],
        interrupts=bool(row["interrupts"]),
        state=parse_enum(SayingState, row["state"]),
        run=RunId(row["run"]) if row["run"] else None,
        tries=row["tries"],
        delivered_at=parse_optional_time(row["delivered_at"]),
        seen_at=parse_optional_time(row["seen_at"]),
        session=row["session"],
        why=row["why"],
    )
