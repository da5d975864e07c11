"""Worktrees and checkouts that are over: of tasks that are done, of runs that have ended, of nobody."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from nightcrew.core.errors import Conflict, Unavailable
from nightcrew.core.ids import RunId, TaskKey, render_number
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.task import Task
from nightcrew.engine.doctor.ward import Found, Ward
from nightcrew.engine.effect.workspace import remove_left
from nightcrew.ports.workspace import WorkFolder

MEND = "nightcrew doctor --fix"


async def look_at_folders(ward: Ward, slug: str) -> AsyncIterator[Found]:
    """What belongs to nobody that is known here is told, and left: what is in it is not known either."""
    store = ward.means.ports.store
    folders = ward.means.ports.workspace.list_folders(slug)
    tasks = {task.key.number: task for task in await store.load_tasks(project=slug, include_done=True)}
    for folder in folders:
        found = await _checkout(ward, slug, folder) if folder.checkout else _workspace(ward, slug, folder, tasks)
        if found is not None:
            yield found


async def look_at_others(ward: Ward) -> AsyncIterator[Found]:
    """Those of projects that are not configured any more, and folders of no project that is known."""
    ports = ward.means.ports
    folders = await asyncio.to_thread(_list_project_folders, ports.home / "worktrees")
    tasks = await ports.store.load_tasks(include_done=True)
    configured = ward.means.settings.projects
    for slug in sorted({task.key.project for task in tasks} - set(configured)):
        async for found in look_at_folders(ward, slug):
            yield found
        open_ones = {task.key.number for task in tasks if task.key.project == slug and task.status is not Status.DONE}
        for folder in ports.workspace.list_folders(slug):
            if folder.number in open_ones:
                words = f"is of {TaskKey(slug, folder.number)}, and {slug} is not configured any more"
                hint = f"it is kept; to go on there: nightcrew project add {slug}"
                yield Found(Diagnosis(f"worktree {folder.path}", Level.WARNING, words, hint))
    known = {ports.workspace.path(slug, 1).parent for slug in (*configured, *(task.key.project for task in tasks))}
    for path in folders:
        if path not in known:
            words = "belongs to no project that is known here"
            yield Found(Diagnosis(f"worktrees {path}", Level.WARNING, words, "look what is in it, and move it away"))


def _list_project_folders(top: Path) -> list[Path]:
    """Those that hold anything."""
    try:
        return sorted(path for path in top.iterdir() if path.is_dir() and any(path.iterdir()))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unavailable(f"{error.filename or top} cannot be read: {error.strerror}") from error


def _workspace(ward: Ward, slug: str, folder: WorkFolder, tasks: Mapping[int, Task]) -> Found | None:
    task = tasks.get(folder.number) if folder.number is not None else None
    what = f"worktree {folder.path}"
    if folder.number is None:
        words = "was not made by this Nightcrew"
        return Found(Diagnosis(what, Level.WARNING, words, "look what is in it, and move it away"))
    if task is None:
        words = f"there is no task {render_number(folder.number)} of {slug} that it would belong to"
        return Found(Diagnosis(what, Level.WARNING, words, "look what is in it, and move it away"))
    if task.status is not Status.DONE or task.moving_to is not None or task.key in ward.busy():
        return None
    words = f"is left of {task.key}, which is done"
    return Found(Diagnosis(what, Level.WARNING, words, f"{MEND} saves what is nowhere else, and removes it"),
                 lambda: _remove(ward, task))  # fmt: skip


async def _remove(ward: Ward, task: Task) -> str:
    """By the removal that finishing uses: it saves what is neither on the forge nor merged, and refuses where a run has
    the workspace."""
    means, key = ward.means, task.key
    if (await means.task(key)).status is not Status.DONE or await means.ports.store.load_runs(task=key, open_only=True):
        raise Conflict(f"{key} is worked on again")
    holder = _holder(ward, key)
    run = await means.ports.store.find_run(holder) if holder is not None else None
    if run is not None and not run.is_open:
        # A lease that a crash left. One of a run that is not known stays, and the workspace with it.
        await means.ports.workspace.release(key.project, key.number, lease=run.id)
    saved = await remove_left(means, task)
    return "it was removed" + (f"; what was nowhere else is kept as {', '.join(saved)}" if saved else "")


def _holder(ward: Ward, key: TaskKey) -> RunId | None:
    folders = ward.means.ports.workspace.list_folders(key.project)
    return next((folder.holder for folder in folders if folder.number == key.number), None)


async def _checkout(ward: Ward, slug: str, folder: WorkFolder) -> Found | None:
    """Only those of runs: others are made by what is under way, and made anew by it."""
    run = await ward.means.ports.store.find_run(RunId(folder.checkout))
    if run is None or run.is_open:
        return None
    words = f"is a throw-away checkout of run {run.id}, which has ended"
    return Found(Diagnosis(f"checkout {folder.path}", Level.WARNING, words, MEND), lambda: _drop(ward, slug, run.id))


async def _drop(ward: Ward, slug: str, run: RunId) -> str:
    await ward.means.ports.workspace.remove_checkout(slug, run)
    return "it was removed"
