"""What is on record of the last days, read from the store."""

from datetime import timedelta

from nightcrew.core.day import Day
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Store

EVENTS_READ = 20_000
"""The most that is read of what happened; more than that in a day is cut at its beginning."""
RUNS_READ = 20_000


async def load_day(store: Store, clock: Clock, *, days: int, project: str = "") -> Day:
    """The last `days` days, of one project or all."""
    until_at = clock.now()
    since_at = until_at - timedelta(days=days)
    events = await store.load_events(limit=EVENTS_READ, newest=True)
    runs = await store.load_runs(limit=RUNS_READ)
    is_cut = len(events) == EVENTS_READ and events[0].at > since_at
    return Day(
        since_at,
        until_at,
        project,
        tasks=await store.load_tasks(project=project or None, include_done=True),
        runs=tuple(
            run
            for run in runs
            if run.ended_at is not None and run.ended_at >= since_at and project in ("", run.task.project)
        ),
        events=tuple(
            event
            for event in events
            if event.at >= since_at and (event.task is None or project in ("", event.task.project))
        ),
        known_from_at=events[0].at if is_cut else None,
        job_runs=tuple(
            run
            for run in await store.load_job_runs(project=project or None, each=200)
            if since_at <= run.due_at <= until_at
        ),
    )
