"""Issues, pull requests included as far as they are issues: list, show, create, change; their labels and assignees."""

from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.error import flaw, forbidden, gone, invalid, not_found
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.issue_view import render_issue
from nightcrew.forges.local.label import labels_of, parse_names, put_labels, render_label, take_label
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import find_user

BODY_LENGTH = 65_536
TITLE_LENGTH = 256
_NEEDS = "issues=write; pull_requests=write"


def get_issue(call: Call, name: str = "number") -> Row:
    """The issue of the URL; 410 if it was deleted, 404 if it never was."""
    row = call.store.find(
        "SELECT * FROM issue WHERE repository_id = ? AND number = ?", call.repo["id"], call.params[name]
    )
    if row is None:
        raise not_found()
    if row["deleted"]:
        raise gone("This issue was deleted")
    if not row["is_pull"] and not call.repo["has_issues"]:
        raise gone("Issues are disabled for this repo")
    return row


def reload(call: Call, issue: Row) -> Row:
    return call.store.get("SELECT * FROM issue WHERE id = ?", issue["id"])


def check_text(resource: str, title: str, body: str | None) -> None:
    """Refuse an empty or overlong title, and an overlong body."""
    if not title.strip():
        raise invalid(flaw(resource, "missing_field", "title"))
    if len(title) > TITLE_LENGTH:
        raise invalid(flaw(resource, "custom", "title", "title is too long (maximum is 256 characters)"))
    if body is not None and len(body) > BODY_LENGTH:
        raise invalid(flaw(resource, "custom", "body", "body is too long (maximum is 65536 characters)"))


def insert_issue(call: Call, title: str, body: str | None, *, is_pull: bool = False) -> int:
    """A new number in the one series that issues and pull requests share."""
    with call.store.transaction():
        number = call.store.count("SELECT next_number FROM repository WHERE id = ?", call.repo["id"])
        call.store.update("repository", call.repo["id"], next_number=number + 1)
        return call.store.insert(
            "issue",
            repository_id=call.repo["id"],
            number=number,
            title=title,
            body=body,
            user_id=call.user.id,
            is_pull=is_pull,
            created_at=call.at,
            updated_at=call.at,
        )


async def create_issue(call: Call) -> Answer:
    body = call.body()
    call.user  # noqa: B018 - refuses a request without a token
    if not call.repo["has_issues"]:
        raise gone("Issues are disabled for this repo")
    title, text = text_of(body, "title"), body.get("body")
    check_text("Issue", title, text)
    names = parse_names(body.get("labels") or [])
    with call.store.transaction():
        key = insert_issue(call, title, text)
        row = call.store.get("SELECT * FROM issue WHERE id = ?", key)
        if call.may("triage"):
            put_labels(call, row, names, replace=False)
            _assign(call, row, body.get("assignees") or [])
    shown = render_issue(call, reload(call, row))
    return Answer(201, shown, {"Location": shown["url"]})


async def show_issue(call: Call) -> Answer:
    return Answer(200, render_issue(call, get_issue(call)))


async def update_issue(call: Call) -> Answer:
    issue, body = get_issue(call), call.body()
    if not call.may("triage") and issue["user_id"] != call.user.id:
        raise forbidden("Must have admin rights to Repository.")
    change_issue(call, issue, body)
    if call.may("triage"):
        if "labels" in body:
            put_labels(call, issue, parse_names(body["labels"] or []), replace=True)
        if "assignees" in body:
            _assign(call, issue, body["assignees"] or [], replace=True)
    return Answer(200, render_issue(call, reload(call, issue)))


def change_issue(call: Call, issue: Row, body: dict[str, Any]) -> None:
    """Title, body and state, with their events; whatever is not given stays."""
    resource = "PullRequest" if issue["is_pull"] else "Issue"
    title = text_of(body, "title", issue["title"])
    text = body.get("body", issue["body"])
    check_text(resource, title, text)
    state = body.get("state") or issue["state"]
    if state not in {"open", "closed"}:
        raise invalid(flaw(resource, "invalid", "state"))
    with call.store.transaction():
        if title != issue["title"]:
            record_event(call, issue["id"], "renamed", rename={"from": issue["title"], "to": title})
        if (title, text) != (issue["title"], issue["body"]):
            call.store.update("issue", issue["id"], title=title, body=text, updated_at=call.at)
        if state != issue["state"]:
            set_state(call, issue, state, reason=body.get("state_reason"))


def set_state(call: Call, issue: Row, state: str, *, reason: str | None = None, commit_id: str | None = None) -> None:
    """Close or reopen, with the event."""
    is_issue = not issue["is_pull"]
    if state == "closed":
        why = (reason or "completed") if is_issue else None
        who = call.actor.id if call.actor else None
        call.store.update(
            "issue", issue["id"], state=state, state_reason=why, closed_at=call.at, closed_by=who, updated_at=call.at
        )
    else:
        why = "reopened" if is_issue else None
        call.store.update(
            "issue", issue["id"], state=state, state_reason=why, closed_at=None, closed_by=None, updated_at=call.at
        )
    event = "closed" if state == "closed" else "reopened"
    detail: dict[str, Any] = {"state_reason": why} if is_issue else {}
    record_event(call, issue["id"], event, commit_id=commit_id, **detail)


def _assign(call: Call, issue: Row, logins: list[Any], *, replace: bool = False) -> None:
    """Assign those who may be assigned (people with at least read as collaborators); others are passed over."""
    wanted = [row for login in logins if (row := find_user(call, str(login))) and _assignable(call, row["id"])]
    have = {row["user_id"] for row in call.store.all("SELECT user_id FROM assignee WHERE issue_id = ?", issue["id"])}
    with call.store.transaction():
        for row in wanted:
            if row["id"] not in have:
                call.store.insert("assignee", issue_id=issue["id"], user_id=row["id"])
                record_event(call, issue["id"], "assigned", assignee=row["id"])
        gone_ids = have - {row["id"] for row in wanted} if replace else set()
        for user_id in gone_ids:
            _unassign(call, issue, user_id)
        if gone_ids or any(row["id"] not in have for row in wanted):
            touch(call, issue["id"])


def _assignable(call: Call, user_id: int) -> bool:
    known = call.store.find(
        "SELECT 1 FROM collaborator WHERE repository_id = ? AND user_id = ?", call.repo["id"], user_id
    )
    return known is not None or user_id == call.repo["owner_id"]


def _unassign(call: Call, issue: Row, user_id: int) -> None:
    call.store.run("DELETE FROM assignee WHERE issue_id = ? AND user_id = ?", issue["id"], user_id)
    record_event(call, issue["id"], "unassigned", assignee=user_id)


async def add_assignees(call: Call) -> Answer:
    issue = get_issue(call)
    entries = call.body().get("assignees") or []
    _assign(call, issue, [entry.get("login") if isinstance(entry, dict) else entry for entry in entries])
    return Answer(201, render_issue(call, reload(call, issue)))


async def remove_assignees(call: Call) -> Answer:
    issue = get_issue(call)
    with call.store.transaction():
        for login in call.body().get("assignees") or []:
            row = find_user(call, str(login))
            if row is not None:
                _unassign(call, issue, row["id"])
        touch(call, issue["id"])
    return Answer(200, render_issue(call, reload(call, issue)))


async def list_issue_labels(call: Call) -> Answer:
    return page_of(call, [render_label(call, row) for row in labels_of(call, get_issue(call)["id"])])


def _labels_answer(call: Call, issue: Row) -> Answer:
    return Answer(200, [render_label(call, row) for row in labels_of(call, issue["id"])])


async def add_labels(call: Call) -> Answer:
    issue = get_issue(call)
    put_labels(call, issue, parse_names(call.json()), replace=False)
    return _labels_answer(call, issue)


async def set_labels(call: Call) -> Answer:
    issue = get_issue(call)
    put_labels(call, issue, parse_names(call.json()), replace=True)
    return _labels_answer(call, issue)


async def clear_labels(call: Call) -> Answer:
    put_labels(call, get_issue(call), [], replace=True)
    return Answer(204)


async def remove_label(call: Call) -> Answer:
    issue = get_issue(call)
    take_label(call, issue, call.params["name"])
    return _labels_answer(call, issue)


ROUTES = [
    Route("POST", "~/issues", create_issue, needs="issues=write"),
    Route("GET", "~/issues/{number:int}", show_issue, needs="issues=read; pull_requests=read"),
    Route("PATCH", "~/issues/{number:int}", update_issue, needs=_NEEDS),
    Route("POST", "~/issues/{number:int}/assignees", add_assignees, needs=_NEEDS, role="write"),
    Route("DELETE", "~/issues/{number:int}/assignees", remove_assignees, needs=_NEEDS, role="write"),
    Route("GET", "~/issues/{number:int}/labels", list_issue_labels, needs="issues=read; pull_requests=read"),
    Route("POST", "~/issues/{number:int}/labels", add_labels, needs=_NEEDS, role="triage"),
    Route("PUT", "~/issues/{number:int}/labels", set_labels, needs=_NEEDS, role="triage"),
    Route("DELETE", "~/issues/{number:int}/labels", clear_labels, needs=_NEEDS, role="triage"),
    Route("DELETE", "~/issues/{number:int}/labels/{name:path}", remove_label, needs=_NEEDS, role="triage"),
]
