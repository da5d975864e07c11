"""Jobs as plain JSON values."""

from collections.abc import Sequence
from dataclasses import asdict

from nightcrew.api.plain import Json, render_moment
from nightcrew.core.model.job import JobRun
from nightcrew.ports.job_service import JobDetail, JobSummary


def render_jobs(jobs: Sequence[JobSummary]) -> Json:
    return {"jobs": [render_job(job) for job in jobs]}


def render_job(summary: JobSummary) -> Json:
    job = summary.settings
    return {
        "project": summary.project,
        "job": job.name,
        "schedule": job.schedule,
        "timezone": job.zone,
        "work": job.work,
        "enabled": summary.is_on,
        "next_at": [render_moment(at) for at in summary.next_at],
        "held": summary.held,
        "path": job.path,
        "last": None if summary.last is None else render_job_run(summary.last),
    }


def render_job_detail(detail: JobDetail) -> Json:
    job = detail.summary.settings
    return {
        "job": render_job(detail.summary),
        "catch_up": job.catch_up.value,
        "title": job.title,
        "prompt": job.prompt,
        "run": list(job.run),
        "timeout_s": job.timeout_s,
        **asdict(job.pins),
        "skills": list(job.pins.skills),
        "runs": [render_job_run(run) for run in detail.runs],
        "output": detail.output,
    }


def render_job_run(run: JobRun) -> Json:
    return {
        "due_at": render_moment(run.due_at),
        "began_at": render_moment(run.began_at),
        "ended_at": render_moment(run.ended_at),
        "state": run.state.value,
        "is_late": run.is_late,
        "by_hand": run.by_hand,
        "task": None if run.task is None else str(run.task),
        "words": run.words,
        "exit_code": run.exit_code,
        "log": run.log,
    }
