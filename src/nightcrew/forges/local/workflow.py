"""Actions: runs, their jobs and logs. The forge runs no workflow; a keeper records what one would have done."""

import hmac
from datetime import datetime, timedelta
from typing import Any

from nightcrew.core.errors import Missing
from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import Refusal, gone, not_found
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.moment import render_moment
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.pull_view import render_minimal_pulls
from nightcrew.forges.local.repository import render_minimal
from nightcrew.forges.local.store import Row, Store
from nightcrew.forges.local.user import node_id, render_user_id

LOG_URL_S = 60
ACTIONS = "github-actions"
_FAILED = frozenset({"failure", "cancelled", "timed_out"})


def record_workflow_run(
    forge: LocalForge, full_name: str, sha: str, *, name: str = "ci", branch: str | None = None, event: str = "push"
) -> int:
    """A run that is in progress until all its jobs are completed; its id."""
    at = render_moment(forge.now())
    repo = forge.repository_id(full_name)
    owner = forge.store.get("SELECT owner_id FROM repository WHERE id = ?", repo)["owner_id"]
    return forge.store.insert(
        "workflow_run", repository_id=repo, name=name, sha=sha, branch=branch, event=event, status="in_progress",
        path=f".github/workflows/{name}.yml", user_id=owner, created_at=at, updated_at=at,
    )  # fmt: skip


def record_workflow_job(
    forge: LocalForge, run_id: int, name: str, *, conclusion: str | None = None, log: bytes = b""
) -> int:
    """A job of a run: in progress, or completed with a conclusion and its log; its id."""
    at = render_moment(forge.now())
    run = forge.store.find("SELECT attempt FROM workflow_run WHERE id = ?", run_id)
    if run is None:
        raise Missing(f"no workflow run {run_id}")
    status = "completed" if conclusion else "in_progress"
    job = forge.store.insert(
        "workflow_job", run_id=run_id, name=name, status=status, conclusion=conclusion, attempt=run["attempt"], log=log,
        created_at=at, started_at=at, completed_at=at if conclusion else None,
    )  # fmt: skip
    _show_as_check(forge.store, job, at=at)
    return job


def complete_workflow_job(forge: LocalForge, job_id: int, conclusion: str, *, log: bytes = b"") -> None:
    """A job ends, with its log. The run that it belongs to ends by `complete_workflow_run`."""
    at = render_moment(forge.now())
    forge.store.update("workflow_job", job_id, status="completed", conclusion=conclusion, log=log, completed_at=at)
    _show_as_check(forge.store, job_id, at=at)


def list_queued_jobs(forge: LocalForge, run_id: int) -> list[int]:
    """The jobs that are to run again, as a runner would take them up."""
    rows = forge.store.all("SELECT id FROM workflow_job WHERE run_id = ? AND status = 'queued' ORDER BY id", run_id)
    return [int(row["id"]) for row in rows]


def _show_as_check(store: Store, job_id: int, *, at: str) -> None:
    """Each job is shown as a check run of the App of Actions, another one with each attempt."""
    job = store.get("SELECT * FROM workflow_job WHERE id = ?", job_id)
    run = store.get("SELECT * FROM workflow_run WHERE id = ?", job["run_id"])
    app = store.find("SELECT id FROM app WHERE slug = ?", ACTIONS)
    owner = run["user_id"]
    app_id = app["id"] if app else store.insert("app", slug=ACTIONS, name=ACTIONS, owner_id=owner, created_at=at)
    store.run(
        "INSERT INTO check_suite (repository_id, sha, app_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (repository_id, sha, app_id) DO UPDATE SET updated_at = excluded.updated_at",
        run["repository_id"], run["sha"], app_id, at, at,
    )  # fmt: skip
    sql = "SELECT id FROM check_suite WHERE repository_id = ? AND sha = ? AND app_id = ?"
    suite = store.get(sql, run["repository_id"], run["sha"], app_id)["id"]
    shown = {"status": job["status"], "conclusion": job["conclusion"], "completed_at": job["completed_at"]}
    known = store.find("SELECT id FROM check_run WHERE suite_id = ? AND external_id = ?", suite, str(job_id))
    if known is not None:
        store.update("check_run", known["id"], **shown)
        return
    place = f"/actions/runs/{run['id']}/job/{job_id}"
    columns = {"external_id": str(job_id), "details_url": place, "started_at": job["started_at"]}
    store.insert("check_run", suite_id=suite, name=job["name"], **columns, **shown)


def complete_workflow_run(forge: LocalForge, run_id: int) -> None:
    """End a run; its conclusion follows from its jobs."""
    rows = forge.store.all("SELECT conclusion FROM workflow_job WHERE run_id = ?", run_id)
    bad = any(row["conclusion"] in _FAILED for row in rows)
    at = render_moment(forge.now())
    conclusion = "failure" if bad else "success"
    forge.store.update("workflow_run", run_id, status="completed", conclusion=conclusion, updated_at=at)


def expire_job_log(forge: LocalForge, job_id: int) -> None:
    """The log is gone from now on (410)."""
    forge.store.update("workflow_job", job_id, log_expired=1)


async def _render_run(call: Call, row: Row) -> dict[str, Any]:
    url = f"{call.repo_url}/actions/runs/{row['id']}"
    commit = await call.git.commit(row["sha"])
    actor = render_user_id(call, row["user_id"])
    return {
        "id": row["id"],
        "name": row["name"],
        "node_id": node_id("WorkflowRun", row["id"]),
        "head_branch": row["branch"],
        "head_sha": row["sha"],
        "path": row["path"],
        "display_title": commit.subject,
        "run_number": row["id"],
        "run_attempt": row["attempt"],
        "event": row["event"],
        "status": row["status"],
        "conclusion": row["conclusion"],
        "workflow_id": row["id"],
        "url": url,
        "html_url": f"{call.html_url}/actions/runs/{row['id']}",
        "pull_requests": render_minimal_pulls(call, row["sha"]),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "run_started_at": row["created_at"],
        "actor": actor,
        "triggering_actor": actor,
        **{f"{part}_url": f"{url}/{part}" for part in ("jobs", "logs", "artifacts", "cancel", "rerun")},
        "check_suite_url": f"{call.repo_url}/check-suites/{row['id']}",
        "workflow_url": f"{call.repo_url}/actions/workflows/{row['id']}",
        "head_commit": {
            "id": commit.sha,
            "tree_id": commit.tree,
            "message": commit.message,
            "timestamp": commit.committer.date,
            "author": {"name": commit.author.name, "email": commit.author.email},
            "committer": {"name": commit.committer.name, "email": commit.committer.email},
        },
        "repository": render_minimal(call),
        "head_repository": render_minimal(call),
    }


def _render_job(call: Call, row: Row, run: Row) -> dict[str, Any]:
    step = {"name": row["name"], "number": 1, "status": row["status"], "conclusion": row["conclusion"]}
    return {
        "id": row["id"],
        "run_id": run["id"],
        "run_url": f"{call.repo_url}/actions/runs/{run['id']}",
        "run_attempt": row["attempt"],
        "node_id": node_id("CheckRun", row["id"]),
        "head_sha": run["sha"],
        "head_branch": run["branch"],
        "url": f"{call.repo_url}/actions/jobs/{row['id']}",
        "html_url": f"{call.html_url}/actions/runs/{run['id']}/job/{row['id']}",
        "status": row["status"],
        "conclusion": row["conclusion"],
        "created_at": row["created_at"],
        "started_at": row["started_at"],
        "completed_at": row["completed_at"],
        "name": row["name"],
        "steps": [{**step, "started_at": row["started_at"], "completed_at": row["completed_at"]}],
        "check_run_url": f"{call.repo_url}/check-runs/{row['id']}",
        "labels": ["self-hosted"],
        **dict.fromkeys(("runner_id", "runner_name", "runner_group_id", "runner_group_name")),
        "workflow_name": run["name"],
    }


def _run(call: Call, key: int) -> Row:
    sql = "SELECT * FROM workflow_run WHERE repository_id = ? AND id = ?"
    row = call.store.find(sql, call.repo["id"], key)
    if row is None:
        raise not_found()
    return row


def _job(call: Call) -> tuple[Row, Row]:
    row = call.store.find("SELECT * FROM workflow_job WHERE id = ?", call.params["job_id"])
    if row is None:
        raise not_found()
    return row, _run(call, row["run_id"])


async def list_runs(call: Call) -> Answer:
    sql = "SELECT * FROM workflow_run WHERE repository_id = ? ORDER BY id DESC"
    filters = {"sha": "head_sha", "branch": "branch", "event": "event"}
    wanted = {column: call.query[name] for column, name in filters.items() if name in call.query}
    rows = [r for r in call.store.all(sql, call.repo["id"]) if all(r[c] == value for c, value in wanted.items())]
    if state := call.query.get("status"):
        rows = [row for row in rows if state in {row["status"], row["conclusion"]}]
    shown = [await _render_run(call, row) for row in rows]
    return page_of(call, shown, wrap=lambda items: {"total_count": len(rows), "workflow_runs": items})


async def show_run(call: Call) -> Answer:
    return Answer(200, await _render_run(call, _run(call, call.params["run_id"])))


async def list_jobs(call: Call) -> Answer:
    run = _run(call, call.params["run_id"])
    rows = call.store.all("SELECT * FROM workflow_job WHERE run_id = ? ORDER BY id", run["id"])
    if call.query.get("filter", "latest") == "latest":
        rows = [row for row in rows if row["attempt"] == run["attempt"]]
    shown = [_render_job(call, row, run) for row in rows]
    return page_of(call, shown, wrap=lambda items: {"total_count": len(rows), "jobs": items})


async def show_job(call: Call) -> Answer:
    row, run = _job(call)
    return Answer(200, _render_job(call, row, run))


async def redirect_to_log(call: Call) -> Answer:
    """302 to a signed URL good for a minute; 404 while the run is not over, 410 once the log has expired."""
    row, run = _job(call)
    if run["status"] != "completed" or row["status"] != "completed":
        raise not_found()
    if row["log_expired"]:
        raise gone("Log has expired")
    ends = int((call.now + timedelta(seconds=LOG_URL_S)).timestamp())
    url = f"{call.base}/_logs/{row['id']}?se={ends}&sig={_sign(call, row['id'], ends)}"
    return Answer(302, None, {"Location": url})


def _sign(call: Call, job_id: int, ends: int) -> str:
    return hmac.new(call.log_key, f"{job_id}.{ends}".encode(), "sha256").hexdigest()


async def read_log(call: Call) -> Answer:
    """The blob behind the redirect. It takes no token: one that is sent along is refused, as the real one does."""
    ends = call.query.get("se", "")
    job_id = call.params["job_id"]
    signed = ends.isdigit() and hmac.compare_digest(call.query.get("sig", ""), _sign(call, job_id, int(ends)))
    if call.actor is not None or not signed or datetime.fromtimestamp(int(ends), call.now.tzinfo) <= call.now:
        raise Refusal(403, "AuthenticationFailed")
    row = call.store.find("SELECT log FROM workflow_job WHERE id = ?", job_id)
    return Answer(200, raw=bytes(row["log"] or b"") if row else b"", media_type="text/plain; charset=utf-8")


async def rerun(call: Call) -> Answer:
    """A new attempt of the failed jobs (or of all, for the whole run)."""
    run = _run(call, call.params["run_id"])
    failed_only = call.path.endswith("rerun-failed-jobs")
    rows = call.store.all(
        "SELECT * FROM workflow_job WHERE run_id = ? AND attempt = ? ORDER BY id", run["id"], run["attempt"]
    )
    if run["status"] != "completed":
        raise Refusal(403, "This workflow is already running")
    with call.store.transaction():
        attempt = run["attempt"] + 1
        call.store.update(
            "workflow_run", run["id"], attempt=attempt, status="queued", conclusion=None, updated_at=call.at
        )
        for row in rows:
            again = not failed_only or row["conclusion"] in _FAILED
            state = ("queued", None, None) if again else (row["status"], row["conclusion"], row["completed_at"])
            job = call.store.insert(
                "workflow_job",
                run_id=run["id"],
                name=row["name"],
                status=state[0],
                conclusion=state[1],
                attempt=attempt,
                log=None if again else row["log"],
                created_at=call.at,
                started_at=call.at,
                completed_at=state[2],
            )
            if again:
                _show_as_check(call.store, job, at=call.at)
    return Answer(201, {})


_READ, _WRITE = "actions=read", "actions=write"

ROUTES = [
    Route("GET", "~/actions/runs", list_runs, needs=_READ),
    Route("GET", "~/actions/runs/{run_id:int}", show_run, needs=_READ),
    Route("GET", "~/actions/runs/{run_id:int}/jobs", list_jobs, needs=_READ),
    Route("POST", "~/actions/runs/{run_id:int}/rerun", rerun, needs=_WRITE, role="write"),
    Route("POST", "~/actions/runs/{run_id:int}/rerun-failed-jobs", rerun, needs=_WRITE, role="write"),
    Route("GET", "~/actions/jobs/{job_id:int}", show_job, needs=_READ),
    Route("GET", "~/actions/jobs/{job_id:int}/logs", redirect_to_log, needs=_READ, role="read"),
    Route("GET", "/_logs/{job_id:int}", read_log),
]
