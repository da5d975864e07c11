"""Rows as GraphQL objects. A field that is a function is asked with its arguments, and only if it was chosen."""

import base64
import re
from typing import Any

from graphql import GraphQLError

from nightcrew.forges.local.call import Call
from nightcrew.forges.local.diff import diff_files
from nightcrew.forges.local.graphql.connection import Shown, show_connection
from nightcrew.forges.local.merge_queue import find_entry
from nightcrew.forges.local.pull_view import PULL
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import load_user, node_id

THREAD = "PullRequestReviewThread"


def not_resolved(words: str) -> GraphQLError:
    """What is not there, or may not be seen."""
    return GraphQLError(f"Could not resolve to {words}.", extensions={"type": "NOT_FOUND"})


def parse_node_id(text: str, kind: str) -> int:
    """The number in the id of a node of that kind."""
    try:
        plain = base64.b64decode(text, validate=True).decode()
    except ValueError:
        plain = ""
    match = re.fullmatch(rf"{len(kind):03}:{kind}([0-9]{{1,18}})", plain)
    if match is None:
        raise not_resolved(f"a node with the global id of '{text[:80]}'")
    return int(match[1])


def names(text: str, kind: str) -> bool:
    """Whether an id is that of a node of this kind."""
    try:
        parse_node_id(text, kind)
    except GraphQLError:
        return False
    return True


def show_repository(call: Call) -> Shown:
    repo = call.repo["id"]

    def issues(_info: Any, **bounds: Any) -> Shown:
        rows = _listed(call, "SELECT * FROM issue WHERE repository_id = ? AND deleted = 0 AND id NOT IN"
                       " (SELECT issue_id FROM pull)", bounds)  # fmt: skip
        return show_connection(rows, show_issue, **bounds)

    def pulls(_info: Any, **bounds: Any) -> Shown:
        rows = _listed(call, f"{PULL} WHERE repository_id = ? AND deleted = 0", bounds)
        return show_connection(rows, lambda row: show_pull(call, row), **bounds)

    def pull(_info: Any, number: int) -> Shown:
        row = call.store.find(f"{PULL} WHERE repository_id = ? AND number = ? AND deleted = 0", repo, number)
        if row is None:
            raise not_resolved(f"a PullRequest with the number of {number}")
        return show_pull(call, row)

    def issue(_info: Any, number: int) -> Shown:
        row = call.store.find(
            "SELECT * FROM issue WHERE repository_id = ? AND number = ? AND deleted = 0 AND id NOT IN"
            " (SELECT issue_id FROM pull)", repo, number,
        )  # fmt: skip
        if row is None:
            raise not_resolved(f"an Issue with the number of {number}")
        return show_issue(row)

    async def ref(_info: Any, qualifiedName: str) -> Shown | None:  # noqa: N803 - the name is the schema's
        sha = await call.git.branch(qualifiedName.removeprefix("refs/heads/"))
        return {"name": qualifiedName, "target": {"__typename": "Commit", "oid": sha}} if sha else None

    async def default_branch(_info: Any) -> Shown | None:
        return await ref(_info, call.repo["default_branch"])

    return {
        "id": node_id("Repository", repo),
        "databaseId": repo,
        "nameWithOwner": call.full_name,
        "issues": issues,
        "pullRequests": pulls,
        "pullRequest": pull,
        "issue": issue,
        "ref": ref,
        "defaultBranchRef": default_branch,
    }


def _listed(call: Call, sql: str, bounds: dict[str, Any]) -> list[Row]:
    """The rows of the chosen states, in the chosen order."""
    states = {str(state).lower() for state in bounds.get("states") or ()}
    order = bounds.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    rows = call.store.all(sql, call.repo["id"])
    found = [row for row in rows if not states or _state(row) in states]
    name = {"UPDATED_AT": "updated_at", "CREATED_AT": "created_at"}.get(str(order["field"]), "number")
    return sorted(found, key=lambda row: (row[name], row["number"]), reverse=str(order["direction"]) == "DESC")


def _state(row: Row) -> str:
    merged = "merged_at" in row.keys() and row["merged_at"]  # noqa: SIM118 - a Row iterates its values
    return "merged" if merged else str(row["state"])


def show_issue(row: Row) -> Shown:
    return {
        "__typename": "Issue",
        "id": node_id("Issue", row["id"]),
        "title": row["title"],
        "number": row["number"],
        "state": str(row["state"]).upper(),
        "updatedAt": row["updated_at"],
        "createdAt": row["created_at"],
    }


def show_pull(call: Call, row: Row) -> Shown:
    async def threads(_info: Any, **bounds: Any) -> Shown:
        first = call.store.all(
            "SELECT * FROM review_comment WHERE issue_id = ? AND in_reply_to IS NULL ORDER BY id", row["issue_id"]
        )
        moved = {sha: await moved_paths(call, sha, row["head_sha"]) for sha in {one["commit_id"] for one in first}}
        return show_connection(first, lambda one: show_thread(call, one, moved[one["commit_id"]]), **bounds)

    return {
        "id": node_id("PullRequest", row["issue_id"]),
        "number": row["number"],
        "state": _state(row).upper(),
        "isDraft": bool(row["draft"]),
        "updatedAt": row["updated_at"],
        "headRefOid": row["head_sha"],
        "headRefName": row["head_ref"],
        "baseRefName": row["base_ref"],
        "reviewThreads": threads,
        "isInMergeQueue": find_entry(call, row) is not None,
        "mergeQueueEntry": show_entry(call, row),
    }


def show_entry(call: Call, pull: Row) -> Shown | None:
    """Its place in the merge queue."""
    found = find_entry(call, pull)
    if found is None:
        return None
    place, entry = found
    state = "AWAITING_CHECKS" if entry["sha"] else "QUEUED"
    return {"id": node_id("MergeQueueEntry", entry["id"]), "position": place, "state": state}


async def moved_paths(call: Call, commented: str, head: str) -> frozenset[str]:
    """The files that changed since a commit was commented on: what was said about them is outdated."""
    if commented == head:
        return frozenset()
    return frozenset(change.path for change in await diff_files(call.git, commented, head))


def show_thread(call: Call, first: Row, moved: frozenset[str]) -> Shown:
    """A thread is named by the comment that began it."""

    def comments(_info: Any, **bounds: Any) -> Shown:
        rows = call.store.all(
            "SELECT * FROM review_comment WHERE id = ? OR in_reply_to = ? ORDER BY id", first["id"], first["id"]
        )
        return show_connection(rows, lambda row: show_comment(call, row), **bounds)

    outdated = first["path"] in moved
    settled = call.store.find("SELECT 1 FROM resolved_thread WHERE comment_id = ?", first["id"])
    return {
        "__typename": THREAD,
        "id": node_id(THREAD, first["id"]),
        "isResolved": settled is not None,
        "isOutdated": outdated,
        "path": first["path"],
        "line": None if outdated else first["line"],
        "originalLine": first["line"],
        "comments": comments,
    }


def show_comment(call: Call, row: Row) -> Shown:
    user = load_user(call, row["user_id"])
    gone = user is None or user["deleted"]
    return {
        "id": node_id("PullRequestReviewComment", row["id"]),
        "databaseId": row["id"],
        "author": None if gone or user is None else {"__typename": user["type"], "login": _login(user)},
        "body": row["body"],
        "createdAt": row["created_at"],
        "updatedAt": row["updated_at"],
        "diffHunk": row["hunk"],
        "path": row["path"],
        "pullRequestReview": {"databaseId": row["review_id"]},
    }


def _login(user: Row) -> str:
    """GraphQL names a bot without the `[bot]` that REST puts behind it."""
    return str(user["login"]).removesuffix("[bot]")
