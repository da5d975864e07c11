"""Check runs (made by Apps, GitHub Actions among them), and their join with commit statuses."""

import re
from dataclasses import dataclass

from nightcrew.core.errors import Denied
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.forges.github import field, status
from nightcrew.forges.github.api import Api, segment
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing

SUMMARY_AT_MOST = 8000
_ACTIONS = "github-actions"
_JOB = re.compile(r"/job/([0-9]+)(?:[/?#]|\Z)")
_CONCLUSIONS = {
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
class CheckRun:
    """A check run with the number that tells which is newer."""

    id: int
    check: Check


def parse_check_run(raw: Json) -> CheckRun:
    """A conclusion that is not known, or none, counts as pending: it is no success and no failure."""
    conclusion = field.text(raw, "conclusion") if field.text(raw, "status") == "completed" else ""
    number = field.number(raw, "id")
    app = field.text(field.child(raw, "app"), "slug")
    output = field.child(raw, "output")
    parts = (field.text(output, name).strip() for name in ("title", "summary", "text"))
    job = _JOB.search(field.text(raw, "details_url")) or _JOB.search(field.text(raw, "html_url"))
    return CheckRun(
        number,
        Check(
            name=field.text(raw, "name"),
            state=_CONCLUSIONS.get(conclusion, CheckState.PENDING),
            source="check_run",
            summary="\n\n".join(part for part in parts if part)[:SUMMARY_AT_MOST],
            url=field.text(raw, "html_url") or field.text(raw, "details_url"),
            app=app,
            # The check run that Actions makes for a job has the number of the job.
            job_id=int(job[1]) if job else number if app == _ACTIONS else None,
        ),
    )


async def list_runs(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    """The newest of each name and app. All runs are asked for and the newest is chosen here, by number: the forge's own
    choice of the latest goes by the time of completion, where a late old success hides a newer failure."""
    url = api.of(project, f"/commits/{segment(sha)}/check-runs", filter="all", per_page=PER_PAGE)
    listing = Listing(url, parse_check_run, key=lambda raw: field.number(raw, "id"), within="check_runs")
    try:
        runs = await api.list(listing)
    except Denied as error:
        raise Denied(
            f"check runs of {project} cannot be read with this token ({error}); fine-grained tokens have no such"
            " permission: use a classic token or a GitHub App",
            needed=error.needed or "checks=read",
        ) from error
    newest: dict[tuple[str, str], CheckRun] = {}
    for run in runs:
        key = (run.check.name, run.check.app)
        if key not in newest or run.id > newest[key].id:
            newest[key] = run
    return tuple(run.check for run in newest.values())


async def list_joined(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    """Check runs and statuses; a name that is in both systems is told twice, since both must pass."""
    checks = (*await list_runs(api, project, sha), *await status.list_newest(api, project, sha))
    return api.memory.settle(api.of(project, f"#checks/{sha}"), checks)
