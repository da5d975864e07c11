"""Cards on boards as rows."""

from collections.abc import Sequence

from aiosqlite import Connection

from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import Card
from nightcrew.store.codec import parse_enum
from nightcrew.store.statement import Row, ask

_SAVE = (
    'INSERT INTO cards (project, number, board, item, status, "column", settled, "left", gone)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ' ON CONFLICT DO UPDATE SET item = excluded.item, status = excluded.status, "column" = excluded."column",'
    ' settled = excluded.settled, "left" = excluded."left", gone = excluded.gone'
)


async def save_cards(connection: Connection, cards: Sequence[Card]) -> None:
    for card in cards:
        place = (card.task.project, card.task.number, card.board)
        how = (card.item, card.status.value, card.column, card.settled, card.left, card.gone)
        await ask(connection, _SAVE, *place, *how)


async def load_cards(connection: Connection) -> tuple[Card, ...]:
    return tuple(_parse(row) for row in await ask(connection, "SELECT * FROM cards ORDER BY project, number, board"))


def _parse(row: Row) -> Card:
    return Card(
        TaskKey(row["project"], row["number"]),
        board=row["board"],
        item=row["item"],
        status=parse_enum(Status, row["status"]),
        column=row["column"],
        settled=bool(row["settled"]),
        left=row["left"],
        gone=bool(row["gone"]),
    )
