"""Keeping a board true."""

from dataclasses import dataclass

from nightcrew.core.action.project import OfProject
from nightcrew.core.model.board import BoardPlace


@dataclass(frozen=True, slots=True)
class SyncBoard(OfProject):
    """Have the cards of these tasks (`numbers`) in the columns of their statuses. `watched` are those whose cards are
    looked at besides, for what people moved. `again`: a person asked for it, so that cards that were taken off the
    board are put on it again."""

    project: str
    place: BoardPlace
    numbers: tuple[int, ...]
    why: str
    watched: tuple[int, ...] = ()
    is_look: bool = False
    again: bool = False

    @property
    def key(self) -> str:
        return f"board:{self.project}"
