"""Boards (GitHub's Projects v2) as their keeper makes them: their columns, who may use them. Their API: `graphql`."""

import secrets
from collections.abc import Sequence

from nightcrew.core.errors import Missing
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.store import Row, Store

COLORS = ("GRAY", "BLUE", "GREEN", "YELLOW", "ORANGE", "RED", "PINK", "PURPLE")
ROLES = ("none", "read", "write", "admin")


def add_board(
    forge: LocalForge, owner: str, title: str, *, columns: Sequence[str] = ("Todo", "In Progress", "Done")
) -> int:
    """A board of this owner with a single-select field `Status`; its number."""
    store, owner_id = forge.store, forge.ensure_user(owner)
    with store.transaction():
        number = store.count("SELECT coalesce(max(number), 0) + 1 FROM board WHERE owner_id = ?", owner_id)
        board = store.insert("board", owner_id=owner_id, number=number, title=title)
        for name in ("Title", "Notes"):
            store.insert("board_field", board_id=board, name=name, type="TEXT")
        field = store.insert("board_field", board_id=board, name="Status", type="SINGLE_SELECT")
        set_options(store, field, [(name, COLORS[at % len(COLORS)], "") for at, name in enumerate(columns)])
    return number


def set_options(store: Store, field: int, options: Sequence[tuple[str, str, str]]) -> None:
    """Put other options (name, color, description) in the place of all there are: their cards lose their column."""
    store.run("DELETE FROM board_value WHERE field_id = ?", field)
    store.run("DELETE FROM board_option WHERE field_id = ?", field)
    for place, (name, color, description) in enumerate(options):
        store.insert(
            "board_option", id=secrets.token_hex(4), field_id=field, name=name, color=color, description=description,
            place=place,
        )  # fmt: skip


def share_board(forge: LocalForge, owner: str, number: int, *, login: str, role: str) -> None:
    """Let another person see (`read`) or change (`write`) a board."""
    board, user = _get(forge, owner, number), forge.ensure_user(login)
    forge.store.run(
        "INSERT INTO board_member VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET role = excluded.role",
        board["id"],
        user,
        role,
    )


def read_column(forge: LocalForge, owner: str, number: int, *, repository: str, issue: int) -> str | None:
    """In which column an issue's card is: empty without one, None if it is not on the board (or archived)."""
    row = forge.store.find(
        "SELECT board_option.name FROM board_item JOIN issue ON issue.id = issue_id"
        " LEFT JOIN board_value ON board_value.item_id = board_item.id"
        " LEFT JOIN board_option ON board_option.id = option_id"
        " WHERE board_id = ? AND archived = 0 AND repository_id = ? AND number = ?",
        _get(forge, owner, number)["id"],
        forge.repository_id(repository),
        issue,
    )
    return None if row is None else str(row["name"] or "")


def _get(forge: LocalForge, owner: str, number: int) -> Row:
    row = forge.store.find(
        "SELECT board.* FROM board JOIN user ON user.id = owner_id WHERE login = ? AND number = ?", owner, number
    )
    if row is None:
        raise Missing(f"no board {owner}/{number} on the forge")
    return row
