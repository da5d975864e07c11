"""Boards as plain JSON values, for the API and for the CLI while no service runs."""

from collections.abc import Sequence

from nightcrew.api.plain import Json, render_moment
from nightcrew.ports.service import BoardStatus


def render_boards(boards: Sequence[BoardStatus]) -> Json:
    return {"boards": [_board(board) for board in boards]}


def _board(board: BoardStatus) -> Json:
    return {
        "project": board.project,
        "board": board.board,
        "field": board.field_name,
        "moved_by_hand": board.moved_by_hand,
        "title": board.title,
        "url": board.url,
        "columns": dict(board.columns),
        "cards": board.cards,
        "behind": board.behind,
        "looked_at": render_moment(board.looked_at),
        "problem": board.problem,
    }
