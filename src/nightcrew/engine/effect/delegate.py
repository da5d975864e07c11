"""Making sub-tasks: each is one issue, found by its mark before it is filed, shown as a sub-issue of its parent where
the forge can, and written into its parent's row. An internal task has internal ones, recorded with its row."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from nightcrew.core.actions import ActionOutcome, Done, FileSubTasks, Refused
from nightcrew.core.errors import Conflict, Denied, Invalid, Missing, OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import Delegated, DelegationState, SubTask
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask, Pins
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.settings import Intake
from nightcrew.core.model.task import Task
from nightcrew.core.sub_task import parse_depth, render_body, render_title
from nightcrew.engine.effect.filing import INTAKE_LABEL, file_marked
from nightcrew.engine.effect.internal import NewTask, draft_internal
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.status import label_moved
from nightcrew.engine.journal import look_for


async def file_sub_tasks(means: Means, action: FileSubTasks) -> ActionOutcome:
    """One after the other; what is there already is only gone on from."""
    key, task = action.task, await means.task(action.task)
    if task.delegated is None or task.delegated.state is not DelegationState.ACCEPTED:
        return Refused("it has no sub-tasks to be made")
    if task.status not in (Status.NEW, Status.ROUTED):
        return Refused(f"its status is {task.status.value} by now")
    moved = await label_moved(means, task)
    if moved:
        return Refused(moved)
    parent = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    if not parent.is_open:
        return Refused("its issue is closed")
    for place in range(len(task.delegated.parts)):
        task = await _have(means, task, place, parent)
        if not key.is_internal:
            task = await _link(means, task, place)
    event = means.event("task.delegated", f"it waits for {len(_numbers(task))} sub-tasks", task=key)
    await means.ports.store.update_task(
        key, lambda stored: _changed(stored, lambda handed: replace(handed, state=DelegationState.FILED)), event=event
    )
    means.observer.expire(key.project)
    return Done()


async def _have(means: Means, task: Task, place: int, parent: Issue) -> Task:
    """The parent's row with this one made."""
    part = _part(task, place)
    if part.number is not None:
        return task
    run = await means.run(part.run)
    numbers = _numbers(task)
    body = means.ports.mask(
        render_body(
            part,
            depth=parse_depth(parent.body) + 1,
            parent=task.key.number,
            agent=run.agent,
            needs=tuple(numbers[need] for need in part.what.needs if need in numbers),
        )
    )
    title = means.ports.mask(render_title(part.what))
    if task.key.is_internal:
        await _record_internal(means, task, part, title=title, body=body)
    else:
        issue = await _file(means, task, part, parent, title=title, body=body, since=run.created_at)
        event = means.event("sub_task.filed", f"#{issue.number} is a sub-task", task=task.key, issue=issue.number)
        await means.ports.store.update_task(task.key, _with(place, number=issue.number), event=event)
    return await means.task(task.key)


async def _file(
    means: Means, task: Task, part: SubTask, parent: Issue, *, title: str, body: str, since: datetime
) -> Issue:
    key, settings = task.key, means.project(task.key)
    wanted = () if settings.intake is Intake.ALL else (settings.intake_label,)
    if wanted:
        await means.forge(key).tracker.ensure_labels(key.project, {settings.intake_label: INTAKE_LABEL})
    pins = Pins(part.what.agent, "", part.what.complexity).labels
    urgency = tuple(label for label in parent.labels if label.lower().startswith("priority:"))
    labels = tuple(dict.fromkeys((*wanted, *pins, *part.what.labels, *urgency)))
    return await file_marked(means, key, title=title, body=body, labels=labels, since=since)


async def _record_internal(means: Means, task: Task, part: SubTask, *, title: str, body: str) -> None:
    """With the parent's row in one transaction, so that there is no more than one."""
    new = NewTask(
        title=title,
        body=body,
        why=f"{task.key} hands it over",
        pins=Pins(part.what.agent, "", part.what.complexity),
        priority=task.priority,
    )

    def draft(key: TaskKey) -> tuple[Task, InternalTask, Event]:
        return draft_internal(means, key, new)

    await means.ports.store.record_internal(
        task.key.project,
        draft,
        beside=lambda key: (task.key, _with(part.place, number=key.number)),
    )


async def _link(means: Means, task: Task, place: int) -> Task:
    """The parent's row, once the forge shows this one as a sub-issue, or says that it does not."""
    part, key = _part(task, place), task.key
    if part.number is None or part.linked is not None:
        return task
    number = part.number
    tracker = means.forge(key).tracker

    async def find() -> bool | None:
        children = await tracker.list_children(key.project, key.number)
        return True if TaskKey(key.project, number) in [child.key for child in children] else None

    words = ""
    try:
        if await find() is None:
            await means.journal.effect(
                "issue.link",
                subject(key),
                lambda: tracker.add_child(key.project, key.number, number),
                detail=f"#{number}",
            )
    except OutcomeUnknown as error:
        await look_for(error, find)
    except (Missing, Invalid, Denied, Conflict) as error:
        words = f"#{number} is not shown as a sub-issue: {error}"
    event = means.event("sub_task.not_linked", words, task=key, issue=number) if words else None
    await means.ports.store.update_task(key, _with(place, linked=not words), event=event)
    return await means.task(key)


def _part(task: Task, place: int) -> SubTask:
    if task.delegated is None:
        raise Missing(f"{task.key} hands nothing over any more")
    return task.delegated.parts[place]


def _numbers(task: Task) -> dict[int, int]:
    parts = task.delegated.parts if task.delegated is not None else ()
    return {part.place: part.number for part in parts if part.number is not None}


def _with(place: int, *, number: int | None = None, linked: bool | None = None) -> Callable[[Task], Task]:
    """The change of one part of a task's row: what is given."""

    def change(part: SubTask) -> SubTask:
        if part.place != place:
            return part
        made = part.number if number is None else number
        return replace(part, number=made, linked=part.linked if linked is None else linked)

    return lambda stored: _changed(stored, lambda handed: replace(handed, parts=tuple(map(change, handed.parts))))


def _changed(stored: Task, change: Callable[[Delegated], Delegated]) -> Task:
    return stored if stored.delegated is None else replace(stored, delegated=change(stored.delegated))
