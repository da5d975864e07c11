"""Merging: the gate once more on a fresh observation, then the merge call, pinned to the SHA."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, MergePull, OutcomeOpen, Refused
from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import Merged, MergeRefused, PullView
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.merging import GateView, evaluate
from nightcrew.core.words import render_merge_message, render_merge_title
from nightcrew.engine.effect.means import Means, subject


async def merge_pull(means: Means, action: MergePull) -> ActionOutcome:
    """Merge exactly `head_sha`, if the gate is open now as well."""
    key = action.task
    view, pull, labels = await _look_again(means, action)
    if pull is None:
        return Refused("the pull request could not be read")
    if pull.pull.head_sha != action.head_sha or view.task.status is not Status.IN_REVIEW:
        return Refused("the head or the status has moved")
    gate = evaluate(GateView(view, pull, means.project(key), labels))
    if not gate.is_open:
        return Refused(gate.words)
    title, message = await _texts(means, view, action)
    scm, method = means.forge(key).scm, means.project(key).merge.method
    try:
        answer = await means.journal.effect(
            "pull.merge",
            subject(key),
            lambda: scm.merge_pull(
                key.project, action.pull, sha=action.head_sha, method=method, title=title, message=message
            ),
            detail=str(action.head_sha),
        )
    except OutcomeUnknown as error:
        return OutcomeOpen(str(error))
    match answer:
        case Merged(sha):
            event = means.event("pull.merged", action.why, task=key, pull=action.pull, head=action.head_sha, merge=sha)
            await means.ports.store.update_task(key, lambda stored: replace(stored, merge_sha=sha), event=event)
            return Done()
        case MergeRefused(why):
            return Refused(f"the forge refused the merge: {why}")


async def _look_again(means: Means, action: MergePull) -> tuple[TaskView, PullView | None, tuple[str, ...]]:
    key, store = action.task, means.ports.store
    task = await means.task(key)
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    observed = await means.observer.pulls_of(key.project).read(task)
    view = TaskView(
        task=task,
        issue=Unknown("not asked"),
        pull=observed,
        runs=await store.load_runs(task=key),
        verdicts=await store.load_verdicts(task=key),
    )
    labels = issue.labels if issue.is_open else (*issue.labels, *means.project(key).merge.hold_labels)
    return view, None if isinstance(observed, Unknown) else observed.value, labels


async def _texts(means: Means, view: TaskView, action: MergePull) -> tuple[str, str]:
    key = action.task
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    author = _last_author(view)
    verdict = view.verdict_for(action.head_sha)
    report = author.outcome.report if author and author.outcome else None
    message = render_merge_message(
        report if isinstance(report, AuthorReport) else None,
        author=author.agent if author else "unknown",
        reviewer=verdict.agent if verdict else "unknown",
        head_sha=action.head_sha,
        trailers=means.project(key).commit.trailers,
    )
    return render_merge_title(issue, action.pull), message


def _last_author(view: TaskView) -> Run | None:
    return view.last(Role.AUTHOR)
