"""Reviews of a pull request, and who is asked for one. One's own work may be commented on, not approved."""

from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.error import Refusal, flaw, invalid, not_found, unprocessable
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.page import page_of_rows
from nightcrew.forges.local.pull import get_pull, reload_pull
from nightcrew.forges.local.pull_view import render_pull
from nightcrew.forges.local.review_comment import add_comments
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import association, find_user, node_id, render_user_id

_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
NOT_COLLABORATOR = (
    "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a "
    "collaborator of the {} repository."
)


def render_review(call: Call, row: Row, number: int) -> dict[str, Any]:
    html = f"{call.html_url}/pull/{number}#pullrequestreview-{row['id']}"
    url = f"{call.repo_url}/pulls/{number}"
    body = {
        "id": row["id"],
        "node_id": node_id("PullRequestReview", row["id"]),
        "user": render_user_id(call, row["user_id"]),
        "body": row["body"],
        "state": row["state"],
        "html_url": html,
        "pull_request_url": url,
        "author_association": association(call, row["user_id"]),
        "_links": {"html": {"href": html}, "pull_request": {"href": url}},
        "commit_id": row["commit_id"],
    }
    return body | ({"submitted_at": row["submitted_at"]} if row["submitted_at"] else {})


def _get(call: Call, pull: Row) -> Row:
    row = call.store.find(
        "SELECT * FROM review WHERE issue_id = ? AND id = ?", pull["issue_id"], call.params["review_id"]
    )
    if row is None:
        raise not_found()
    return row


async def list_reviews(call: Call) -> Answer:
    """In chronological order; a pending one is seen by its author only."""
    pull = get_pull(call)
    viewer = call.actor.id if call.actor else 0
    sql = "SELECT * FROM review WHERE issue_id = ? AND (submitted_at IS NOT NULL OR user_id = ?) ORDER BY id"
    render = lambda row: render_review(call, row, pull["number"])  # noqa: E731 - one short closure
    return page_of_rows(call, sql, pull["issue_id"], viewer, render=render)


async def show_review(call: Call) -> Answer:
    pull = get_pull(call)
    return Answer(200, render_review(call, _get(call, pull), pull["number"]))


async def create_review(call: Call) -> Answer:
    """200 with the review; without `event` it stays pending. Refusals have GitHub's bodies, errors as strings."""
    pull, body = get_pull(call), call.body()
    event, text = body.get("event"), text_of(body, "body")
    comments = body.get("comments") or []
    if event is not None and event not in _STATES:
        raise unprocessable(f"Variable $event of type PullRequestReviewEvent was provided invalid value {event}")
    _refuse_own(call, pull, event)
    if event in {"REQUEST_CHANGES", "COMMENT"} and not text.strip() and not comments:
        raise unprocessable("Can not create a review without a body")
    commit_id = body.get("commit_id") or pull["head_sha"]
    if await call.git.kind_of(str(commit_id)) != "commit":
        raise unprocessable("The commit_id is not part of the pull request")
    if event is None and _pending(call, pull):
        raise unprocessable("User can only have one pending review per pull request")
    with call.store.transaction():
        key = call.store.insert(
            "review",
            issue_id=pull["issue_id"],
            user_id=call.user.id,
            state=_STATES[event] if event else "PENDING",
            body=text,
            commit_id=commit_id,
            submitted_at=call.at if event else None,
        )
        call.store.run("DELETE FROM review_request WHERE issue_id = ? AND user_id = ?", pull["issue_id"], call.user.id)
    try:
        await add_comments(call, pull, comments, review_id=key, commit_id=str(commit_id))
    except Refusal:
        call.store.run("DELETE FROM review WHERE id = ?", key)
        raise
    if event:
        touch(call, pull["issue_id"])
    row = call.store.get("SELECT * FROM review WHERE id = ?", key)
    return Answer(200, render_review(call, row, pull["number"]))


def _refuse_own(call: Call, pull: Row, event: str | None) -> None:
    if pull["user_id"] != call.user.id:
        return
    if event == "APPROVE":
        raise unprocessable("Can not approve your own pull request")
    if event == "REQUEST_CHANGES":
        raise unprocessable("Can not request changes on your own pull request")


def _pending(call: Call, pull: Row) -> bool:
    sql = "SELECT 1 FROM review WHERE issue_id = ? AND user_id = ? AND submitted_at IS NULL"
    return call.store.find(sql, pull["issue_id"], call.user.id) is not None


async def dismiss_review(call: Call) -> Answer:
    pull = get_pull(call)
    row = _get(call, pull)
    message = text_of(call.body(), "message")
    if not message:
        raise unprocessable("Message can't be blank")
    if row["state"] not in {"APPROVED", "CHANGES_REQUESTED"}:
        raise unprocessable("Can not dismiss a commented pull request review")
    with call.store.transaction():
        call.store.update("review", row["id"], state="DISMISSED")
        dismissed = {"state": row["state"].lower(), "review_id": row["id"], "dismissal_message": message}
        record_event(call, pull["issue_id"], "review_dismissed", dismissed_review=dismissed)
        touch(call, pull["issue_id"])
    row = call.store.get("SELECT * FROM review WHERE id = ?", row["id"])
    return Answer(200, render_review(call, row, pull["number"]))


async def request_reviewers(call: Call) -> Answer:
    pull, body = get_pull(call), call.body()
    rows = []
    for login in body.get("reviewers") or []:
        row = find_user(call, str(login))
        if row is not None and row["id"] == pull["user_id"]:
            raise Refusal(422, "Review cannot be requested from pull request author.")
        if row is None or not _collaborates(call, row["id"]):
            raise Refusal(422, NOT_COLLABORATOR.format(call.full_name))
        rows.append(row)
    with call.store.transaction():
        for row in rows:
            sql = "INSERT OR IGNORE INTO review_request (issue_id, user_id) VALUES (?, ?)"
            call.store.run(sql, pull["issue_id"], row["id"])
            record_event(call, pull["issue_id"], "review_requested", reviewer=row["id"], requester=call.user.id)
        if rows:
            touch(call, pull["issue_id"])
    return Answer(201, render_pull(call, reload_pull(call, pull)))


def _collaborates(call: Call, user_id: int) -> bool:
    known = call.store.find(
        "SELECT 1 FROM collaborator WHERE repository_id = ? AND user_id = ? AND permission <> 'none'",
        call.repo["id"],
        user_id,
    )
    return known is not None or user_id == call.repo["owner_id"]


async def remove_reviewers(call: Call) -> Answer:
    pull = get_pull(call)
    logins = call.body().get("reviewers")
    if not isinstance(logins, list):
        raise invalid(flaw("PullRequest", "missing_field", "reviewers"))
    with call.store.transaction():
        for row in filter(None, (find_user(call, str(login)) for login in logins)):
            call.store.run("DELETE FROM review_request WHERE issue_id = ? AND user_id = ?", pull["issue_id"], row["id"])
            record_event(call, pull["issue_id"], "review_request_removed", reviewer=row["id"], requester=call.user.id)
        touch(call, pull["issue_id"])
    return Answer(200, render_pull(call, reload_pull(call, pull)))


async def list_requested(call: Call) -> Answer:
    shown = render_pull(call, get_pull(call))
    return Answer(200, {"users": shown["requested_reviewers"], "teams": []})


_READ, _WRITE = "pull_requests=read", "pull_requests=write"
_AT = "~/pulls/{number:int}"

ROUTES = [
    Route("GET", f"{_AT}/reviews", list_reviews, needs=_READ),
    Route("POST", f"{_AT}/reviews", create_review, needs=_WRITE),
    Route("GET", f"{_AT}/reviews/{{review_id:int}}", show_review, needs=_READ),
    Route("PUT", f"{_AT}/reviews/{{review_id:int}}/dismissals", dismiss_review, needs=_WRITE, role="write"),
    Route("GET", f"{_AT}/requested_reviewers", list_requested, needs=_READ),
    Route("POST", f"{_AT}/requested_reviewers", request_reviewers, needs=_WRITE, role="triage"),
    Route("DELETE", f"{_AT}/requested_reviewers", remove_reviewers, needs=_WRITE, role="triage"),
]
