"""Merging: the gate once more on a fresh observation, then the merge call, pinned to the SHA."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, MergePull, OutcomeOpen, Refused
from nightcrew.core.errors import Conflict, Denied, OutcomeUnknown
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.holdup import Holdup, HoldupKind, with_holdup
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import MergeRefused, PullView
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import MergeMethod
from nightcrew.core.model.world import TaskView
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.merging import GateView, choose_method, evaluate
from nightcrew.core.policy.reacting import said_since, why_unread
from nightcrew.core.policy.refusing import print_of
from nightcrew.core.words import render_merge_message, render_merge_title
from nightcrew.engine.effect.means import Means, subject


class _NotMerged(Conflict):
    """The forge said no."""

    def __init__(self, refused: MergeRefused) -> None:
        super().__init__(f"the forge refused the merge: {refused.why}")
        self.refused = refused


async def merge_pull(means: Means, action: MergePull) -> ActionOutcome:
    """Merge exactly `head_sha`, if the gate is open now as well."""
    key = action.task
    view, pull, issue = await _look_again(means, action)
    others = [status for status in parse_status_labels(issue.labels) if status is not view.task.status]
    if not issue.is_open or others:
        return Refused(f"the issue says {others[0].value} by now" if others else "the issue is closed by now")
    if pull is None:
        return Refused("the pull request could not be read")
    if pull.pull.head_sha != action.head_sha or view.task.status is not Status.IN_REVIEW:
        return Refused("the head or the status has moved")
    gate = evaluate(GateView(view, pull, means.project(key), issue.labels))
    if not gate.is_open:
        return Refused(gate.words)
    if why_unread(pull, means.project(key)) or said_since(view, pull, means.project(key)):
        return Refused("somebody has said something about it since, or what was said could not be read")
    if means.is_outdated(key):
        return Refused("the settings of its project have changed meanwhile")
    title, message = _texts(means, view, action, issue)
    scm, method = means.forge(key).scm, _method(means, key, pull)

    async def merge() -> Sha:
        answer = await scm.merge_pull(
            key.project, action.pull, sha=action.head_sha, method=method, title=title, message=message
        )
        if isinstance(answer, MergeRefused):
            # An answer like any other to the forge's client; in the journal it is an effect that was not made.
            raise _NotMerged(answer)
        return answer.sha

    try:
        sha = await means.journal.effect("pull.merge", subject(key), merge, detail=str(action.head_sha))
    except OutcomeUnknown as error:
        return OutcomeOpen(str(error))
    except _NotMerged as error:
        await _note_refusal(means, action, pull, error.refused)
        return Refused(str(error))
    except Denied as error:
        await _note_refusal(means, action, pull, MergeRefused(str(error), RefusalKind.DENIED))
        return Refused(f"the forge refused the merge: {error}")
    event = means.event("pull.merged", action.why, task=key, pull=action.pull, head=action.head_sha, merge=sha)
    await means.ports.store.update_task(key, lambda stored: replace(stored, merge_sha=sha), event=event)
    return Done()


def _method(means: Means, key: TaskKey, pull: PullView) -> MergeMethod:
    """The way that the gate found allowed."""
    project = means.project(key)
    left = pull.required.value.methods if isinstance(pull.required, Known) else frozenset(MergeMethod)
    return choose_method(project, left) or project.merge.method


async def _note_refusal(means: Means, action: MergePull, pull: PullView, refused: MergeRefused) -> None:
    """Kept with how often, so that the tries stay few over restarts as well."""
    now, words = means.ports.clock.now(), one_line(means.ports.mask(refused.why), 500)
    holdup = Holdup(
        action.pull, action.head_sha, HoldupKind.REFUSED, now, now,
        reason=refused.kind.value, words=words, seen=print_of(pull),
    )  # fmt: skip
    event = means.event("merge.refused", words, task=action.task, pull=action.pull, reason=refused.kind.value)
    await means.ports.store.update_task(
        action.task, lambda stored: replace(stored, holdups=with_holdup(stored.holdups, holdup)), event=event
    )
    if refused.kind is RefusalKind.METHOD:
        means.observer.forget_repository(action.task.project)


async def _look_again(means: Means, action: MergePull) -> tuple[TaskView, PullView | None, Issue]:
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
        delivered=(await store.load_deliveries()).get(key, frozenset()),
    )
    return view, None if isinstance(observed, Unknown) else observed.value, issue


def _texts(means: Means, view: TaskView, action: MergePull, issue: Issue) -> tuple[str, str]:
    author = view.last(Role.AUTHOR)
    verdict = view.verdict_for(action.head_sha)
    report = author.outcome.report if author and author.outcome else None
    message = render_merge_message(
        report if isinstance(report, AuthorReport) else None,
        author=author.agent if author else "unknown",
        reviewer=verdict.agent if verdict else "unknown",
        head_sha=action.head_sha,
        trailers=means.project(action.task).commit.trailers,
    )
    return render_merge_title(issue, action.pull), message
