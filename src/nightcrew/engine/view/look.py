"""One look at a project: what is due to be read of it is read into its memory."""

import asyncio

from nightcrew.core.errors import PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.dependency import Dependency
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.task import Task
from nightcrew.core.policy.depending import is_gated
from nightcrew.engine.view.comment import KEPT
from nightcrew.engine.view.memory import ProjectMemory
from nightcrew.engine.view.record import Records
from nightcrew.engine.view.sight import TaskSight, is_in_work, is_over, is_untold, needs_care
from nightcrew.ports.clock import Clock

PROJECT_TIMEOUT_S = 120.0


async def look_at(
    memory: ProjectMemory, records: Records, *, dirty: frozenset[TaskKey], clock: Clock, interval_s: float
) -> None:
    """Read one project: all of it when that is due, else the tasks that are `dirty` or were never read. It never
    raises: what goes wrong is the project's problem, in words."""
    slug = memory.configured.slug
    now = clock.monotonic()
    due = memory.read_at is None or now - memory.read_at >= interval_s
    asked = memory.asked
    tasks = [task for task in records.tasks.values() if task.key.project == slug]
    try:
        async with asyncio.timeout(PROJECT_TIMEOUT_S):
            if due:
                memory.facts = await memory.reader.read(memory.facts)
                await memory.issues.refresh()
                others_at_work = _others_at_work(memory, tasks)
                await memory.claims.refresh(memory.settings, others_at_work=others_at_work)
                kept = records.values.get(f"{KEPT}.{slug}")
                await memory.comments.refresh(kept, records.commands, now=clock.now())
                memory.note_read(now, asked)
            await _read_tasks(memory, tasks, dirty, due=due)
            if due or dirty:
                settings = memory.settings
                memory.candidates = await memory.issues.candidates(
                    settings, (task.key.number for task in tasks), left=memory.claims.left(settings)
                )
        memory.is_first = False
        if due:
            memory.problem = ""  # a look that reads no list cannot tell that it is readable again
    except (PortError, TimeoutError) as error:
        memory.problem = str(error) or "it did not answer in time"
        memory.note_read(now, asked)
        memory.sights.clear()  # what was seen long ago is not what is
    except Exception as error:  # noqa: BLE001 - one project's boundary: it must not end the look at the others
        memory.problem = f"a bug while reading it: {error!r}"
        memory.note_read(now, asked)
        memory.sights.clear()


async def _read_tasks(memory: ProjectMemory, tasks: list[Task], dirty: frozenset[TaskKey], *, due: bool) -> None:
    listed, first = memory.issues.memory.issues, memory.is_first
    async with asyncio.TaskGroup() as group:
        for task in tasks:
            key, issue = task.key, listed.get(task.key.number)
            is_asked = memory.comments.is_asked(task)
            if not (due or key in dirty or (key not in memory.sights and task.status is not Status.DONE)):
                continue
            if is_asked:
                group.create_task(_read_task(memory, task, None))
            elif is_over(task) and issue is None and key not in dirty and not (first and is_untold(task)):
                memory.sights.pop(key, None)
            elif key.is_internal and task.pull is None:
                memory.sights[key] = TaskSight(Known(None), Known(None), answered=False)
            elif issue is None or key in dirty or is_in_work(task):
                group.create_task(_read_task(memory, task, None))
            elif task.pull is not None or task.block is not None or needs_care(task, issue) or is_gated(task):
                group.create_task(_read_task(memory, task, issue))
            else:
                memory.sights[key] = TaskSight(Known(issue), Known(None), answered=False)


async def _read_task(memory: ProjectMemory, task: Task, listed: Issue | None) -> None:
    async with memory.turns:
        await _read_now(memory, task, listed)


async def _read_now(memory: ProjectMemory, task: Task, listed: Issue | None) -> None:
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
    if found is not None and is_gated(task):
        needs = await memory.needs.read(task, found)
    answered, parent = await memory.issues.answered(task), await memory.pulls.read_parent(task)
    sight = TaskSight(issue, pull, answered, vouched, reopened, needs, parent)
    if memory.touched.get(task.key, 0) == touched:
        # Otherwise something was done about it meanwhile, and this may be what was before.
        memory.sights[task.key] = sight


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
