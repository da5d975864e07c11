"""Settled commands as rows: each is there once."""

from aiosqlite import Connection

from nightcrew.core.command import Command, SettledCommand, Settlement, Verb
from nightcrew.core.errors import Conflict
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.store import event as events
from nightcrew.store.codec import parse_enum, parse_time, render_time
from nightcrew.store.statement import Row, ask, ask_one, insert


async def record_command(connection: Connection, command: SettledCommand, *, event: Event | None) -> None:
    """Conflict if it was settled already."""
    if await ask_one(
        connection,
        "SELECT 1 FROM commands WHERE project = ? AND comment = ? AND place = ?",
        command.task.project,
        command.comment,
        command.place,
    ):
        raise Conflict(f"command {command.place} of comment {command.comment} is settled already")
    await insert(
        connection,
        "commands",
        {
            "project": command.task.project,
            "number": command.task.number,
            "comment": command.comment,
            "place": command.place,
            "verb": command.given.verb.value,
            "said": command.given.words,
            "author": command.author,
            "given_at": render_time(command.given_at),
            "settlement": command.settlement.value,
            "words": command.words,
            "at": render_time(command.at),
        },
    )
    if event is not None:
        await events.record_event(connection, event)


async def load_commands(connection: Connection, *, limit: int) -> tuple[SettledCommand, ...]:
    """Oldest first; the newest `limit`."""
    rows = await ask(connection, "SELECT * FROM commands ORDER BY at DESC, comment DESC, place DESC LIMIT ?", limit)
    return tuple(_parse(row) for row in reversed(rows))


def _parse(row: Row) -> SettledCommand:
    return SettledCommand(
        task=TaskKey(row["project"], row["number"]),
        given=Command(parse_enum(Verb, row["verb"]), row["said"]),
        comment=row["comment"],
        place=row["place"],
        author=row["author"],
        given_at=parse_time(row["given_at"]),
        settlement=parse_enum(Settlement, row["settlement"]),
        words=row["words"],
        at=parse_time(row["at"]),
    )
