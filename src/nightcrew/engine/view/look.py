"""One look at a project: what is due to be read of it is read into its memory."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime

from nightcrew.core.errors import HeldBack, PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.dependency import Dependency
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.quota import Pace
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Task
from nightcrew.engine.view.comment import KEPT
from nightcrew.engine.view.dependency import waits
from nightcrew.engine.view.flight import seen_pull
from nightcrew.engine.view.memory import ProjectMemory
from nightcrew.engine.view.record import Records
from nightcrew.engine.view.sight import TaskSight, is_in_work, is_over, is_untold, needs_care
from nightcrew.ports.clock import Clock
from nightcrew.ports.purpose import Purpose, serving

PROJECT_TIMEOUT_S = 120.0


async def look_at(
    memory: ProjectMemory, records: Records, *, dirty: frozenset[TaskKey], clock: Clock, settings: Settings
) -> None:
    """Read one project: all of it when that is due, else the tasks that are `dirty` or were never read, and those whose
    pull request in flight has news. It never raises: what goes wrong is the project's problem, in words."""
    now, tempo = clock.monotonic(), memory.tempo
    lists, asked = tempo.are_lists_due(settings, now), tempo.asked
    tasks = [task for task in records.tasks.values() if task.key.project == memory.configured.slug]
    due = _Due(lists, lists or tempo.is_work_due(settings, now), dirty, now)
    try:
        async with asyncio.timeout(PROJECT_TIMEOUT_S):
            if due.work:
                due = await _read_project(memory, records, tasks, due=due, wall=clock.now())
                tempo.note_lists(now, asked) if due.lists else tempo.note_work(now)
            await _read_tasks(memory, tasks, due)
            await _watch_flights(memory, tasks, due, settings)
            await _read_builds(memory, records, due, settings)
            if due.work:
                memory.landings = await memory.pulls.read_landings(tasks)
            if due.lists or dirty:
                numbers = (task.key.number for task in tasks)
                left = memory.claims.left(memory.settings)
                memory.candidates = await memory.issues.candidates(memory.settings, numbers, left=left)
        if due.lists:
            memory.is_first = False
        if due.work:
            memory.problem = ""  # a look that reads no list cannot tell that it is readable again
    except HeldBack as held:
        memory.held = str(held)
        tempo.note_lists(now, asked)
    except (PortError, TimeoutError) as error:
        _give_up(memory, str(error) or "it did not answer in time", due, asked)
    except Exception as error:  # noqa: BLE001 - one project's boundary: it must not end the look at the others
        _give_up(memory, f"a bug while reading it: {error!r}", due, asked)


@dataclass(frozen=True, slots=True)
class _Due:
    """What is read in one look: the lists with all tasks, or at least the tasks at work; and those that are dirty."""

    lists: bool
    work: bool
    dirty: frozenset[TaskKey]
    now: float


def _give_up(memory: ProjectMemory, words: str, due: _Due, asked: int) -> None:
    memory.problem = words
    memory.tempo.note_lists(due.now, asked)
    memory.sights.clear()  # what was seen long ago is not what is


async def _read_project(
    memory: ProjectMemory, records: Records, tasks: list[Task], *, due: _Due, wall: datetime
) -> _Due:
    """The project as a whole. Where it has tasks, what they need of it is read for them, what people said with it; its
    lists are polling. What is really due after that: where polling has to wait, only the tasks at work are."""
    before = (memory.facts, memory.issues.newest_at)
    has_tasks = any(not is_over(task) for task in tasks)
    if not due.lists and not has_tasks:
        return due
    with serving(Purpose.WORK if has_tasks else Purpose.POLLING):
        memory.facts = await memory.reader.read(memory.facts)
    if due.lists:
        try:
            with serving(Purpose.POLLING):
                await memory.issues.refresh()
                others_at_work = _others_at_work(memory, tasks)
                await memory.claims.refresh(memory.settings, others_at_work=others_at_work)
        except HeldBack as held:
            memory.held = str(held)
            due = replace(due, lists=False)
    kept = records.values.get(f"{KEPT}.{memory.configured.slug}")
    if due.lists or kept or not memory.is_first:
        with serving(Purpose.WORK if has_tasks else Purpose.POLLING):
            await memory.comments.refresh(kept, records.commands, now=wall)
    if due.lists:
        memory.held = ""
    if has_tasks or before != (memory.facts, memory.issues.newest_at):
        memory.tempo.note_news(due.now)
    return due


async def _read_builds(memory: ProjectMemory, records: Records, due: _Due, settings: Settings) -> None:
    """The open builds of the merge queue: with the tasks at work, after whatever was done, and as pull requests in
    flight are, since their checks run."""
    builds = [build for build in records.open_builds if build.project == memory.configured.slug]
    is_due = memory.queue.is_due(builds, due.now, settings=settings, pace=memory.tempo.pace.pace)
    if due.work or due.dirty or is_due:
        with serving(Purpose.WORK):
            memory.builds = await memory.queue.read(builds, due.now)


async def _read_tasks(memory: ProjectMemory, tasks: list[Task], due: _Due) -> None:
    listed, first = memory.issues.memory.issues, memory.is_first
    held = bool(memory.held) or memory.tempo.pace.pace is Pace.STOPPED
    async with asyncio.TaskGroup() as group:
        for task in tasks:
            key, issue = task.key, listed.get(task.key.number)
            is_asked, is_dirty = memory.comments.is_asked(task), key in due.dirty
            is_due = due.lists or (due.work and is_in_work(task))
            is_new = key not in memory.sights and task.status is not Status.DONE and not held
            is_owed = (first or key.number in memory.claims.held) and is_untold(task)
            if not (is_due or is_dirty or is_new or (is_asked and due.work)):
                continue
            if is_asked:
                group.create_task(_read_task(memory, task, None, due.now))
            elif is_over(task) and issue is None and not is_dirty and not is_owed:
                memory.sights.pop(key, None)
            elif key.is_internal and task.pull is None:
                memory.sights[key] = TaskSight(Known(None), Known(None), answered=False)
            elif issue is None or is_dirty or is_in_work(task):
                group.create_task(_read_task(memory, task, None, due.now))
            elif task.pull is not None or task.block is not None or needs_care(task, issue) or waits(task):
                group.create_task(_read_task(memory, task, issue, due.now))
            else:
                memory.sights[key] = TaskSight(Known(issue), Known(None), answered=False)


async def _watch_flights(memory: ProjectMemory, tasks: list[Task], due: _Due, settings: Settings) -> None:
    """Ask about the heads of pull requests in flight, and read the tasks for which that brings news."""
    pace = memory.tempo.pace.pace
    memory.flights.keep({task.key for task in tasks})
    async with asyncio.TaskGroup() as group:
        for task in tasks:
            if memory.flights.is_due(task.key, due.now, settings=settings, pace=pace):
                group.create_task(_watch(memory, task, due.now))


async def _watch(memory: ProjectMemory, task: Task, now: float) -> None:
    pull = seen_pull(memory.sights.get(task.key))
    memory.flights.asked(task.key, now)
    if pull is None:
        memory.flights.drop(task.key)
    elif await memory.pulls.has_news(pull):
        await _read_task(memory, task, None, now)


async def _read_task(memory: ProjectMemory, task: Task, listed: Issue | None, now: float) -> None:
    async with memory.turns:
        await _read_now(memory, task, listed, now)


async def _read_now(memory: ProjectMemory, task: Task, listed: Issue | None, now: float) -> None:
    touched = memory.touched.get(task.key, 0)
    issue = await _read_issue(memory, task, listed)
    pull = await memory.pulls.read(task)
    found = issue.value if isinstance(issue, Known) else None
    vouched: Observed[bool] = Known(True)
    reopened: Observed[bool] = Known(True)
    if found is not None:
        vouched = await memory.issues.is_vouched(task, found)
        if task.status is Status.DONE and found.is_open:
            reopened = await memory.issues.reopened_by_writer(found)
    needs: Observed[tuple[Dependency, ...]] = Known(())
    if found is not None and waits(task):
        needs = await memory.needs.read(task, found)
    answered, parent = await memory.issues.answered(task), await memory.pulls.read_parent(task)
    sight = TaskSight(issue, pull, answered, vouched, reopened, needs, parent)
    if memory.touched.get(task.key, 0) == touched:
        # Otherwise something was done about it meanwhile, and this may be what was before.
        memory.sights[task.key] = sight
        memory.flights.note(task, sight, now)


async def _read_issue(memory: ProjectMemory, task: Task, listed: Issue | None) -> Observed[Issue | None]:
    """The issue; nothing where none stands for the task: the store says it all."""
    if task.key.is_internal:
        return Known(None)
    return Known(listed) if listed is not None else await memory.issues.read(task.key.number)


def _others_at_work(memory: ProjectMemory, tasks: list[Task]) -> bool:
    """Whether another machine's work can be seen: a claim that is not ours on a task here that is not done, or a status
    label on an issue that is no task here."""
    if any(task.key.number in memory.claims.watched and task.status is not Status.DONE for task in tasks):
        return True
    known = {task.key.number for task in tasks}
    others = (issue for number, issue in memory.issues.memory.issues.items() if number not in known)
    return any(set(parse_status_labels(issue.labels)) - {Status.NEW, Status.BLOCKED, Status.DONE} for issue in others)
