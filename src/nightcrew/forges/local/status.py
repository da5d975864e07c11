"""Commit statuses, and what they come to together. Check runs are another system, in `check`."""

from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.commit import commit_named
from nightcrew.forges.local.error import Refusal, flaw, invalid
from nightcrew.forges.local.page import page_of, page_of_rows
from nightcrew.forges.local.repository import render_minimal
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import node_id, render_user_id

STATES = ("error", "failure", "pending", "success")
DESCRIPTION_LENGTH = 140
PER_CONTEXT = 1000


def _shared(call: Call, row: Row) -> dict[str, Any]:
    return {
        "url": f"{call.repo_url}/statuses/{row['sha']}",
        "avatar_url": f"{call.base}/avatars/u/{row['user_id']}",
        "id": row["id"],
        "node_id": node_id("StatusContext", row["id"]),
        "state": row["state"],
        "description": row["description"],
        "target_url": row["target_url"],
        "context": row["context"],
        "created_at": row["created_at"],
        "updated_at": row["created_at"],
    }


def render_status(call: Call, row: Row) -> dict[str, Any]:
    return {**_shared(call, row), "creator": render_user_id(call, row["user_id"])}


async def create_status(call: Call) -> Answer:
    """Another status of a commit; an older one of the same context stays, but counts no more."""
    sha, body = call.params["sha"], call.body()
    if await call.git.kind_of(sha) != "commit":
        raise Refusal(422, f"No commit found for SHA: {sha}")
    state, description = text_of(body, "state"), body.get("description")
    context = text_of(body, "context", "default")
    if state not in STATES:
        raise invalid(flaw("Status", "custom", "state", "state is not included in the list"))
    if description is not None and len(description) > DESCRIPTION_LENGTH:
        text = "description is too long (maximum is 140 characters)"
        raise invalid(flaw("Status", "custom", "description", text))
    have = call.store.count(
        "SELECT count(*) FROM status WHERE repository_id = ? AND sha = ? AND context = ?",
        call.repo["id"],
        sha,
        context,
    )
    if have >= PER_CONTEXT:
        text = "This SHA and context has reached the maximum number of statuses."
        raise invalid(flaw("Status", "custom", "base", text))
    key = call.store.insert(
        "status",
        repository_id=call.repo["id"],
        sha=sha,
        state=state,
        context=context,
        description=description,
        target_url=body.get("target_url") or None,
        user_id=call.user.id,
        created_at=call.at,
    )
    shown = render_status(call, call.store.get("SELECT * FROM status WHERE id = ?", key))
    return Answer(201, shown, {"Location": shown["url"]})


async def list_statuses(call: Call) -> Answer:
    """Newest first, all of each context."""
    sha = await commit_named(call, call.params["ref"])
    sql = "SELECT * FROM status WHERE repository_id = ? AND sha = ? ORDER BY id DESC"
    return page_of_rows(call, sql, call.repo["id"], sha, render=lambda row: render_status(call, row))


async def combined_status(call: Call) -> Answer:
    """The newest of each context: failure if any failed, pending if any is pending or there are none, else success."""
    sha = await call.git.commit_of(call.params["ref"])
    if sha is None:
        raise Refusal(404, "Not Found")
    rows = call.store.all(
        "SELECT * FROM status WHERE id IN (SELECT max(id) FROM status WHERE repository_id = ? AND sha = ?"
        " GROUP BY context) ORDER BY id",
        call.repo["id"],
        sha,
    )
    answer = page_of(call, [_shared(call, row) for row in rows])
    body = {
        "state": combine([row["state"] for row in rows]),
        "statuses": answer.body,
        "sha": sha,
        "total_count": len(rows),
        "repository": render_minimal(call),
        "commit_url": f"{call.repo_url}/commits/{sha}",
        "url": f"{call.repo_url}/commits/{sha}/status",
    }
    return Answer(200, body, answer.headers)


def combine(states: list[str]) -> str:
    if {"error", "failure"} & set(states):
        return "failure"
    return "pending" if not states or "pending" in states else "success"


ROUTES = [
    Route("POST", "~/statuses/{sha}", create_status, needs="statuses=write", role="write"),
    Route("GET", "~/commits/{ref:path}/statuses", list_statuses, needs="statuses=read"),
    Route("GET", "~/commits/{ref:path}/status", combined_status, needs="statuses=read"),
]
