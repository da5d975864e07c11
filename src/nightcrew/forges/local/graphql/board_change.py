"""Changes to boards (Projects v2): cards put on, moved, put away; fields and their options."""

from collections.abc import Callable
from typing import Any

from graphql import GraphQLError

from nightcrew.forges.local.board import set_options
from nightcrew.forges.local.call import Call
from nightcrew.forges.local.graphql.board import BOARD, FIELD, ITEM, get_board, show_field, show_item
from nightcrew.forges.local.graphql.connection import Shown
from nightcrew.forges.local.graphql.view import not_resolved, parse_node_id
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import node_id


def board_changes(call: Call) -> dict[str, Callable[..., Any]]:
    """The mutations, by name."""

    async def add(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        board = get_board(call, input["projectId"], "write")
        key = parse_node_id(input["contentId"], "Issue")
        issue = call.store.find("SELECT * FROM issue WHERE id = ? AND deleted = 0", key)
        if issue is None or call.visit is None:
            raise not_resolved("a node that you may see")
        here = await call.visit(call.store.get(f"{REPOSITORY} WHERE repository.id = ?", issue["repository_id"]))
        if here is None:
            raise not_resolved("a node that you may see")
        call.store.run("INSERT OR IGNORE INTO board_item (board_id, issue_id) VALUES (?, ?)", board["id"], key)
        row = call.store.get("SELECT * FROM board_item WHERE board_id = ? AND issue_id = ?", board["id"], key)
        return {"item": show_item(call, row)}

    def move(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        board = get_board(call, input["projectId"], "write")
        item, field = _item(call, board, input["itemId"]), _field(call, board, input["fieldId"])
        if item["archived"]:
            raise GraphQLError("The item is archived and cannot be updated.", extensions={"type": "UNPROCESSABLE"})
        option = call.store.find(
            "SELECT id FROM board_option WHERE id = ? AND field_id = ?",
            input["value"].get("singleSelectOptionId"),
            field["id"],
        )
        if option is None:
            words = "The single select option Id does not belong to the field"
            raise GraphQLError(words, extensions={"type": "VALIDATION"})
        call.store.run(
            "INSERT INTO board_value VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET option_id = excluded.option_id, user_id = excluded.user_id",
            item["id"],
            field["id"],
            option["id"],
            call.user.id,
        )
        return {"projectV2Item": show_item(call, item)}

    def archive(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        item = _item(call, get_board(call, input["projectId"], "write"), input["itemId"])
        call.store.update("board_item", item["id"], archived=1)
        return {"item": show_item(call, call.store.get("SELECT * FROM board_item WHERE id = ?", item["id"]))}

    def delete(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        item = _item(call, get_board(call, input["projectId"], "write"), input["itemId"])
        call.store.run("DELETE FROM board_item WHERE id = ?", item["id"])
        return {"deletedItemId": input["itemId"]}

    def create_field(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        board = get_board(call, input["projectId"], "write")
        name = str(input["name"])
        if call.store.find("SELECT 1 FROM board_field WHERE board_id = ? AND name = ?", board["id"], name):
            raise GraphQLError("Name has already been taken", extensions={"type": "UNPROCESSABLE"})
        key = call.store.insert("board_field", board_id=board["id"], name=name, type=str(input["dataType"]))
        set_options(call.store, key, _options(input))
        return {"projectV2Field": _show(call, key)}

    def update_field(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        key = parse_node_id(input["fieldId"], FIELD)
        row = call.store.find("SELECT * FROM board_field WHERE id = ?", key)
        board = call.store.find("SELECT id FROM board WHERE id = ?", row["board_id"]) if row is not None else None
        if board is None:
            raise not_resolved(f"a node with the global id of '{input['fieldId'][:80]}'")
        get_board(call, node_id(BOARD, board["id"]), "write")
        if input.get("singleSelectOptions") is not None:
            set_options(call.store, key, _options(input))
        return {"projectV2Field": _show(call, key)}

    return {
        "addProjectV2ItemById": add,
        "updateProjectV2ItemFieldValue": move,
        "archiveProjectV2Item": archive,
        "deleteProjectV2Item": delete,
        "createProjectV2Field": create_field,
        "updateProjectV2Field": update_field,
    }


def _item(call: Call, board: Row, text: str) -> Row:
    row = call.store.find(
        "SELECT * FROM board_item WHERE id = ? AND board_id = ?", parse_node_id(text, ITEM), board["id"]
    )
    if row is None:
        raise not_resolved(f"a node with the global id of '{text[:80]}'")
    return row


def _field(call: Call, board: Row, text: str) -> Row:
    row = call.store.find(
        "SELECT * FROM board_field WHERE id = ? AND board_id = ?", parse_node_id(text, FIELD), board["id"]
    )
    if row is None:
        raise not_resolved(f"a node with the global id of '{text[:80]}'")
    return row


def _show(call: Call, field: int) -> Shown:
    return show_field(call, call.store.get("SELECT * FROM board_field WHERE id = ?", field))


def _options(given: Shown) -> list[tuple[str, str, str]]:
    return [(one["name"], str(one["color"]), one["description"]) for one in given.get("singleSelectOptions") or ()]
