"""Labels: of the repository, and on an issue. Names differ by more than case, and keep their first spelling."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.error import Refusal, flaw, invalid, not_found
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.page import page_of_rows
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import node_id
from nightcrew.ports.tracker import LabelSpec

NAME_LENGTH = 50
DESCRIPTION_LENGTH = 100
LABELS_PER_ISSUE = 100
TOO_MANY = "Validation Failed. Issues cannot have more than 100 labels"
_COLOR = re.compile(r"[0-9a-fA-F]{6}\Z")
_DEFAULT_COLOR = "ededed"


def render_label(call: Call, row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "node_id": node_id("Label", row["id"]),
        "url": f"{call.repo_url}/labels/{quote(row['name'], safe='')}",
        "name": row["name"],
        "color": row["color"],
        "default": bool(row["standard"]),
        "description": row["description"],
    }


def labels_of(call: Call, issue_id: int) -> list[Row]:
    return call.store.all(
        "SELECT label.* FROM label JOIN issue_label ON label_id = label.id WHERE issue_id = ? ORDER BY label.name",
        issue_id,
    )


def find_label(call: Call, name: str) -> Row | None:
    return call.store.find(
        "SELECT * FROM label WHERE repository_id = ? AND key = ?", call.repo["id"], name.strip().casefold()
    )


def get_label(call: Call) -> Row:
    row = find_label(call, call.params["name"])
    if row is None:
        raise not_found()
    return row


def _check_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise invalid(flaw("Label", "missing_field", "name"))
    if len(name) > NAME_LENGTH:
        raise invalid(flaw("Label", "custom", "name", "name is too long (maximum is 50 characters)"))
    return name


def _check_rest(color: str, description: str | None) -> None:
    if not _COLOR.match(color):
        raise invalid(flaw("Label", "invalid", "color"))
    if description is not None and len(description) > DESCRIPTION_LENGTH:
        raise invalid(flaw("Label", "custom", "description", "description is too long (maximum is 100 characters)"))


def add_labels(forge: LocalForge, full_name: str, labels: Mapping[str, LabelSpec]) -> tuple[str, ...]:
    """Those that are not there yet, made without a request; their names."""
    repository, added = forge.repository_id(full_name), []
    there = {row["key"] for row in forge.store.all("SELECT key FROM label WHERE repository_id = ?", repository)}
    for name, spec in labels.items():
        if _check_name(name).casefold() not in there:
            forge.store.insert(
                "label", repository_id=repository, name=name, key=name.casefold(), color=spec.color.lower(),
                description=spec.description,
            )  # fmt: skip
            added.append(name)
    return tuple(added)


async def list_labels(call: Call) -> Answer:
    sql = "SELECT * FROM label WHERE repository_id = ? ORDER BY id"
    return page_of_rows(call, sql, call.repo["id"], render=lambda row: render_label(call, row))


async def show_label(call: Call) -> Answer:
    return Answer(200, render_label(call, get_label(call)))


async def create_label(call: Call) -> Answer:
    body = call.body()
    name, color = _check_name(text_of(body, "name")), text_of(body, "color", _DEFAULT_COLOR)
    description = body.get("description")
    _check_rest(color, description)
    if find_label(call, name) is not None:
        raise invalid(flaw("Label", "already_exists", "name"))
    key = insert_label(call, name, color=color.lower(), description=description)
    row = call.store.get("SELECT * FROM label WHERE id = ?", key)
    return Answer(201, render_label(call, row), {"Location": render_label(call, row)["url"]})


def insert_label(call: Call, name: str, *, color: str = _DEFAULT_COLOR, description: str | None = None) -> int:
    return call.store.insert(
        "label", repository_id=call.repo["id"], name=name, key=name.casefold(), color=color, description=description
    )


async def update_label(call: Call) -> Answer:
    row, body = get_label(call), call.body()
    name = _check_name(text_of(body, "new_name", row["name"]))
    color = text_of(body, "color", row["color"])
    description = body.get("description", row["description"])
    _check_rest(color, description)
    other = find_label(call, name)
    if other is not None and other["id"] != row["id"]:
        raise invalid(flaw("Label", "already_exists", "name"))
    call.store.update("label", row["id"], name=name, key=name.casefold(), color=color.lower(), description=description)
    return Answer(200, render_label(call, call.store.get("SELECT * FROM label WHERE id = ?", row["id"])))


async def delete_label(call: Call) -> Answer:
    row = get_label(call)
    with call.store.transaction():
        call.store.run("DELETE FROM issue_label WHERE label_id = ?", row["id"])
        call.store.run("DELETE FROM label WHERE id = ?", row["id"])
    return Answer(204)


def parse_names(content: Any) -> list[str]:
    """Names out of `{"labels": [...]}` or a bare list, each a string or an object with `name`."""
    entries = content.get("labels", []) if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise invalid(flaw("Issue", "invalid", "labels"))
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in entries]
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise invalid(flaw("Label", "invalid", "name"))
    return [str(name).strip() for name in names]


def _ensure_labels(call: Call, names: Sequence[str]) -> list[int]:
    """Ids of the labels; those that are unknown are created."""
    ids: list[int] = []
    for name in names:
        row = find_label(call, name)
        if row is None and len(name) > NAME_LENGTH:
            raise invalid({**flaw("Label", "invalid", "name"), "value": name})
        key = int(row["id"]) if row else insert_label(call, name)
        if key not in ids:
            ids.append(key)
    return ids


def put_labels(call: Call, issue: Row, names: Sequence[str], *, replace: bool) -> None:
    """Add labels to an issue, or make them the whole set; one event for each change."""
    store = call.store
    with store.transaction():
        wanted = _ensure_labels(call, names)
        have = [int(row["id"]) for row in labels_of(call, issue["id"])]
        added = [key for key in wanted if key not in have]
        removed = [key for key in have if key not in wanted] if replace else []
        if len(have) + len(added) - len(removed) > LABELS_PER_ISSUE:
            raise Refusal(422, TOO_MANY, errors=[])
        for key in removed:
            _remove(call, issue, key)
        for key in added:
            store.insert("issue_label", issue_id=issue["id"], label_id=key)
            _record(call, issue, "labeled", key)
        if added or removed:
            touch(call, issue["id"])


def _remove(call: Call, issue: Row, key: int) -> None:
    call.store.run("DELETE FROM issue_label WHERE issue_id = ? AND label_id = ?", issue["id"], key)
    _record(call, issue, "unlabeled", key)


def _record(call: Call, issue: Row, event: str, key: int) -> None:
    row = call.store.get("SELECT name, color FROM label WHERE id = ?", key)
    record_event(call, issue["id"], event, label={"name": row["name"], "color": row["color"]})


def take_label(call: Call, issue: Row, name: str) -> None:
    """Take one label off an issue; 404 if it does not carry it."""
    row = find_label(call, name)
    if row is None or row["id"] not in [have["id"] for have in labels_of(call, issue["id"])]:
        raise Refusal(404, "Label does not exist")
    with call.store.transaction():
        _remove(call, issue, row["id"])
        touch(call, issue["id"])


_NEEDS = "issues=write; pull_requests=write"

ROUTES = [
    Route("GET", "~/labels", list_labels, needs="issues=read; pull_requests=read"),
    Route("POST", "~/labels", create_label, needs=_NEEDS, role="write"),
    Route("GET", "~/labels/{name:path}", show_label, needs="issues=read; pull_requests=read"),
    Route("PATCH", "~/labels/{name:path}", update_label, needs=_NEEDS, role="write"),
    Route("DELETE", "~/labels/{name:path}", delete_label, needs=_NEEDS, role="write"),
]
