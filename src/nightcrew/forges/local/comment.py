"""Comments on issues and pull requests."""

from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import flaw, forbidden, invalid, not_found
from nightcrew.forges.local.event import touch
from nightcrew.forges.local.issue import BODY_LENGTH, get_issue
from nightcrew.forges.local.issue_list import parse_since
from nightcrew.forges.local.issue_view import reactions
from nightcrew.forges.local.page import page_of_rows
from nightcrew.forges.local.store import Row, Value
from nightcrew.forges.local.user import association, node_id, render_user_id

COMMENT = (
    "SELECT comment.*, issue.number, issue.is_pull FROM comment JOIN issue ON issue.id = issue_id"
    " WHERE repository_id = ? AND deleted = 0"
)


def render_comment(call: Call, row: Row) -> dict[str, Any]:
    url = f"{call.repo_url}/issues/comments/{row['id']}"
    kind = "pull" if row["is_pull"] else "issues"
    return {
        "url": url,
        "html_url": f"{call.html_url}/{kind}/{row['number']}#issuecomment-{row['id']}",
        "issue_url": f"{call.repo_url}/issues/{row['number']}",
        "id": row["id"],
        "node_id": node_id("IssueComment", row["id"]),
        "user": render_user_id(call, row["user_id"]),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "author_association": association(call, row["user_id"]),
        "body": row["body"],
        "reactions": reactions(url),
        "performed_via_github_app": None,
    }


def _get(call: Call, key: int) -> Row:
    row = call.store.find(f"{COMMENT} AND comment.id = ?", call.repo["id"], key)
    if row is None:
        raise not_found()
    return row


def check_body(content: Any) -> str:
    """The text of a comment: neither empty nor over GitHub's 65,536 characters."""
    if not isinstance(content, str) or not content.strip():
        raise invalid(flaw("IssueComment", "missing_field", "body"))
    if len(content) > BODY_LENGTH:
        text = "Body is too long (maximum is 65536 characters)"
        raise invalid(flaw("IssueComment", "unprocessable", "data", text))
    return content


async def list_comments(call: Call) -> Answer:
    issue = get_issue(call)
    return _page(call, "AND issue_id = ?", issue["id"], order="comment.id")


async def list_all_comments(call: Call) -> Answer:
    """Of the whole repository; by creation unless `sort` says updated."""
    sort = {"created": "comment.created_at", "updated": "comment.updated_at"}.get(call.query.get("sort", ""))
    way = "desc" if sort and call.query.get("direction") == "desc" else "asc"
    return _page(call, "", order=f"{sort or 'comment.id'} {way}, comment.id {way}")


def _page(call: Call, where: str, *values: Value, order: str) -> Answer:
    since = parse_since(call)
    late = " AND comment.updated_at >= ?" if since else ""
    more = (since,) if since else ()
    sql = f"{COMMENT} {where}{late} ORDER BY {order}"
    return page_of_rows(call, sql, call.repo["id"], *values, *more, render=lambda row: render_comment(call, row))


async def show_comment(call: Call) -> Answer:
    return Answer(200, render_comment(call, _get(call, call.params["id"])))


async def create_comment(call: Call) -> Answer:
    issue = get_issue(call)
    user = call.user
    if issue["locked"] and not call.may("write"):
        raise forbidden("Unable to create comment because issue is locked.")
    text = check_body(call.body().get("body"))
    with call.store.transaction():
        key = call.store.insert(
            "comment", issue_id=issue["id"], user_id=user.id, body=text, created_at=call.at, updated_at=call.at
        )
        touch(call, issue["id"])
    shown = render_comment(call, _get(call, key))
    return Answer(201, shown, {"Location": shown["url"]})


def _own(call: Call) -> Row:
    row = _get(call, call.params["id"])
    if row["user_id"] != call.user.id and not call.may("write"):
        raise forbidden("Must have admin rights to Repository.")
    return row


async def update_comment(call: Call) -> Answer:
    """An edit keeps the id and moves `updated_at`."""
    row = _own(call)
    text = check_body(call.body().get("body"))
    with call.store.transaction():
        call.store.update("comment", row["id"], body=text, updated_at=call.at)
        touch(call, row["issue_id"])
    return Answer(200, render_comment(call, _get(call, row["id"])))


async def delete_comment(call: Call) -> Answer:
    row = _own(call)
    with call.store.transaction():
        call.store.run("DELETE FROM comment WHERE id = ?", row["id"])
        touch(call, row["issue_id"])
    return Answer(204)


_READ, _WRITE = "issues=read; pull_requests=read", "issues=write; pull_requests=write"

ROUTES = [
    Route("GET", "~/issues/comments", list_all_comments, needs=_READ),
    Route("GET", "~/issues/comments/{id:int}", show_comment, needs=_READ),
    Route("PATCH", "~/issues/comments/{id:int}", update_comment, needs=_WRITE),
    Route("DELETE", "~/issues/comments/{id:int}", delete_comment, needs=_WRITE),
    Route("GET", "~/issues/{number:int}/comments", list_comments, needs=_READ),
    Route("POST", "~/issues/{number:int}/comments", create_comment, needs=_WRITE),
]
