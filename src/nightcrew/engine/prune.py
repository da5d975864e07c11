"""Taking away what is over: run folders, left worktrees, events, log files, copies of the database. Once a day by
itself, or when a person asks. What is not pushed, merged or saved is saved first, or stays."""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from nightcrew.core.errors import PortError
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task
from nightcrew.core.policy.keeping import list_old_runs, list_old_workspaces
from nightcrew.engine.disk import measure_bytes, remove_inside
from nightcrew.engine.effect.inquiry import FOLDER
from nightcrew.engine.effect.means import Means
from nightcrew.engine.effect.workspace import remove_left
from nightcrew.ports.service import Answer

DONE_AT = "engine.pruned_at"
EVERY = timedelta(days=1)
LOOK_EVERY_S = 600.0
LARGEST_OUTPUT = 10_000_000
"""Bytes of what a service manager keeps of our output (launchd.log) before it is emptied."""
ALL = 1_000_000_000
USED = ("runs", "asks", "worktrees", "repos", "skill-repositories", "forge", "logs")


@dataclass(frozen=True, slots=True)
class Old:
    """What may go, of one kind."""

    runs: tuple[Run, ...]
    tasks: tuple[Task, ...]
    asks: tuple[Path, ...]
    logs: tuple[Path, ...]
    backups: tuple[Path, ...]
    events_before: datetime | None


async def prune(means: Means, *, dry_run: bool) -> Answer:
    """Take away what is over; with `dry_run` only say what it is, and what the home takes on the disk."""
    old = await _find(means)
    taken = {
        "runs": await _remove(means, "runs", [means.folder(run) for run in old.runs], dry_run=dry_run),
        "worktrees": await _remove_workspaces(means, old.tasks, dry_run=dry_run),
        "questions": await _remove(means, FOLDER, old.asks, dry_run=dry_run),
        "logs": await _remove(means, "logs", old.logs, dry_run=dry_run),
        "backups": await _remove(means, ".", old.backups, dry_run=dry_run),
        "events": {"count": await _cut_events(means, old.events_before, dry_run=dry_run), "bytes": 0},
    }
    data: dict[str, object] = dict(taken)
    if dry_run:
        data["used"] = await asyncio.to_thread(_used, means.ports.home)
    else:
        await _record(means, taken)
    return Answer(not dry_run and any(part["count"] for part in taken.values()), _words(taken, dry_run=dry_run), data)


async def watch_retention(means_now: Callable[[], Means], *, every_s: float = LOOK_EVERY_S) -> None:
    """Prune once a day, also over restarts. Runs for ever."""
    while True:
        await asyncio.sleep(every_s)
        means = means_now()
        last = await means.ports.store.find_value(DONE_AT)
        now = means.ports.clock.now()
        # A time in the future is one of a clock that was set back.
        if last is None or not timedelta(0) <= now - datetime.fromisoformat(last) < EVERY:
            await prune(means, dry_run=False)


async def _find(means: Means) -> Old:
    store, kept, now = means.ports.store, means.settings.upkeep.retention, means.ports.clock.now()
    tasks = {task.key: task for task in await store.load_tasks(include_done=True)}
    runs = await store.load_runs(limit=ALL)
    working = {run.task for run in runs if run.is_open}
    folders = [run for run in list_old_runs(tasks, runs, now=now, kept_s=kept.runs_s) if means.folder(run).is_dir()]
    waiting = {inquiry.id for inquiry in await store.load_inquiries(open_only=True)}
    asks = _old_files(means.ports.home / FOLDER, ("*",), before=_before(now, kept.runs_s))
    left = list_old_workspaces(tasks.values(), working=working, now=now, kept_s=kept.worktrees_s)
    home = means.ports.home
    return Old(
        runs=tuple(folders),
        tasks=tuple(task for task in left if means.ports.workspace.path(task.key.project, task.key.number).exists()),
        asks=tuple(path for path in asks if path.name not in waiting),
        logs=tuple(_old_files(home / "logs", ("*.jsonl.*", "world-*.json"), before=_before(now, kept.logs_s))),
        backups=tuple(sorted(home.glob("nightcrew.db.backup-*"), key=_changed_at, reverse=True)[kept.backups :]),
        events_before=_before(now, kept.events_s),
    )


def _before(now: datetime, kept_s: float) -> datetime | None:
    return now - timedelta(seconds=kept_s) if kept_s else None


def _old_files(folder: Path, patterns: Iterable[str], *, before: datetime | None) -> list[Path]:
    if before is None:
        return []
    return [path for pattern in patterns for path in folder.glob(pattern) if _changed_at(path) < before.timestamp()]


def _changed_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return float("inf")  # it is gone, or cannot be told: it is left alone


async def _remove(means: Means, below: str, paths: Iterable[Path], *, dry_run: bool) -> dict[str, int]:
    root = (means.ports.home / below).resolve()

    def work() -> dict[str, int]:
        count = size = 0
        for path in paths:
            taken = measure_bytes(path)
            if dry_run or remove_inside(root, path):
                count, size = count + 1, size + taken
        return {"count": count, "bytes": size}

    return await asyncio.to_thread(work)


async def _remove_workspaces(means: Means, tasks: Iterable[Task], *, dry_run: bool) -> dict[str, int]:
    count = size = 0
    workspace = means.ports.workspace
    for task in tasks:
        key = task.key
        taken = await asyncio.to_thread(measure_bytes, workspace.path(key.project, key.number))
        if not dry_run and not await _remove_workspace(means, task):
            continue
        count, size = count + 1, size + taken
    return {"count": count, "bytes": size}


async def _remove_workspace(means: Means, task: Task) -> bool:
    """What is in it and nowhere else is saved as a ref of the engine's repository before. One that is in use, or
    whose work cannot be saved, stays."""
    try:
        await remove_left(means, task)
    except PortError:
        return False  # why, stands in the journal and in the log
    return True


async def _cut_events(means: Means, before: datetime | None, *, dry_run: bool) -> int:
    return 0 if before is None else await means.ports.store.cut_history(before=before, only_count=dry_run)


async def _record(means: Means, taken: dict[str, dict[str, int]]) -> None:
    await asyncio.to_thread(_empty_output, means.ports.home / "logs" / "launchd.log")
    await means.ports.store.save_value(DONE_AT, means.ports.clock.now().isoformat())
    if any(part["count"] for part in taken.values()):
        words = _words(taken, dry_run=False)
        await means.ports.store.record_event(means.event("home.pruned", words, taken=json.dumps(taken)))
        means.bus.ring()


def _empty_output(path: Path) -> None:
    """It is launchd's, which goes on writing at its end."""
    try:
        if path.lstat().st_size > LARGEST_OUTPUT and not path.is_symlink():
            with path.open("r+b") as file:
                file.truncate(0)
    except OSError:
        return


def _used(home: Path) -> dict[str, int]:
    return {**{name: measure_bytes(home / name) for name in USED}, "database": measure_bytes(home / "nightcrew.db")}


def _words(taken: dict[str, dict[str, int]], *, dry_run: bool) -> str:
    parts = [f"{part['count']} {name}" for name, part in taken.items() if part["count"]]
    size = sum(part["bytes"] for part in taken.values())
    if not parts:
        return "nothing is old enough"
    return f"{'would remove' if dry_run else 'removed'} {', '.join(parts)}: {size / 1e6:.1f} MB"
