"""How a pull request reads in the API: in a list, alone, and in the small form that checks hold."""

from typing import Any

from nightcrew.forges.local.call import Call
from nightcrew.forges.local.diff import diff_files
from nightcrew.forges.local.issue_view import assignees_of, comment_count
from nightcrew.forges.local.label import labels_of, render_label
from nightcrew.forges.local.mergeability import fetch_mergeable
from nightcrew.forges.local.repository import render_repository
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import association, node_id, render_user, render_user_id

PULL = (
    "SELECT pull.*, issue.number, issue.title, issue.body, issue.user_id, issue.state, issue.locked, issue.is_pull,"
    " issue.created_at, issue.updated_at, issue.closed_at, issue.repository_id"
    " FROM pull JOIN issue ON issue.id = pull.issue_id"
)


def _end(call: Call, ref: str, sha: str) -> dict[str, Any]:
    owner = call.repo["owner"]
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": render_user_id(call, call.repo["owner_id"]),
        "repo": render_repository(call),
    }


def _labels(call: Call, row: Row) -> list[dict[str, Any]]:
    # The description of the list form says that a label's description is text, never null.
    labels = [render_label(call, label) for label in labels_of(call, row["issue_id"])]
    return [{**label, "description": label["description"] or ""} for label in labels]


def requested_of(call: Call, issue_id: int) -> list[dict[str, Any]]:
    rows = call.store.all(
        "SELECT user.* FROM user JOIN review_request ON user_id = user.id WHERE issue_id = ? AND deleted = 0", issue_id
    )
    return [shown for row in rows if (shown := render_user(call, row))]


def render_pull(call: Call, row: Row) -> dict[str, Any]:
    """The list form."""
    number = row["number"]
    url, html = f"{call.repo_url}/pulls/{number}", f"{call.html_url}/pull/{number}"
    issue = f"{call.repo_url}/issues/{number}"
    urls = {
        "self": url,
        "html": html,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{call.repo_url}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{call.repo_url}/statuses/{row['head_sha']}",
    }
    assignees = assignees_of(call, row["issue_id"])
    return {
        "url": url,
        "id": row["id"],
        "node_id": node_id("PullRequest", row["issue_id"]),
        "html_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        **{f"{name}_url": urls[name] for name in urls if name not in {"self", "html"}},
        "number": number,
        "state": row["state"],
        "locked": bool(row["locked"]),
        "title": row["title"],
        "user": render_user_id(call, row["user_id"]),
        "body": row["body"],
        "labels": _labels(call, row),
        "milestone": None,
        "active_lock_reason": None,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "closed_at": row["closed_at"],
        "merged_at": row["merged_at"],
        "merge_commit_sha": row["merge_commit_sha"],
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "requested_reviewers": requested_of(call, row["issue_id"]),
        "requested_teams": [],
        "draft": bool(row["draft"]),
        "head": _end(call, row["head_ref"], row["head_sha"]),
        "base": _end(call, row["base_ref"], row["base_sha"]),
        "_links": {name: {"href": href} for name, href in urls.items()},
        "author_association": association(call, row["user_id"]),
        "auto_merge": None,
    }


async def render_single(call: Call, row: Row) -> dict[str, Any]:
    """The form of one pull request, with what git has to say about it."""
    mergeable, state = await fetch_mergeable(call, row)
    row = call.store.get(f"{PULL} WHERE pull.id = ?", row["id"])
    fork = await call.git.merge_base(row["base_sha"], row["head_sha"])
    changes = await diff_files(call.git, fork, row["head_sha"]) if fork else []
    return {
        **render_pull(call, row),
        "merged": row["merged_at"] is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": state,
        "merged_by": render_user_id(call, row["merged_by"]),
        "comments": comment_count(call, row["issue_id"]),
        "review_comments": call.store.count("SELECT count(*) FROM review_comment WHERE issue_id = ?", row["issue_id"]),
        "maintainer_can_modify": False,
        "commits": await call.git.count(f"{row['base_sha']}..{row['head_sha']}"),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def render_minimal_pulls(call: Call, sha: str) -> list[dict[str, Any]]:
    """The open pull requests whose head is this commit."""
    rows = call.store.all(
        f"{PULL} WHERE repository_id = ? AND issue.state = 'open' AND head_sha = ?", call.repo["id"], sha
    )
    repo = {"id": call.repo["id"], "url": call.repo_url, "name": call.repo["name"]}
    return [
        {
            "id": row["id"],
            "number": row["number"],
            "url": f"{call.repo_url}/pulls/{row['number']}",
            "head": {"ref": row["head_ref"], "sha": row["head_sha"], "repo": repo},
            "base": {"ref": row["base_ref"], "sha": row["base_sha"], "repo": repo},
        }
        for row in rows
    ]
