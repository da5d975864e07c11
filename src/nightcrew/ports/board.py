"""Boards on which people see where tasks are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nightcrew.core.model.board import BoardPlace


@dataclass(frozen=True, slots=True)
class Column:
    """An option of the field that cards are sorted by."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Board:
    """A board as it is. `field` is the id of the single-select field that was asked for, empty if there is none of that
    name; `is_taken` that a field of that name is of another kind. `points_left` are those of the forge's budget for
    boards, None if it does not say."""

    id: str
    title: str
    url: str
    is_closed: bool
    may_write: bool
    field: str
    columns: tuple[Column, ...]
    is_taken: bool = False
    points_left: int | None = None
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SeenCard:
    """Where a card is (an option's id, empty for none). `by` is the person who put it there, empty if that is a program
    or not told."""

    column: str
    is_archived: bool = False
    by: str = ""


class Boards(Protocol):
    """Errors: Denied (the credentials lack the right: the words say which), Missing, Unavailable, Invalid. All writes
    here are idempotent: after OutcomeUnknown they may be made again."""

    async def fetch_board(self, place: BoardPlace, *, project: str, field: str) -> Board:
        """The board on which a project is shown, and the columns of one of its fields. Missing if it is not there or
        not visible. Of several credentials it is asked with those of the project first, then with the others until some
        may change it; what follows about this board is done with the same."""
        ...

    async def fetch_cards(self, board: Board, items: Sequence[str], *, field: str) -> Mapping[str, SeenCard | None]:
        """Cards by their ids; None for one that is not on the board any more."""
        ...

    async def has_values(self, board: Board, *, field: str) -> bool:
        """Whether any card of the board has a value in this field."""
        ...

    async def add_cards(self, board: Board, project: str, numbers: Sequence[int]) -> Mapping[int, str]:
        """Put issues on the board; the id of each one's card, also where it was there already. Those that cannot be put
        on are not in it."""
        ...

    async def move_cards(self, board: Board, moves: Mapping[str, str]) -> Mapping[str, str]:
        """Put cards into columns, both by their ids. Those that could not be moved, with why."""
        ...

    async def create_field(self, board: Board, name: str, *, columns: Sequence[str]) -> None:
        """Make a single-select field. Invalid if there is one of that name."""
        ...

    async def set_columns(self, board: Board, *, columns: Sequence[str]) -> None:
        """Give the board's field these options in the place of those that it has: all cards lose their column."""
        ...
