"""Comments on lines of a pull request's diff. A line must be in the diff that git makes."""

import re
from collections.abc import Sequence
from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.comment import check_body
from nightcrew.forges.local.diff import FileChange, diff_files
from nightcrew.forges.local.error import Refusal, not_found, unprocessable
from nightcrew.forges.local.event import touch
from nightcrew.forges.local.issue_view import reactions
from nightcrew.forges.local.page import page_of_rows
from nightcrew.forges.local.pull import get_pull
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import association, node_id, render_user_id

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def render_review_comment(call: Call, row: Row, number: int) -> dict[str, Any]:
    url = f"{call.repo_url}/pulls/comments/{row['id']}"
    pull = f"{call.repo_url}/pulls/{number}"
    html = f"{call.html_url}/pull/{number}#discussion_r{row['id']}"
    body: dict[str, Any] = {
        "url": url,
        "pull_request_review_id": row["review_id"],
        "id": row["id"],
        "node_id": node_id("PullRequestReviewComment", row["id"]),
        "diff_hunk": row["hunk"],
        "path": row["path"],
        "commit_id": row["commit_id"],
        "original_commit_id": row["commit_id"],
        "user": render_user_id(call, row["user_id"]),
        "body": row["body"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "html_url": html,
        "pull_request_url": pull,
        "author_association": association(call, row["user_id"]),
        "_links": {"self": {"href": url}, "html": {"href": html}, "pull_request": {"href": pull}},
        "reactions": reactions(url),
        "start_line": row["start_line"],
        "original_start_line": row["start_line"],
        "start_side": row["side"] if row["start_line"] else None,
        "side": row["side"],
        "subject_type": "line" if row["line"] else "file",
    }
    if row["line"]:
        body |= {"line": row["line"], "original_line": row["line"]}
        body |= {"position": row["position"], "original_position": row["position"]}
    return body | ({"in_reply_to_id": row["in_reply_to"]} if row["in_reply_to"] else {})


def find_line(patch: str, *, line: int, side: str) -> tuple[int, str] | None:
    """The position in the diff (1 is the line below the first `@@`) and the hunk up to there, or None."""
    old = new = position = -1
    hunk: list[str] = []
    for text in patch.split("\n"):
        position += 1
        header = _HUNK.match(text)
        if header:
            old, new = int(header[1]), int(header[2])
            hunk = [text]
            continue
        hunk.append(text)
        mark = text[:1]
        here = new if side == "RIGHT" else old
        if here == line and mark in ({" ", "+"} if side == "RIGHT" else {" ", "-"}):
            return position, "\n".join(hunk)
        old += mark in {" ", "-"}
        new += mark in {" ", "+"}
    return None


def _line_at(patch: str, position: int) -> tuple[int, str] | None:
    """The line and side that an old-style position stands for."""
    old = new = 0
    for number, text in enumerate(patch.split("\n")):
        header = _HUNK.match(text)
        if header:
            old, new = int(header[1]), int(header[2])
            continue
        if number == position:
            return (old, "LEFT") if text.startswith("-") else (new, "RIGHT")
        old += text[:1] in {" ", "-"}
        new += text[:1] in {" ", "+"}
    return None


async def add_comments(call: Call, pull: Row, comments: Sequence[Any], *, review_id: int, commit_id: str) -> list[int]:
    """All of a review's line comments or, when one is refused, none."""
    if not comments:
        return []
    fork = await call.git.merge_base(pull["base_sha"], commit_id)
    changes = {change.path: change for change in await diff_files(call.git, fork, commit_id)} if fork else {}
    places = [(comment, *_place(comment, changes)) for comment in comments]
    keys = []
    with call.store.transaction():
        for comment, line, side, position, hunk in places:
            keys.append(
                call.store.insert(
                    "review_comment",
                    issue_id=pull["issue_id"],
                    review_id=review_id,
                    user_id=call.user.id,
                    body=check_body(comment.get("body")),
                    path=comment["path"],
                    line=line,
                    side=side,
                    start_line=comment.get("start_line"),
                    position=position,
                    hunk=hunk,
                    commit_id=commit_id,
                    created_at=call.at,
                    updated_at=call.at,
                )
            )
    return keys


def _place(comment: Any, changes: dict[str, FileChange]) -> tuple[int | None, str, int | None, str]:
    if not isinstance(comment, dict) or comment.get("path") not in changes:
        raise unprocessable("Path could not be resolved")
    patch = changes[comment["path"]].patch or ""
    side = comment.get("side") or "RIGHT"
    line = comment.get("line")
    if comment.get("subject_type") == "file":
        return None, side, None, ""
    if line is None and isinstance(comment.get("position"), int):
        found = _line_at(patch, comment["position"])
        if found is None:
            raise unprocessable("Position could not be resolved")
        line, side = found
    place = find_line(patch, line=line, side=side) if isinstance(line, int) else None
    if place is None:
        raise unprocessable("Line could not be resolved")
    return line, side, *place


async def list_review_comments(call: Call) -> Answer:
    pull = get_pull(call)
    way = "DESC" if call.query.get("direction") == "desc" and call.query.get("sort") else "ASC"
    sql = f"SELECT * FROM review_comment WHERE issue_id = ? ORDER BY id {way}"  # noqa: S608 - one of two words
    render = lambda row: render_review_comment(call, row, pull["number"])  # noqa: E731 - one short closure
    return page_of_rows(call, sql, pull["issue_id"], render=render)


async def create_review_comment(call: Call) -> Answer:
    """A single comment: GitHub makes a review of its own for it."""
    pull, body = get_pull(call), call.body()
    commit_id = str(body.get("commit_id") or pull["head_sha"])
    if await call.git.kind_of(commit_id) != "commit":
        raise unprocessable("The commit_id is not part of the pull request")
    key = call.store.insert(
        "review",
        issue_id=pull["issue_id"],
        user_id=call.user.id,
        state="COMMENTED",
        body="",
        commit_id=commit_id,
        submitted_at=call.at,
    )
    try:
        keys = await add_comments(call, pull, [body], review_id=key, commit_id=commit_id)
    except Refusal:
        call.store.run("DELETE FROM review WHERE id = ?", key)
        raise
    touch(call, pull["issue_id"])
    return _created(call, keys[0], pull["number"])


def _created(call: Call, key: int, number: int) -> Answer:
    shown = render_review_comment(call, call.store.get("SELECT * FROM review_comment WHERE id = ?", key), number)
    return Answer(201, shown, {"Location": shown["url"]})


async def reply(call: Call) -> Answer:
    pull = get_pull(call)
    first = call.store.find(
        "SELECT * FROM review_comment WHERE issue_id = ? AND id = ?", pull["issue_id"], call.params["comment_id"]
    )
    if first is None:
        raise not_found()
    columns = {name: first[name] for name in first.keys() if name != "id"}  # noqa: SIM118 - a Row iterates its values
    columns |= {"user_id": call.user.id, "body": check_body(call.body().get("body")), "in_reply_to": first["id"]}
    key = call.store.insert("review_comment", **{**columns, "created_at": call.at, "updated_at": call.at})
    touch(call, pull["issue_id"])
    return _created(call, key, pull["number"])


_AT = "~/pulls/{number:int}/comments"

ROUTES = [
    Route("GET", _AT, list_review_comments, needs="pull_requests=read"),
    Route("POST", _AT, create_review_comment, needs="pull_requests=write"),
    Route("POST", f"{_AT}/{{comment_id:int}}/replies", reply, needs="pull_requests=write"),
]
