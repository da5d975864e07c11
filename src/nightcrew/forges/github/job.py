"""What can be known of checks without check runs: the jobs of Actions, each of which makes a check run of its name.

Check runs of other Apps cannot be seen this way. So what is told is what is known, and one entry that says that there
may be more; whether that is enough is for the gate to say.
"""

from dataclasses import dataclass

from nightcrew.core.errors import Denied
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import HIDDEN, Check, CheckState
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing

APP = "github-actions"
CONCLUSIONS = {
    "success": CheckState.SUCCESS,
    "neutral": CheckState.NEUTRAL,
    "skipped": CheckState.SKIPPED,
    "failure": CheckState.FAILURE,
    "cancelled": CheckState.FAILURE,
    "timed_out": CheckState.FAILURE,
    "action_required": CheckState.FAILURE,
    "startup_failure": CheckState.FAILURE,
    "stale": CheckState.PENDING,
}


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow; a state for where it has no jobs (yet)."""

    id: int
    name: str
    state: CheckState


def parse_state(raw: Json) -> CheckState:
    """A conclusion that is not known, or none, counts as pending: it is no success and no failure."""
    conclusion = field.text(raw, "conclusion") if field.text(raw, "status") == "completed" else ""
    return CONCLUSIONS.get(conclusion, CheckState.PENDING)


def render_mark(raw: Json) -> str:
    """What tells one answer of a check run, or job, from the next."""
    conclusion = field.text(raw, "conclusion") if field.text(raw, "status") == "completed" else ""
    return f"{field.number(raw, 'id')} {field.text(raw, 'completed_at')} {conclusion}"


def parse_run(raw: Json) -> WorkflowRun:
    return WorkflowRun(field.number(raw, "id"), field.text(raw, "name"), parse_state(raw))


def parse_job(raw: Json) -> Check:
    """A job as the check run that it makes, which has its name and number."""
    number = field.number(raw, "id")
    return Check(
        name=field.text(raw, "name"),
        state=parse_state(raw),
        source="check_run",
        url=field.text(raw, "html_url"),
        app=APP,
        job_id=number,
        run_id=number,
        mark=render_mark(raw),
    )


async def list_jobs(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    """The newest job of each name, and the entry about the rest."""
    try:
        found = await _list(api, project, sha)
        seen = "commit statuses and jobs of GitHub Actions"
    except Denied:
        found, seen = (), "commit statuses"
    words = f"the token may not read check runs, and only {seen} can be seen"
    return (*found, Check("check runs", CheckState.PENDING, HIDDEN, summary=words))


async def _list(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    url = api.of(project, "/actions/runs", head_sha=sha, per_page=PER_PAGE)
    runs = await api.list(Listing(url, parse_run, key=lambda raw: field.number(raw, "id"), within="workflow_runs"))
    newest: dict[str, Check] = {}
    for run in sorted(runs, key=lambda run: run.id):
        url = api.of(project, f"/actions/runs/{run.id}/jobs", per_page=PER_PAGE)
        jobs = await api.list(Listing(url, parse_job, key=lambda raw: field.number(raw, "id"), within="jobs"))
        for job in jobs or (Check(run.name, run.state, "check_run", app=APP),):
            before = newest.get(job.name)
            if before is None or (before.job_id or 0) <= (job.job_id or 0):
                newest[job.name] = job
    return tuple(newest.values())
