"""The built-in job `daily-review`: the report of the last day as a file, an agent's comment on it, and issues about
what came again and again, up to a cap."""

from dataclasses import replace
from datetime import timedelta

from nightcrew.core.action.job import StartJob
from nightcrew.core.day import Day, Finding, find_findings, render_day
from nightcrew.core.errors import OutcomeUnknown, PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.job import DailyReview, JobRun, JobState
from nightcrew.core.model.pin import TaskKind
from nightcrew.core.neutral import one_line
from nightcrew.core.words import render_finding
from nightcrew.engine.day import load_day
from nightcrew.engine.effect.filing import file_marked
from nightcrew.engine.effect.internal import NewTask
from nightcrew.engine.effect.means import Means
from nightcrew.engine.naming import safe_project

_ASKED = (
    "Below is the report of what Nightcrew did here in the last day. Comment on it for the person who runs it: what "
    "went wrong that they can put right, which agent or model does badly at what, and what should change. Be brief, "
    "and say only what the report and the repository bear out."
)
_AGAIN = timedelta(days=30)
"""How long an issue about the same thing is not filed again."""


async def write_review(means: Means, action: StartJob, run: JobRun) -> tuple[JobRun, NewTask | None]:
    """What came of it, and the comment that is to be asked for. Its text is kept as the output of the job. Written once
    more after a crash, it files nothing a second time."""
    review = action.job.review or DailyReview()
    ports, slug = means.ports, action.project
    day = await load_day(ports.store, ports.clock, days=1, project=slug)
    text = ports.mask(render_day(day))
    path = ports.home / "reports" / safe_project(slug) / f"{action.due_at:%Y%m%dT%H%M%S}.md"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8", errors="replace")
    filed, trouble = list[Issue](), ""
    try:
        filed = await _file(means, slug, day, review.issues)
    except OutcomeUnknown:
        raise
    except PortError as error:
        trouble = one_line(str(error), 300)  # the report is worth keeping all the same
    words = f"{sum(merged for _, merged in day.finished)} merged, {len(day.runs)} runs ended"
    if filed:
        words += ", see " + ", ".join(f"#{issue.number}" for issue in filed)
    if trouble:
        words += f"; issues could not be filed: {trouble}"
    ended = replace(run, state=JobState.DONE, words=words, log=str(path.relative_to(ports.home)))
    if not review.comment:
        return ended, None
    new = NewTask(
        title=f"Comment on the report of {action.due_at:%Y-%m-%d}",
        body=f"{_ASKED}\n\n{text}",
        why=f"the job {action.job.name} asked for it",
        kind=TaskKind.REPORT,
        pins=action.job.pins,
        job=action.job.name,
    )
    return ended, new


async def _file(means: Means, slug: str, day: Day, most: int) -> list[Issue]:
    """Issues about what came again and again; one that is there already is not filed again, and counts."""
    return [await _file_one(means, slug, finding, day) for finding in find_findings(day)[:most]]


async def _file_one(means: Means, slug: str, finding: Finding, day: Day) -> Issue:
    title, body = means.ports.mask(finding.title), means.ports.mask(render_finding(finding.key, finding.text))
    return await file_marked(means, TaskKey(slug, 0), title=title, body=body, labels=(), since=day.until_at - _AGAIN)
