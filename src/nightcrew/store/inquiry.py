"""People's questions as rows."""

from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.errors import Missing
from nightcrew.core.ids import InquiryId, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry, InquiryState, Origin, Try
from nightcrew.ports.inquiry_store import InquiryChange
from nightcrew.store import event as events
from nightcrew.store.codec import (
    parse_enum,
    parse_json,
    parse_optional_time,
    parse_time,
    render_json,
    render_optional_time,
    render_time,
)
from nightcrew.store.statement import Row, Value, ask, ask_one, insert, update

KEPT = 1000
_FORGET = (
    "DELETE FROM inquiries WHERE state IN ('answered', 'failed') AND id NOT IN"
    " (SELECT id FROM inquiries ORDER BY asked_at DESC, id DESC LIMIT ?)"
)
_OPEN = "state IN ('asked', 'running')"


async def record_inquiry(connection: Connection, inquiry: Inquiry, *, event: Event) -> None:
    await insert(connection, "inquiries", {"id": inquiry.id, **_render(inquiry)})
    await ask(connection, _FORGET, KEPT)
    await events.record_event(connection, event)


async def change_inquiry(
    connection: Connection, inquiry: InquiryId, change: InquiryChange, *, event: Event | None
) -> Inquiry:
    found = await find_inquiry(connection, inquiry)
    if found is None:
        raise Missing(f"there is no question {inquiry}")
    changed = change(found)
    await update(connection, "inquiries", _render(changed), where={"id": inquiry})
    if event is not None:
        await events.record_event(connection, event)
    return changed


async def find_inquiry(connection: Connection, inquiry: InquiryId) -> Inquiry | None:
    row = await ask_one(connection, "SELECT * FROM inquiries WHERE id = ?", inquiry)
    return None if row is None else _parse(row)


async def load_inquiries(
    connection: Connection, *, talk: str | None, open_only: bool, untold_in: str | None, limit: int
) -> tuple[Inquiry, ...]:
    terms, values = ["1"], list[Value]()
    if talk is not None:
        terms.append("talk = ?")
        values.append(talk)
    if open_only:
        terms.append(_OPEN)
    if untold_in is not None:
        terms.append("told_at IS NULL AND channel <> '' AND channel = ?")
        values.append(untold_in)
    where = " AND ".join(terms)
    statement = f"SELECT * FROM inquiries WHERE {where} ORDER BY asked_at DESC, id DESC LIMIT ?"  # noqa: S608 - own words
    rows = await ask(connection, statement, *values, max(limit, 0))
    return tuple(_parse(row) for row in reversed(rows))


async def note_told(connection: Connection, inquiry: InquiryId, *, at: datetime) -> None:
    await update(connection, "inquiries", {"told_at": render_time(at)}, where={"id": inquiry})


def _render(inquiry: Inquiry) -> dict[str, Value]:
    """Every column but the key."""
    return {
        "talk": inquiry.talk,
        "question": inquiry.question,
        "asked_at": render_time(inquiry.asked_at),
        "state": inquiry.state.value,
        "project": inquiry.project,
        "number": None if inquiry.task is None else inquiry.task.number,
        "agent": inquiry.agent,
        "channel": inquiry.origin.channel,
        "place": inquiry.origin.place,
        "person": inquiry.origin.person,
        "tries": render_json(inquiry.tries),
        "answer": inquiry.answer,
        "orders": render_json(inquiry.orders),
        "kind": inquiry.kind,
        "failure": inquiry.failure,
        "is_cancelled": inquiry.is_cancelled,
        "ended_at": render_optional_time(inquiry.ended_at),
        "told_at": render_optional_time(inquiry.told_at),
    }


def _parse(row: Row) -> Inquiry:
    return Inquiry(
        id=InquiryId(row["id"]),
        talk=row["talk"],
        question=row["question"],
        asked_at=parse_time(row["asked_at"]),
        state=parse_enum(InquiryState, row["state"]),
        project=row["project"],
        task=None if row["number"] is None else TaskKey(row["project"], row["number"]),
        agent=row["agent"],
        origin=Origin(row["channel"], row["place"], row["person"]),
        tries=parse_json(tuple[Try, ...], row["tries"]),
        answer=row["answer"],
        orders=parse_json(tuple[str, ...], row["orders"]),
        kind=row["kind"],
        failure=row["failure"],
        is_cancelled=bool(row["is_cancelled"]),
        ended_at=parse_optional_time(row["ended_at"]),
        told_at=parse_optional_time(row["told_at"]),
    )
