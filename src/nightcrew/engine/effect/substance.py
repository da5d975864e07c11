"""Whether an author that says it is done has changed anything that counts. What cannot be found out counts."""

from nightcrew.core.errors import PortError
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import Sha
from nightcrew.core.model.report import AuthorReport, Report, ReportedOutcome
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task
from nightcrew.core.policy.substance import find_notes, is_asked_for
from nightcrew.engine.effect.means import Means
from nightcrew.ports.workspace import Left

_DIFF_LIMIT = 200_000


async def find_nothing(means: Means, run: Run, *, report: Report | None, left: Left | None) -> Failure | None:
    """The failure of a run that is done and left nothing to publish: no commit, an empty one, or only notes."""
    if left is None or not isinstance(report, AuthorReport) or report.outcome is not ReportedOutcome.DONE:
        return None
    try:
        task = await means.task(run.task)
        published = await _published(means, task)
        if published is None:
            return None
        if published == left.head_sha:
            return Failure(FailureKind.NO_CHANGES, "said that it is done, and changed nothing")
        if task.conflict is not None:
            return None  # what it merged was written by others
        notes = await _only_notes(means, task, base=published, head=left.head_sha)
    except PortError:
        return None
    if notes is None:
        return None
    what = f"wrote only {', '.join(notes)}" if notes else "its commits change nothing"
    return Failure(FailureKind.NO_CHANGES, f"said that it is done, and {what}")


async def _published(means: Means, task: Task) -> Sha | None:
    """What the branch had before: the pull request's head as last fetched, else where the branch began."""
    if task.pull is None:
        return task.started_from
    return await means.ports.workspace.find_branch(task.key.project, task.branch)


async def _only_notes(means: Means, task: Task, *, base: Sha, head: Sha) -> tuple[str, ...] | None:
    workspace, slug = means.ports.workspace, task.key.project
    diff = await workspace.load_diff(slug, base=base, head=head, limit=_DIFF_LIMIT)
    notes = find_notes(diff) if len(diff) < _DIFF_LIMIT else None
    if not notes:
        return notes
    for path in notes:
        if await workspace.find_file(slug, base, path, limit=1) is not None:
            return None
    issue = await means.forge(task.key).tracker.fetch_issue(slug, task.key.number)
    return None if any(is_asked_for(path, issue.title, issue.body) for path in notes) else notes
