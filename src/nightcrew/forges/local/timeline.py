"""What happened to an issue or pull request, in order: stored events, comments, reviews, and commits from git."""

import json
from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.comment import COMMENT, render_comment
from nightcrew.forges.local.commit import render_git_commit
from nightcrew.forges.local.git import Commit
from nightcrew.forges.local.issue import get_issue
from nightcrew.forges.local.issue_view import render_issue
from nightcrew.forges.local.moment import parse_moment, render_moment
from nightcrew.forges.local.page import page_of, page_of_rows
from nightcrew.forges.local.pull_view import PULL
from nightcrew.forges.local.review import render_review
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import node_id, render_user_id


def render_event(call: Call, row: Row) -> dict[str, Any]:
    sha = row["commit_id"]
    body: dict[str, Any] = {
        "id": row["id"],
        "node_id": node_id("IssueEvent", row["id"]),
        "url": f"{call.repo_url}/issues/events/{row['id']}",
        "actor": render_user_id(call, row["actor_id"]),
        "event": row["event"],
        "commit_id": sha,
        "commit_url": f"{call.repo_url}/commits/{sha}" if sha else None,
        "created_at": row["created_at"],
        "performed_via_github_app": None,
    }
    detail: dict[str, Any] = json.loads(row["detail"])
    if "assignee" in detail:
        detail["assignee"] = render_user_id(call, detail["assignee"])
        detail["assigner"] = body["actor"]
    if "reviewer" in detail:
        detail["requested_reviewer"] = render_user_id(call, detail.pop("reviewer"))
        detail["review_requester"] = render_user_id(call, detail.pop("requester"))
    return body | detail


def _events(call: Call, issue: Row) -> list[Row]:
    return call.store.all("SELECT * FROM event WHERE issue_id = ? ORDER BY id", issue["id"])


async def list_issue_events(call: Call) -> Answer:
    return page_of(call, [render_event(call, row) for row in _events(call, get_issue(call))])


async def list_repository_events(call: Call) -> Answer:
    """Newest first, each with its issue."""

    def render(row: Row) -> dict[str, Any]:
        issue = call.store.get("SELECT * FROM issue WHERE id = ?", row["issue_id"])
        return {**render_event(call, row), "issue": render_issue(call, issue)}

    sql = (
        "SELECT event.* FROM event JOIN issue ON issue.id = issue_id WHERE event.repository_id = ? AND deleted = 0"
        " ORDER BY event.id DESC"
    )
    return page_of_rows(call, sql, call.repo["id"], render=render)


async def show_timeline(call: Call) -> Answer:
    issue = get_issue(call)
    entries: list[tuple[str, int, dict[str, Any]]] = []
    for row in _events(call, issue):
        entries.append((row["created_at"], 2, render_event(call, row)))
    for row in call.store.all(f"{COMMENT} AND issue_id = ? ORDER BY comment.id", call.repo["id"], issue["id"]):
        shown = render_comment(call, row)
        entries.append((row["created_at"], 1, {**shown, "event": "commented", "actor": shown["user"]}))
    if issue["is_pull"]:
        entries += await _pull_entries(call, issue)
    entries.sort(key=lambda entry: entry[:2])
    return page_of(call, [shown for _, _, shown in entries])


async def _pull_entries(call: Call, issue: Row) -> list[tuple[str, int, dict[str, Any]]]:
    pull = call.store.get(f"{PULL} WHERE issue_id = ?", issue["id"])
    entries: list[tuple[str, int, dict[str, Any]]] = []
    for commit in await call.git.commits(f"{pull['base_sha']}..{pull['head_sha']}"):
        entries.append((_written_at(commit), 0, {**render_git_commit(call, commit), "event": "committed"}))
    sql = "SELECT * FROM review WHERE issue_id = ? AND submitted_at IS NOT NULL ORDER BY id"
    for row in call.store.all(sql, issue["id"]):
        shown = render_review(call, row, issue["number"])
        entries.append((row["submitted_at"], 1, {**shown, "state": shown["state"].lower(), "event": "reviewed"}))
    return entries


def _written_at(commit: Commit) -> str:
    moment = parse_moment(commit.committer.date)
    return render_moment(moment) if moment else ""


_READ = "issues=read; pull_requests=read"

ROUTES = [
    Route("GET", "~/issues/events", list_repository_events, needs=_READ),
    Route("GET", "~/issues/{number:int}/events", list_issue_events, needs=_READ),
    Route("GET", "~/issues/{number:int}/timeline", show_timeline, needs=_READ),
]
