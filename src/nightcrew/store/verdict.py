"""Verdicts as rows, and which of the forge's reviews carry them."""

from aiosqlite import Connection

from nightcrew.core.errors import Missing
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.report import Decision, Finding
from nightcrew.core.model.verdict import Verdict
from nightcrew.store import event as events
from nightcrew.store import run as runs
from nightcrew.store.codec import parse_enum, parse_json, parse_time, render_json, render_time
from nightcrew.store.statement import Row, ask, ask_one, insert


async def record_verdict(connection: Connection, verdict: Verdict, *, event: Event) -> bool:
    """False if the run has one for that head; Missing if there is no such run."""
    await runs.get_run(connection, verdict.run)
    same = "SELECT 1 FROM verdicts WHERE run = ? AND head_sha = ?"
    if await ask_one(connection, same, verdict.run, verdict.head_sha) is not None:
        return False
    await insert(
        connection,
        "verdicts",
        {
            "run": verdict.run,
            "project": verdict.task.project,
            "number": verdict.task.number,
            "decision": verdict.decision.value,
            "head_sha": verdict.head_sha,
            "base_ref": verdict.base_ref,
            "agent": verdict.agent,
            "model": verdict.model,
            "summary": verdict.summary,
            "findings": render_json(verdict.findings),
            "at": render_time(verdict.at),
            "posted": verdict.posted,
            "carried_from": verdict.carried_from,
        },
    )
    await events.record_event(connection, event)
    return True


async def mark_verdict_posted(
    connection: Connection, run: RunId, *, head_sha: Sha, review_id: int, event: Event
) -> None:
    statement = "UPDATE verdicts SET posted = 1, review_id = ? WHERE run = ? AND head_sha = ? RETURNING run"
    if not await ask(connection, statement, review_id, run, head_sha):
        raise Missing(f"run {run} has no verdict on {head_sha}")
    await events.record_event(connection, event)


async def retarget_verdict(connection: Connection, run: RunId, *, head_sha: Sha, base_ref: str, event: Event) -> None:
    statement = "UPDATE verdicts SET base_ref = ? WHERE run = ? AND head_sha = ? RETURNING run"
    if not await ask(connection, statement, base_ref, run, head_sha):
        raise Missing(f"run {run} has no verdict on {head_sha}")
    await events.record_event(connection, event)


async def load_verdicts(connection: Connection, *, task: TaskKey | None) -> tuple[Verdict, ...]:
    """In the order in which they were recorded, whatever the clock said."""
    if task is None:
        rows = await ask(connection, "SELECT * FROM verdicts ORDER BY id")
    else:
        statement = "SELECT * FROM verdicts WHERE project = ? AND number = ? ORDER BY id"
        rows = await ask(connection, statement, task.project, task.number)
    return tuple(_parse(row) for row in rows)


async def load_review_ids(connection: Connection, key: TaskKey) -> frozenset[int]:
    statement = "SELECT review_id FROM verdicts WHERE project = ? AND number = ? AND review_id IS NOT NULL"
    rows = await ask(connection, statement, key.project, key.number)
    return frozenset(row["review_id"] for row in rows)


def _parse(row: Row) -> Verdict:
    return Verdict(
        run=RunId(row["run"]),
        task=TaskKey(row["project"], row["number"]),
        decision=parse_enum(Decision, row["decision"]),
        head_sha=Sha(row["head_sha"]),
        base_ref=row["base_ref"],
        agent=row["agent"],
        model=row["model"],
        summary=row["summary"],
        findings=parse_json(tuple[Finding, ...], row["findings"]),
        at=parse_time(row["at"]),
        posted=bool(row["posted"]),
        carried_from=None if row["carried_from"] is None else Sha(row["carried_from"]),
    )
