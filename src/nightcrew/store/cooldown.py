"""Cooldowns as rows, one for each agent, model (or the whole agent) and kind of failure."""

from aiosqlite import Connection

from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice
from nightcrew.store import event as events
from nightcrew.store import notice as notices
from nightcrew.store.codec import parse_enum, parse_optional_time, parse_time, render_optional_time, render_time
from nightcrew.store.statement import ask, insert


async def load_cooldowns(connection: Connection) -> tuple[Cooldown, ...]:
    """All that were not cleared, those that have run out included: they carry the count."""
    rows = await ask(connection, "SELECT * FROM cooldowns ORDER BY agent, model, kind")
    return tuple(
        Cooldown(
            agent=row["agent"],
            model=row["model"],
            kind=parse_enum(FailureKind, row["kind"]),
            until_at=parse_time(row["until_at"]),
            count=row["count"],
            why=row["why"],
            since_at=parse_optional_time(row["since_at"]),
            successes=row["successes"],
            run=None if row["run"] is None else RunId(row["run"]),
        )
        for row in rows
    )


async def save_cooldown(
    connection: Connection, cooldown: Cooldown, *, event: Event | None, notice: Notice | None = None
) -> None:
    """Insert, or replace the one of the same agent, model and kind. `event` None: only its counting changes. `notice`
    is kept where there was none before."""
    before = await ask(
        connection,
        "DELETE FROM cooldowns WHERE agent = ? AND model IS ? AND kind = ? RETURNING kind",
        cooldown.agent,
        cooldown.model,
        cooldown.kind.value,
    )
    await insert(
        connection,
        "cooldowns",
        {
            "agent": cooldown.agent,
            "model": cooldown.model,
            "kind": cooldown.kind.value,
            "until_at": render_time(cooldown.until_at),
            "count": cooldown.count,
            "why": cooldown.why,
            "since_at": render_optional_time(cooldown.since_at),
            "successes": cooldown.successes,
            "run": cooldown.run,
        },
    )
    if event is not None:
        await events.record_event(connection, event)
    if notice is not None and not before:
        await notices.record_notice(connection, notice)


async def clear_cooldowns(
    connection: Connection, *, agent: str, model: str | None, event: Event, kind: FailureKind | None
) -> int:
    """How many rows of exactly this agent and model went (None: those of the whole agent, not those of its models),
    those of one kind or all. Where there was nothing to clear, nothing happened, and `event` is not recorded."""
    rows = await ask(
        connection,
        "DELETE FROM cooldowns WHERE agent = ? AND model IS ? AND (? IS NULL OR kind = ?) RETURNING kind",
        agent,
        model,
        *(2 * [kind.value if kind is not None else None]),
    )
    if rows:
        await events.record_event(connection, event)
    return len(rows)
