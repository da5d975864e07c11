"""How an issue reads in the API."""

from typing import Any

from nightcrew.forges.local.call import Call
from nightcrew.forges.local.label import labels_of, render_label
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import association, node_id, render_user, render_user_id


def reactions(url: str) -> dict[str, Any]:
    kinds = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(kinds, 0)}


def assignees_of(call: Call, issue_id: int) -> list[dict[str, Any]]:
    rows = call.store.all(
        "SELECT user.* FROM user JOIN assignee ON user_id = user.id WHERE issue_id = ? AND deleted = 0"
        " ORDER BY user.id",
        issue_id,
    )
    return [shown for row in rows if (shown := render_user(call, row))]


def comment_count(call: Call, issue_id: int) -> int:
    return call.store.count("SELECT count(*) FROM comment WHERE issue_id = ?", issue_id)


def render_issue(call: Call, row: Row) -> dict[str, Any]:
    """An issue, or a pull request in its issue form (then with the key `pull_request`)."""
    number = row["number"]
    url = f"{call.repo_url}/issues/{number}"
    assignees = assignees_of(call, row["id"])
    body: dict[str, Any] = {
        "url": url,
        "repository_url": call.repo_url,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{call.html_url}/{'pull' if row['is_pull'] else 'issues'}/{number}",
        "id": row["id"],
        "node_id": node_id("PullRequest" if row["is_pull"] else "Issue", row["id"]),
        "number": number,
        "title": row["title"],
        "user": render_user_id(call, row["user_id"]),
        "labels": [render_label(call, label) for label in labels_of(call, row["id"])],
        "state": row["state"],
        "locked": bool(row["locked"]),
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": None,
        "comments": comment_count(call, row["id"]),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "closed_at": row["closed_at"],
        "author_association": association(call, row["user_id"]),
        "active_lock_reason": None,
        "body": row["body"],
        "closed_by": render_user_id(call, row["closed_by"]),
        "reactions": reactions(url),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": row["state_reason"],
    }
    return body | (_pull_part(call, row) if row["is_pull"] else _summaries(call, row))


def _summaries(call: Call, row: Row) -> dict[str, Any]:
    """How many issues it is linked to, and how many of those are open or done."""
    blockers, blocked, children = (
        call.store.all(f"SELECT state FROM issue JOIN {link} WHERE deleted = 0", row["id"])  # noqa: S608 - own names
        for link in (
            "dependency ON id = blocker_id AND issue_id = ?",
            "dependency ON id = issue_id AND blocker_id = ?",
            "sub_issue ON id = child_id AND parent_id = ?",
        )
    )
    done = sum(child["state"] == "closed" for child in children)
    return {
        "issue_dependencies_summary": {
            "blocked_by": sum(one["state"] == "open" for one in blockers),
            "blocking": sum(one["state"] == "open" for one in blocked),
            "total_blocked_by": len(blockers),
            "total_blocking": len(blocked),
        },
        "sub_issues_summary": {
            "total": len(children),
            "completed": done,
            "percent_completed": done * 100 // len(children) if children else 0,
        },
    }


def _pull_part(call: Call, row: Row) -> dict[str, Any]:
    pull = call.store.get("SELECT draft, merged_at FROM pull WHERE issue_id = ?", row["id"])
    html = f"{call.html_url}/pull/{row['number']}"
    return {
        "draft": bool(pull["draft"]),
        "pull_request": {
            "url": f"{call.repo_url}/pulls/{row['number']}",
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "merged_at": pull["merged_at"],
        },
    }
