"""Boards (Projects v2) as GraphQL shows them, and who may see them. Changing one is in `board_change`."""

from typing import Any

from graphql import GraphQLError

from nightcrew.forges.local.board import ROLES
from nightcrew.forges.local.call import Call
from nightcrew.forges.local.graphql.connection import Shown, show_connection
from nightcrew.forges.local.graphql.view import not_resolved, parse_node_id, show_issue
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import load_user, node_id

BOARD, FIELD, ITEM = "ProjectV2", "ProjectV2SingleSelectField", "ProjectV2Item"
PLAIN_FIELD = "ProjectV2Field"


def show_owner(call: Call, login: str) -> Shown | None:
    """A person, with the boards that they own."""
    owner = call.store.find("SELECT * FROM user WHERE login = ? AND deleted = 0", login)
    if owner is None:
        return None

    def board(_info: Any, number: int) -> Shown:
        row = call.store.find("SELECT * FROM board WHERE owner_id = ? AND number = ?", owner["id"], number)
        if row is None or not _may(call, row, "read"):
            raise not_resolved(f"a ProjectV2 with the number {number}")
        allow(call, row, "read")
        return show_board(call, row)

    return {"__typename": "User", "id": node_id("User", owner["id"]), "login": owner["login"], "projectV2": board}


def get_board(call: Call, text: str, level: str) -> Row:
    """The board with this id, if who asks may do that with it."""
    row = call.store.find("SELECT * FROM board WHERE id = ?", parse_node_id(text, BOARD))
    if row is None or not _may(call, row, "read"):
        raise not_resolved(f"a node with the global id of '{text[:80]}'")
    allow(call, row, level)
    return row


def allow(call: Call, board: Row, level: str) -> None:
    """What a token lacks is told as GitHub tells it, by scope or by permission; then what the person may not."""
    actor = call.user
    scopes = [row["name"] for row in call.store.all("SELECT name FROM token_scope WHERE token_id = ?", actor.token_id)]
    enough = {"project"} if level == "write" else {"project", "read:project"}
    if scopes and not enough & set(scopes):
        words = (
            "Your token has not been granted the required scopes to execute this query. The 'projectV2' field requires"
            f" one of the following scopes: {sorted(enough)}, but your token has only been granted the: {scopes}"
            " scopes."
        )
        raise GraphQLError(words, extensions={"type": "INSUFFICIENT_SCOPES"})
    if actor.permissions is not None:
        granted = actor.permissions.get("organization_projects")
        if granted not in (("write", "admin") if level == "write" else ("read", "write", "admin")):
            kind = "integration" if actor.app else "personal access token"
            raise GraphQLError(f"Resource not accessible by {kind}", extensions={"type": "FORBIDDEN"})
    if not _may(call, board, level):
        words = f"{actor.login} does not have permission to change this project"
        raise GraphQLError(words, extensions={"type": "FORBIDDEN"})


def _may(call: Call, board: Row, level: str) -> bool:
    if call.user.id == board["owner_id"] or (level == "read" and board["public"]):
        return True
    member = call.store.find(
        "SELECT role FROM board_member WHERE board_id = ? AND user_id = ?", board["id"], call.user.id
    )
    return member is not None and ROLES.index(member["role"]) >= ROLES.index(level)


def show_board(call: Call, row: Row) -> Shown:
    owner = call.store.get("SELECT login FROM user WHERE id = ?", row["owner_id"])["login"]

    def field(_info: Any, name: str) -> Shown | None:
        found = call.store.find("SELECT * FROM board_field WHERE board_id = ? AND name = ?", row["id"], name)
        return show_field(call, found) if found is not None else None

    def items(_info: Any, **bounds: Any) -> Shown:
        rows = call.store.all("SELECT * FROM board_item WHERE board_id = ? ORDER BY id", row["id"])
        return show_connection(rows, lambda one: show_item(call, one), **bounds)

    return {
        "__typename": BOARD,
        "id": node_id(BOARD, row["id"]),
        "number": row["number"],
        "title": row["title"],
        "url": f"{call.base}/users/{owner}/projects/{row['number']}",
        "public": bool(row["public"]),
        "closed": bool(row["closed"]),
        "viewerCanUpdate": _may(call, row, "write"),
        "field": field,
        "items": items,
    }


def show_field(call: Call, row: Row) -> Shown:
    kind = FIELD if row["type"] == "SINGLE_SELECT" else PLAIN_FIELD
    options = call.store.all("SELECT * FROM board_option WHERE field_id = ? ORDER BY place", row["id"])
    shown = [{"id": one["id"], "name": one["name"], "color": one["color"], "description": one["description"]}
             for one in options]  # fmt: skip
    return {
        "__typename": kind,
        "id": node_id(kind, row["id"]),
        "name": row["name"],
        "dataType": row["type"],
        "options": lambda _info, **_more: shown,
    }


def show_item(call: Call, row: Row) -> Shown:
    def value(_info: Any, name: str) -> Shown | None:
        found = call.store.find(
            "SELECT board_option.id, board_option.name, user_id FROM board_value"
            " JOIN board_option ON board_option.id = option_id"
            " JOIN board_field ON board_field.id = board_value.field_id"
            " WHERE item_id = ? AND board_field.name = ?",
            row["id"],
            name,
        )
        return _show_value(call, found) if found is not None else None

    async def content(_info: Any) -> Shown | None:
        issue = call.store.find("SELECT * FROM issue WHERE id = ? AND deleted = 0", row["issue_id"])
        if issue is None or call.visit is None:
            return None
        here = await call.visit(call.store.get(f"{REPOSITORY} WHERE repository.id = ?", issue["repository_id"]))
        return show_issue(issue) | {"repository": {"nameWithOwner": here.full_name}} if here is not None else None

    return {
        "__typename": ITEM,
        "id": node_id(ITEM, row["id"]),
        "isArchived": bool(row["archived"]),
        "content": content,
        "fieldValueByName": value,
    }


def _show_value(call: Call, found: Row) -> Shown:
    user = load_user(call, found["user_id"])
    creator = {"__typename": user["type"], "login": str(user["login"]).removesuffix("[bot]")} if user else None
    return {
        "__typename": "ProjectV2ItemFieldSingleSelectValue",
        "optionId": found["id"],
        "name": found["name"],
        "creator": creator,
    }


def find_item(call: Call, text: str) -> Shown:
    """A card, as a node."""
    row = call.store.find("SELECT * FROM board_item WHERE id = ?", parse_node_id(text, ITEM))
    board = call.store.find("SELECT * FROM board WHERE id = ?", row["board_id"]) if row is not None else None
    if row is None or board is None or not _may(call, board, "read"):
        raise not_resolved(f"a node with the global id of '{text[:80]}'")
    allow(call, board, "read")
    return show_item(call, row)
