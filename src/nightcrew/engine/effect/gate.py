"""The gate once more, on a fresh observation, before anything is merged; and what the merge is to say."""

from dataclasses import dataclass

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Observed, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.merging import GateView, evaluate
from nightcrew.core.policy.reacting import said_since, why_unread
from nightcrew.core.words import render_merge_message, render_merge_title
from nightcrew.engine.effect.means import Means


@dataclass(frozen=True, slots=True)
class Sighting:
    """A task as it is now: its record, its pull request (None if it could not be read) and its issue."""

    view: TaskView
    pull: PullView | None
    issue: Issue


async def look_again(means: Means, key: TaskKey) -> Sighting:
    """Read a task, its pull request and its issue anew."""
    task = await means.task(key)
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    observed = await means.observer.pulls_of(key.project).read(task)
    view = await load_view(means, task, observed)
    return Sighting(view, None if isinstance(observed, Unknown) else observed.value, issue)


async def load_view(means: Means, task: Task, pull: Observed[PullView | None]) -> TaskView:
    """What is on record of a task."""
    key, store = task.key, means.ports.store
    return TaskView(
        task=task,
        issue=Unknown("not asked"),
        pull=pull,
        runs=await store.load_runs(task=key),
        verdicts=await store.load_verdicts(task=key),
        delivered=(await store.load_deliveries()).get(key, frozenset()),
        sayings=tuple(saying for saying in (await store.load_sayings(task=key)).get(key, ()) if saying.is_open),
    )


def why_not_merged(means: Means, seen: Sighting, head_sha: Sha) -> str:
    """Why exactly this head must not be merged now; empty if it may."""
    view, pull, issue = seen.view, seen.pull, seen.issue
    project = means.project(view.task.key)
    others = [status for status in parse_status_labels(issue.labels) if status is not view.task.status]
    if not issue.is_open or others:
        return f"the issue says {others[0].value} by now" if others else "the issue is closed by now"
    if pull is None:
        return "the pull request could not be read"
    if pull.pull.head_sha != head_sha or view.task.status is not Status.IN_REVIEW:
        return "the head or the status has moved"
    gate = evaluate(GateView(view, pull, project, issue.labels))
    if not gate.is_open:
        return gate.words
    if why_unread(pull, project) or said_since(view, pull, project):
        return "somebody has said something about it since, or what was said could not be read"
    if means.is_outdated(view.task.key):
        return "the settings of its project have changed meanwhile"
    return ""


def merge_texts(means: Means, view: TaskView, issue: Issue, *, pull: int, head_sha: Sha) -> tuple[str, str]:
    """Title and body of the commit that merges a head."""
    author = view.last(Role.AUTHOR)
    verdict = view.verdict_for(head_sha)
    report = author.outcome.report if author and author.outcome else None
    message = render_merge_message(
        report if isinstance(report, AuthorReport) else None,
        author=author.agent if author else "unknown",
        reviewer=verdict.agent if verdict else "unknown",
        head_sha=head_sha,
        trailers=means.project(view.task.key).commit.trailers,
    )
    return render_merge_title(issue, pull), message
