"""Check runs and their suites. Only an app may write them, as on GitHub."""

import json
from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.commit import commit_named
from nightcrew.forges.local.error import Refusal, flaw, forbidden, invalid, not_found
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.pull_view import render_minimal_pulls
from nightcrew.forges.local.repository import render_minimal
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import node_id, render_app

RUN = (
    "SELECT check_run.*, check_suite.sha, check_suite.app_id FROM check_run"
    " JOIN check_suite ON suite_id = check_suite.id WHERE repository_id = ?"
)
STATUSES = frozenset({"queued", "in_progress", "completed", "waiting", "requested", "pending"})
CONCLUSIONS = frozenset(
    {"action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out"}
)
_ANNOTATION = (
    "path", "start_line", "end_line", "start_column", "end_column", "annotation_level", "title", "message",
    "raw_details",
)  # fmt: skip
_TEXTS = ("external_id", "details_url", "started_at", "completed_at")


def render_run(call: Call, row: Row) -> dict[str, Any]:
    url = f"{call.repo_url}/check-runs/{row['id']}"
    html = f"{call.html_url}/runs/{row['id']}"
    notes = call.store.count("SELECT count(*) FROM annotation WHERE run_id = ?", row["id"])
    return {
        "id": row["id"],
        "name": row["name"],
        "node_id": node_id("CheckRun", row["id"]),
        "head_sha": row["sha"],
        "external_id": row["external_id"] or "",
        "url": url,
        "html_url": html,
        "details_url": _details(call, row) or html,
        "status": row["status"],
        "conclusion": row["conclusion"],
        "started_at": row["started_at"],
        "completed_at": row["completed_at"],
        "output": {
            "title": row["title"],
            "summary": row["summary"],
            "text": row["text"],
            "annotations_count": notes,
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": row["suite_id"]},
        "app": render_app(call, call.store.get("SELECT * FROM app WHERE id = ?", row["app_id"])),
        "pull_requests": render_minimal_pulls(call, row["sha"]),
    }


def _details(call: Call, row: Row) -> str:
    """A job of a workflow run is named by its path on the forge's pages."""
    url = row["details_url"] or ""
    return f"{call.html_url}{url}" if url.startswith("/") else url


def _get(call: Call) -> Row:
    row = call.store.find(f"{RUN} AND check_run.id = ?", call.repo["id"], call.params["run_id"])
    if row is None:
        raise not_found()
    return row


def _app(call: Call) -> Row:
    if call.user.app is None:
        raise forbidden("You must authenticate via a GitHub App.", needs="checks=write")
    return call.user.app


async def show_run(call: Call) -> Answer:
    return Answer(200, render_run(call, _get(call)))


async def create_run(call: Call) -> Answer:
    app, body = _app(call), call.body()
    sha, name = text_of(body, "head_sha"), text_of(body, "name")
    if not name:
        raise invalid(flaw("CheckRun", "missing_field", "name"))
    if await call.git.kind_of(sha) != "commit":
        raise Refusal(422, f"No commit found for SHA: {sha}")
    columns = _columns(call, body, started=call.at)
    with call.store.transaction():
        sql = (
            "INSERT INTO check_suite (repository_id, sha, app_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (repository_id, sha, app_id) DO UPDATE SET updated_at = excluded.updated_at"
        )
        call.store.run(sql, call.repo["id"], sha, app["id"], call.at, call.at)
        sql = "SELECT id FROM check_suite WHERE repository_id = ? AND sha = ? AND app_id = ?"
        suite = call.store.get(sql, call.repo["id"], sha, app["id"])
        key = call.store.insert("check_run", **{"suite_id": suite["id"], "status": "queued", **columns, "name": name})
        _annotate(call, key, body)
    shown = render_run(call, call.store.get(f"{RUN} AND check_run.id = ?", call.repo["id"], key))
    return Answer(201, shown, {"Location": shown["url"]})


async def update_run(call: Call) -> Answer:
    app, row, body = _app(call), _get(call), call.body()
    if row["app_id"] != app["id"]:
        raise forbidden("Invalid app_id - check run can only be modified by the GitHub App that created it.")
    with call.store.transaction():
        columns = _columns(call, body, started=row["started_at"])
        if columns:
            call.store.update("check_run", row["id"], **columns)
        _annotate(call, row["id"], body)
        call.store.update("check_suite", row["suite_id"], updated_at=call.at)
    return Answer(200, render_run(call, call.store.get(f"{RUN} AND check_run.id = ?", call.repo["id"], row["id"])))


def _columns(call: Call, body: dict[str, Any], *, started: str | None) -> dict[str, str | None]:
    """What the request sets. A conclusion completes the run; completing needs a conclusion."""
    status, conclusion = body.get("status"), body.get("conclusion")
    if status is not None and status not in STATUSES:
        raise invalid(flaw("CheckRun", "invalid", "status"))
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise invalid(flaw("CheckRun", "invalid", "conclusion"))
    if status == "completed" and conclusion is None:
        raise invalid(flaw("CheckRun", "missing_field", "conclusion"))
    columns: dict[str, str | None] = {name: body[name] for name in (*_TEXTS, "name") if body.get(name) is not None}
    output = body.get("output") or {}
    columns |= {name: output[name] for name in ("title", "summary", "text") if output.get(name) is not None}
    if conclusion is not None:
        columns |= {"status": "completed", "conclusion": conclusion}
        columns.setdefault("completed_at", call.at)
    elif status is not None:
        columns |= {"status": status, "conclusion": None, "completed_at": None}
    if started is not None:
        columns.setdefault("started_at", started)
    return columns


def _annotate(call: Call, key: int, body: dict[str, Any]) -> None:
    for note in (body.get("output") or {}).get("annotations") or []:
        call.store.insert("annotation", run_id=key, detail=json.dumps(note))


async def list_annotations(call: Call) -> Answer:
    row = _get(call)
    blob = f"{call.html_url}/blob/{row['sha']}"
    notes = call.store.all("SELECT detail FROM annotation WHERE run_id = ? ORDER BY id", row["id"])
    return page_of(call, [_render_annotation(json.loads(note["detail"]), blob=blob) for note in notes])


def _render_annotation(note: dict[str, Any], *, blob: str) -> dict[str, Any]:
    shown = {name: note.get(name) for name in _ANNOTATION}
    return {**shown, "blob_href": f"{blob}/{note.get('path')}"}


async def rerequest(call: Call) -> Answer:
    """It runs again. GitHub tells its App, which then sets it back; here that is done in its place, at once."""
    row = _get(call)
    with call.store.transaction():
        columns = {"status": "queued", "conclusion": None, "completed_at": None, "started_at": call.at}
        call.store.update("check_run", row["id"], **columns)
        call.store.update("check_suite", row["suite_id"], updated_at=call.at)
    return Answer(201, {})


async def list_runs(call: Call) -> Answer:
    """Of a ref; `filter=latest` (the default) gives the newest of each app and name."""
    sha = await commit_named(call, call.params["ref"])
    rows = call.store.all(f"{RUN} AND check_suite.sha = ? ORDER BY check_run.id DESC", call.repo["id"], sha)
    if call.query.get("filter", "latest") != "all":
        newest: dict[tuple[int, str], Row] = {}
        for row in rows:
            newest.setdefault((row["app_id"], row["name"]), row)
        rows = list(newest.values())
    wanted = {"name": call.query.get("check_name"), "status": call.query.get("status")}
    rows = [row for row in rows if all(value in {None, row[name]} for name, value in wanted.items())]
    total = len(rows)
    shown = [render_run(call, row) for row in rows]
    return page_of(call, shown, wrap=lambda items: {"total_count": total, "check_runs": items})


async def list_suites(call: Call) -> Answer:
    sha = await commit_named(call, call.params["ref"])
    sql = "SELECT * FROM check_suite WHERE repository_id = ? AND sha = ? ORDER BY id"
    rows = call.store.all(sql, call.repo["id"], sha)
    shown = [await _render_suite(call, row) for row in rows]
    return page_of(call, shown, wrap=lambda items: {"total_count": len(rows), "check_suites": items})


async def show_suite(call: Call) -> Answer:
    sql = "SELECT * FROM check_suite WHERE repository_id = ? AND id = ?"
    row = call.store.find(sql, call.repo["id"], call.params["suite_id"])
    if row is None:
        raise not_found()
    return Answer(200, await _render_suite(call, row))


async def _render_suite(call: Call, row: Row) -> dict[str, Any]:
    runs = call.store.all("SELECT status, conclusion FROM check_run WHERE suite_id = ?", row["id"])
    done = bool(runs) and all(run["status"] == "completed" for run in runs)
    conclusions = [run["conclusion"] for run in runs]
    bad = [c for c in conclusions if c not in {"success", "neutral", "skipped"}]
    branches = [name for name, sha in (await call.git.heads()).items() if sha == row["sha"]]
    commit = await call.git.commit(row["sha"])
    url = f"{call.repo_url}/check-suites/{row['id']}"
    return {
        "id": row["id"],
        "node_id": node_id("CheckSuite", row["id"]),
        "head_branch": branches[0] if branches else None,
        "head_sha": row["sha"],
        "status": "completed" if done else "in_progress" if runs else "queued",
        "conclusion": (bad[0] if bad else "success") if done else None,
        "url": url,
        "before": commit.parents[0] if commit.parents else None,
        "after": row["sha"],
        "pull_requests": render_minimal_pulls(call, row["sha"]),
        "app": render_app(call, call.store.get("SELECT * FROM app WHERE id = ?", row["app_id"])),
        "repository": render_minimal(call),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "head_commit": {
            "id": commit.sha,
            "tree_id": commit.tree,
            "message": commit.message,
            "timestamp": commit.committer.date,
            "author": {"name": commit.author.name, "email": commit.author.email},
            "committer": {"name": commit.committer.name, "email": commit.committer.email},
        },
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
    }


ROUTES = [
    Route("POST", "~/check-runs", create_run, needs="checks=write"),
    Route("GET", "~/check-runs/{run_id:int}", show_run, needs="checks=read"),
    Route("PATCH", "~/check-runs/{run_id:int}", update_run, needs="checks=write"),
    Route("POST", "~/check-runs/{run_id:int}/rerequest", rerequest, needs="checks=write", role="write"),
    Route("GET", "~/check-suites/{suite_id:int}", show_suite, needs="checks=read"),
    Route("GET", "~/check-runs/{run_id:int}/annotations", list_annotations, needs="checks=read"),
    Route("GET", "~/commits/{ref:path}/check-runs", list_runs, needs="checks=read"),
    Route("GET", "~/commits/{ref:path}/check-suites", list_suites, needs="checks=read"),
]
