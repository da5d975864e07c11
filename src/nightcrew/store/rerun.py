"""Re-runs of checks as rows, and what is flaky by them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.rerun import Flake, Rerun, RerunState
from nightcrew.store.codec import parse_enum, parse_json, parse_time, render_json, render_time
from nightcrew.store.statement import Row, ask

_INSERT = (
    "INSERT OR IGNORE INTO reruns (project, number, pull, head_sha, name, source, mark, tests, state, why, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SETTLE = (
    "UPDATE reruns SET state = ?, why = ?, at = ? WHERE project = ? AND number = ? AND pull = ? AND head_sha = ?"
    " AND name = ? AND source = ?"
)
# A re-run whose log named no test counts for its check alone.
_FLAKES = (
    "SELECT project, name, coalesce(value, '') AS test, count(*) AS times, min(at) AS first_at, max(at) AS last_at"
    " FROM reruns LEFT JOIN json_each(reruns.tests) WHERE state = 'passed' AND project = ifnull(?, project)"
    " GROUP BY project, name, test ORDER BY times DESC, last_at DESC, project, name, test LIMIT ?"
)


async def record_reruns(connection: Connection, task: TaskKey, rows: Sequence[Rerun]) -> None:
    """Those that are on record already stay as they are."""
    for row in rows:
        kept = (row.mark, render_json(row.tests), row.state.value, row.why, render_time(row.at))
        await ask(connection, _INSERT, *_where(task, row), *kept)


async def settle_reruns(
    connection: Connection, task: TaskKey, rows: Sequence[Rerun], *, state: RerunState, why: str, at: datetime
) -> None:
    for row in rows:
        await ask(connection, _SETTLE, state.value, why, render_time(at), *_where(task, row))


async def load_reruns(connection: Connection) -> Mapping[TaskKey, tuple[Rerun, ...]]:
    found: dict[TaskKey, tuple[Rerun, ...]] = {}
    for row in await ask(connection, "SELECT * FROM reruns ORDER BY rowid"):
        task = TaskKey(row["project"], row["number"])
        found[task] = (*found.get(task, ()), _parse(row))
    return found


async def load_flakes(connection: Connection, *, project: str | None, limit: int) -> tuple[Flake, ...]:
    """The most frequent first."""
    return tuple(
        Flake(
            project=row["project"],
            check=row["name"],
            test=row["test"],
            times=row["times"],
            first_at=parse_time(row["first_at"]),
            last_at=parse_time(row["last_at"]),
        )
        for row in await ask(connection, _FLAKES, project, limit)
    )


def _where(task: TaskKey, row: Rerun) -> tuple[str, int, int, str, str, str]:
    return task.project, task.number, row.pull, row.head_sha, row.check, row.source


def _parse(row: Row) -> Rerun:
    return Rerun(
        pull=row["pull"],
        head_sha=Sha(row["head_sha"]),
        check=row["name"],
        source=row["source"],
        mark=row["mark"],
        at=parse_time(row["at"]),
        state=parse_enum(RerunState, row["state"]),
        tests=parse_json(tuple[str, ...], row["tests"]),
        why=row["why"],
    )
