"""Check runs (made by Apps, GitHub Actions among them), and their join with commit statuses."""

import re
from dataclasses import dataclass, replace

from nightcrew.core.errors import Denied, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.forges.github import field, status
from nightcrew.forges.github.api import Api, segment
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.job import APP, list_jobs, parse_state, render_mark
from nightcrew.forges.github.page import PER_PAGE, Listing

SUMMARY_AT_MOST = 8000
MOST_ANNOTATED, MOST_ANNOTATIONS, ANNOTATION_AT_MOST = 20, 20, 1000
_JOB = re.compile(r"/job/([0-9]+)(?:[/?#]|\Z)")


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run with the number that tells which is newer."""

    id: int
    check: Check
    annotations: int = 0


def parse_check_run(raw: Json) -> CheckRun:
    number = field.number(raw, "id")
    app = field.text(field.child(raw, "app"), "slug")
    output = field.child(raw, "output")
    parts = (field.text(output, name).strip() for name in ("title", "summary", "text"))
    job = _JOB.search(field.text(raw, "details_url")) or _JOB.search(field.text(raw, "html_url"))
    return CheckRun(
        number,
        Check(
            name=field.text(raw, "name"),
            state=parse_state(raw),
            source="check_run",
            summary="\n\n".join(part for part in parts if part)[:SUMMARY_AT_MOST],
            url=field.text(raw, "html_url") or field.text(raw, "details_url"),
            app=app,
            # The check run that Actions makes for a job has the number of the job.
            job_id=int(job[1]) if job else number if app == APP else None,
            run_id=number,
            mark=render_mark(raw),
        ),
        annotations=_count(output),
    )


async def list_runs(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    """The newest of each name and app. All runs are asked for and the newest is chosen here, by number: the forge's own
    choice of the latest goes by the time of completion, where a late old success hides a newer failure."""
    url = api.of(project, f"/commits/{segment(sha)}/check-runs", filter="all", per_page=PER_PAGE)
    listing = Listing(url, parse_check_run, key=lambda raw: field.number(raw, "id"), within="check_runs")
    runs = await api.list(listing)
    newest: dict[tuple[str, str], CheckRun] = {}
    for run in runs:
        key = (run.check.name, run.check.app)
        if key not in newest or run.id > newest[key].id:
            newest[key] = run
    annotated = [run for run in newest.values() if run.annotations and run.check.state is CheckState.FAILURE]
    told = {run.id: await _list_annotations(api, project, run) for run in annotated[:MOST_ANNOTATED]}
    return tuple(replace(run.check, annotations=told.get(run.id, ())) for run in newest.values())


async def _list_annotations(api: Api, project: str, run: CheckRun) -> tuple[str, ...]:
    """The first ones, as text; none where they may not be read."""
    url = api.of(project, f"/check-runs/{run.id}/annotations", per_page=PER_PAGE)
    listing = Listing(url, parse_annotation, key=lambda raw: (field.text(raw, "path"), str(raw.get("start_line"))))
    try:
        return (await api.list(listing))[:MOST_ANNOTATIONS]
    except (Denied, Missing):
        return ()


def parse_annotation(raw: Json) -> str | None:
    """Failures and warnings; a notice says nothing about why a check failed."""
    if field.text(raw, "annotation_level") == "notice":
        return None
    line = raw.get("start_line")
    place = field.text(raw, "path") + (f":{line}" if isinstance(line, int) else "")
    title, message = field.text(raw, "title").strip(), field.text(raw, "message").strip()
    said = f"{title}: {message}" if title and message else title or message
    return f"{place}: {said}"[:ANNOTATION_AT_MOST]


def _count(output: Json) -> int:
    count = output.get("annotations_count")
    return count if isinstance(count, int) else 0


async def list_joined(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    """Check runs and statuses; a name that is in both systems is told twice, since both must pass. A token that may not
    read check runs (fine-grained ones cannot) is told of jobs in their place, and that there may be more."""
    checks = (*await _list_runs_or_jobs(api, project, sha), *await status.list_newest(api, project, sha))
    return api.memory.settle(api.of(project, f"#checks/{sha}"), checks)


async def _list_runs_or_jobs(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    if api.is_shut(project, "checks"):
        return await list_jobs(api, project, sha)
    try:
        return await list_runs(api, project, sha)
    except Denied:
        # A refusal is counted each time, so it is not asked for again for a while.
        api.shut(project, "checks")
        return await list_jobs(api, project, sha)
