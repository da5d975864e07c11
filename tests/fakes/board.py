"""Boards in memory, with levers for what people and the forge do to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.model.board import BoardPlace
from nightcrew.ports.board import Board, Column, SeenCard

PLACE = BoardPlace("acme", 3)
USUAL = ("Backlog", "Ready", "In progress", "In review", "Done", "Blocked")


@dataclass(slots=True)
class FakeBoards:
    """One board. `cards` has the column's name and who put it there, by the item; `trouble` is raised by every call,
    `stuck` are items that cannot be moved, `refused` issues that cannot be put on."""

    columns: list[str] = field(default_factory=lambda: list(USUAL))
    field_name: str = "Status"
    board: Board = Board("B", "Plan", "https://forge.example/boards/3", False, True, "F", (), points_left=5_000)
    cards: dict[str, SeenCard] = field(default_factory=dict)
    trouble: Exception | None = None
    stuck: set[str] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    def column(self, number: int) -> str | None:
        """Where the card of an issue is; None without one."""
        card = self.cards.get(f"I{number}")
        return None if card is None else card.column

    def put(self, number: int, column: str, *, by: str = "ada") -> None:
        """Somebody moves a card."""
        self.cards[f"I{number}"] = SeenCard(column, by=by)

    async def fetch_board(self, place: BoardPlace, *, project: str, field: str) -> Board:
        self._call("board")
        if place != PLACE:
            raise Missing(f"there is no board {place}")
        if field != self.field_name:
            return replace(self.board, field="", columns=())
        return replace(self.board, columns=tuple(Column(name, name) for name in self.columns))

    async def fetch_cards(self, _board: Board, items: Sequence[str], *, field: str) -> Mapping[str, SeenCard | None]:
        if items:
            self._call("cards")
        return {item: self.cards.get(item) for item in items}

    async def has_values(self, board: Board, *, field: str) -> bool:
        self._call("values")
        return any(card.column for card in self.cards.values())

    async def add_cards(self, board: Board, project: str, numbers: Sequence[int]) -> Mapping[int, str]:
        self._call("add")
        added = {number: f"I{number}" for number in numbers if number not in self.refused}
        for item in added.values():
            self.cards.setdefault(item, SeenCard(""))
        return added

    async def move_cards(self, board: Board, moves: Mapping[str, str]) -> Mapping[str, str]:
        self._call("move")
        for item, column in moves.items():
            if item not in self.stuck:
                self.cards[item] = SeenCard(column, by="nightcrew-bot")
        return {item: "it is locked" for item in moves if item in self.stuck}

    async def create_field(self, board: Board, name: str, *, columns: Sequence[str]) -> None:
        self._call("create")
        if name == self.field_name:
            raise Invalid("Name has already been taken")
        self.field_name, self.columns = name, list(columns)

    async def set_columns(self, board: Board, *, columns: Sequence[str]) -> None:
        self._call("set")
        self.columns = list(columns)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if self.trouble is not None:
            raise self.trouble
