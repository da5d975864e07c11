"""Links between issues, also of different repositories: what blocks one (and what it blocks), and its sub-issues."""

from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import flaw, invalid, not_found
from nightcrew.forges.local.event import touch
from nightcrew.forges.local.issue import get_issue, reload
from nightcrew.forges.local.issue_view import render_issue
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row

MOST_CHILDREN = 100
"""As on GitHub, of one issue."""
_BLOCKERS = "SELECT blocker_id FROM dependency WHERE issue_id = ? ORDER BY rowid"
_BLOCKED = "SELECT issue_id FROM dependency WHERE blocker_id = ? ORDER BY rowid"
_CHILDREN = "SELECT child_id FROM sub_issue WHERE parent_id = ? ORDER BY child_id"


def _render_seen(call: Call, row: Row) -> dict[str, Any] | None:
    """An issue of any repository; None if who asks may not see it."""
    here = call.found
    call.found = call.store.get(f"{REPOSITORY} WHERE repository.id = ?", row["repository_id"])
    try:
        return render_issue(call, row) if call.may("read") else None
    finally:
        call.found = here


def _list(call: Call, sql: str) -> Answer:
    issue = get_issue(call)
    ids = [row[0] for row in call.store.all(sql, issue["id"])]
    rows = [call.store.get("SELECT * FROM issue WHERE id = ?", key) for key in ids]
    shown = [_render_seen(call, row) for row in rows if not row["deleted"]]
    return page_of(call, [body for body in shown if body is not None])


async def list_blockers(call: Call) -> Answer:
    return _list(call, _BLOCKERS)


async def list_blocked(call: Call) -> Answer:
    return _list(call, _BLOCKED)


async def list_children(call: Call) -> Answer:
    return _list(call, _CHILDREN)


def _named(call: Call, key: object) -> Row:
    """The issue with this id, in any repository that who asks may see."""
    row = call.store.find("SELECT * FROM issue WHERE id = ? AND deleted = 0 AND is_pull = 0", _whole(key))
    if row is None or _render_seen(call, row) is None:
        raise not_found()
    return row


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid(flaw("Issue", "invalid", "issue_id"))
    return value


def _change(call: Call, issue: Row, sql: str, *keys: int) -> None:
    with call.store.transaction():
        call.store.run(sql, *keys)
        touch(call, issue["id"])


async def add_blocker(call: Call) -> Answer:
    issue, blocker = get_issue(call), _named(call, call.body().get("issue_id"))
    known = "SELECT 1 FROM dependency WHERE issue_id = ? AND blocker_id = ?"
    if issue["id"] == blocker["id"]:
        raise invalid(flaw("IssueDependency", "custom", "blocked_by", "An issue cannot block itself"))
    if call.store.find(known, issue["id"], blocker["id"]) is not None:
        raise invalid(flaw("IssueDependency", "custom", "blocked_by", "The dependency already exists"))
    _change(call, issue, "INSERT INTO dependency (issue_id, blocker_id) VALUES (?, ?)", issue["id"], blocker["id"])
    shown = render_issue(call, reload(call, issue))
    return Answer(201, shown, {"Location": shown["url"]})


async def remove_blocker(call: Call) -> Answer:
    issue, blocker = get_issue(call), _named(call, call.params["issue_id"])
    _change(call, issue, "DELETE FROM dependency WHERE issue_id = ? AND blocker_id = ?", issue["id"], blocker["id"])
    return Answer(200, render_issue(call, reload(call, issue)))


async def add_child(call: Call) -> Answer:
    body = call.body()
    issue, child = get_issue(call), _named(call, body.get("sub_issue_id"))
    held = call.store.find("SELECT parent_id FROM sub_issue WHERE child_id = ?", child["id"])
    if issue["id"] == child["id"] or (held is not None and not body.get("replace_parent")):
        raise invalid(flaw("SubIssue", "custom", "sub_issue_id", "Sub issue may only have one parent"))
    if len(call.store.all(_CHILDREN, issue["id"])) >= MOST_CHILDREN:
        raise invalid(flaw("SubIssue", "custom", "sub_issue_id", "Parent cannot have more than 100 sub-issues"))
    with call.store.transaction():
        call.store.run("DELETE FROM sub_issue WHERE child_id = ?", child["id"])
        _change(call, issue, "INSERT INTO sub_issue (parent_id, child_id) VALUES (?, ?)", issue["id"], child["id"])
    shown = render_issue(call, reload(call, issue))
    return Answer(201, shown, {"Location": shown["url"]})


async def remove_child(call: Call) -> Answer:
    issue, child = get_issue(call), _named(call, call.body().get("sub_issue_id"))
    _change(call, issue, "DELETE FROM sub_issue WHERE parent_id = ? AND child_id = ?", issue["id"], child["id"])
    return Answer(200, render_issue(call, reload(call, issue)))


_BLOCKED_BY, _NUMBER = "/dependencies/blocked_by", "~/issues/{number:int}"

ROUTES = [
    Route("GET", _NUMBER + _BLOCKED_BY, list_blockers, needs="issues=read"),
    Route("POST", _NUMBER + _BLOCKED_BY, add_blocker, needs="issues=write", role="triage"),
    Route("DELETE", _NUMBER + _BLOCKED_BY + "/{issue_id:int}", remove_blocker, needs="issues=write", role="triage"),
    Route("GET", _NUMBER + "/dependencies/blocking", list_blocked, needs="issues=read"),
    Route("GET", _NUMBER + "/sub_issues", list_children, needs="issues=read"),
    Route("POST", _NUMBER + "/sub_issues", add_child, needs="issues=write", role="triage"),
    Route("DELETE", _NUMBER + "/sub_issue", remove_child, needs="issues=write", role="triage"),
]
