"""A project's jobs with what is on record of them, and whether the last task of each keeps it."""

from datetime import datetime, timedelta

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.job import JobRun, JobView
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.engine.view.record import Records

_UNADOPTED = timedelta(hours=1)
"""How long an issue that a job filed is waited for to become a task."""


WANTED = "engine.job"
"""The value, with project and job behind it, that says when a person asked for a start."""


def job_views(settings: ProjectSettings, records: Records, *, now: datetime) -> tuple[JobView, ...]:
    """Each job of a project as it is now."""
    views = []
    for job in settings.jobs:
        key = (settings.slug, job.name)
        runs = records.job_runs.get(key, ())
        wanted = records.values.get(f"{WANTED}.{settings.slug}.{job.name}")
        views.append(
            JobView(
                job,
                records.jobs.get(key),
                runs,
                _held(records.job_starts.get(key), records, now=now),
                datetime.fromisoformat(wanted) if wanted else None,
            )
        )
    return tuple(views)


def _held(last: JobRun | None, records: Records, *, now: datetime) -> str:
    """A task holds its job up as long as it is not done: one that waits for a person goes on once they have spoken."""
    if last is None or last.task is None:
        return ""
    task = records.tasks.get(last.task)
    if task is None:
        return f"its last issue, {last.task}, is not taken up yet" if now - last.began_at < _UNADOPTED else ""
    if task.status is Status.BLOCKED:
        return f"its last task, {task.key}, waits for you: answer it, or `nightcrew task close {task.key}`"
    return "" if task.status is Status.DONE else f"its last task, {task.key}, is {task.status.value}"
