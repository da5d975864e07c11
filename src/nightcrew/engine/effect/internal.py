"""Internal tasks: recording one, keeping what its agent found out, and making an issue of it."""

from dataclasses import dataclass, replace

from nightcrew.core.branch import branch_name
from nightcrew.core.errors import Conflict
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import NO_PINS, InternalTask, Pins, TaskKind
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.report import AuthorReport, Report, ReportedOutcome
from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import Intake
from nightcrew.core.model.task import Task
from nightcrew.core.words import BODY_LIMIT, render_published
from nightcrew.engine.effect.ending import read_answer
from nightcrew.engine.effect.filing import INTAKE_LABEL, file_marked
from nightcrew.engine.effect.means import Means, subject

_AT_REST = (Status.NEW, Status.ROUTED, Status.BLOCKED, Status.DONE)


@dataclass(frozen=True, slots=True)
class NewTask:
    """An internal task that is asked for. `why` says by whom."""

    title: str
    body: str
    why: str
    kind: TaskKind = TaskKind.CHANGE
    pins: Pins = NO_PINS
    job: str = ""
    priority: int = 50


def draft_internal(means: Means, key: TaskKey, new: NewTask) -> tuple[Task, InternalTask, Event]:
    """The task as it is recorded."""
    now = means.ports.clock.now()
    task = Task(
        key=key,
        title=new.title,
        status=Status.NEW,
        created_at=now,
        updated_at=now,
        priority=new.priority,
        branch=branch_name(key.number, new.title),
        adopted_at=now,
    )
    internal = InternalTask(key, new.kind, str(means.ports.ids.run_id()), new.body, new.pins, new.job)
    return task, internal, means.event("task.added", new.why, task=key, title=new.title, wants=new.kind.value)


async def add_internal(means: Means, project: str, new: NewTask) -> TaskKey:
    """Record it; everything else follows as for any other task."""
    return await means.ports.store.record_internal(project, lambda key: draft_internal(means, key, new))


async def keep_result(means: Means, run: Run, report: Report | None) -> bool:
    """Keep what the author of a report found out. Whether one was asked for, and it is done."""
    if not run.task.is_internal or not isinstance(report, AuthorReport) or report.outcome is not ReportedOutcome.DONE:
        return False
    store = means.ports.store
    internal = await store.find_internal(run.task)
    if internal is None or not internal.is_report:
        return False
    written = read_answer(means.folder(run))
    # A turn that only answers what a person said leaves what was written before.
    before = internal.result if run.hears and not written else ""
    said = written or report.summary
    text = means.ports.mask(f"{before}\n\n{said}" if before and said not in before else before or said)
    await store.change_internal(run.task, lambda stored: replace(stored, result=text))
    return True


async def _is_part(means: Means, task: Task) -> bool:
    """Whether it waits for sub-tasks, or another for it: that would be left waiting for nothing, or not wait at all."""
    if task.delegated is not None and task.delegated.waited_for:
        return True
    others = await means.ports.store.load_tasks(project=task.key.project)
    parts = (part for other in others if other.delegated is not None for part in other.delegated.waited_for)
    return any(part.number == task.key.number for part in parts)


async def publish_internal(means: Means, key: TaskKey) -> tuple[Issue, bool]:
    """The issue that is made of an internal task, and whether it was made just now. Work that has not begun goes on
    there; of a report that is written, people read there. Asked for twice, or cut short, it comes to one issue: it is
    looked for by its mark before another is filed. Conflict if the task is at work, or under review."""
    store = means.ports.store
    task, internal = await means.task(key), await store.find_internal(key)
    if internal is None:
        raise Conflict(f"{key} is an issue already")
    tracker = means.ports.forge_of(means.settings, key.project).tracker
    if internal.issue is not None:
        return await tracker.fetch_issue(key.project, internal.issue), False
    if task.pull is not None:
        raise Conflict(f"{key} has pull request #{task.pull}, by which it ends; only one without can be published")
    if task.status not in _AT_REST or await store.load_runs(task=key, open_only=True):
        raise Conflict(f"{key} is at work; it can be published before that, or when it is over")
    is_over = task.status is Status.DONE
    if not is_over and await _is_part(means, task):
        raise Conflict(f"{key} has sub-tasks, or is one that is waited for; it can be published when it is over")
    settings = means.project(key)
    labels = () if is_over or settings.intake is Intake.ALL else (settings.intake_label,)
    if labels:
        await tracker.ensure_labels(key.project, {settings.intake_label: INTAKE_LABEL})
    body = means.ports.mask(render_published(internal, BODY_LIMIT))
    title, labels = means.ports.mask(task.title), (*labels, *internal.pins.labels)
    issue = await file_marked(means, key, title=title, body=body, labels=labels, since=task.created_at)
    event = means.event("task.published", f"it is issue #{issue.number} now", task=key, issue=issue.number)
    await store.change_internal(key, lambda stored: replace(stored, issue=issue.number), event=event)
    if not is_over:
        await means.journal.effect(
            "issue.close",
            subject(key),
            lambda: means.forge(key).tracker.set_issue_open(key.project, key.number, is_open=False),
        )
    return issue, True
