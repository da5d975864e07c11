"""Starting a job: the row of its due time first, then what it does. Asked for twice, or cut short anywhere, it comes to
one task, one issue, or one run of its command."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from nightcrew.core.action.job import NoteJob, StartJob
from nightcrew.core.actions import ActionOutcome, Done, Refused
from nightcrew.core.errors import Missing, OutcomeUnknown, PortError
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRun, JobState
from nightcrew.core.model.settings import Intake
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.scheduling import Turn
from nightcrew.core.words import BODY_LIMIT, render_job_body
from nightcrew.engine.effect.confine import confine_checks
from nightcrew.engine.effect.daily import write_review
from nightcrew.engine.effect.filing import INTAKE_LABEL, file_marked
from nightcrew.engine.effect.history import describe_last_runs
from nightcrew.engine.effect.internal import NewTask, draft_internal
from nightcrew.engine.effect.means import Means
from nightcrew.engine.effect.turn import take_turn
from nightcrew.engine.naming import safe_project
from nightcrew.process import NotFound, TimedOut, run_process

LOGS_KEPT = 30
"""Outputs of commands that are kept of one job."""


async def note_job(means: Means, action: NoteJob) -> ActionOutcome:
    """Its schedule counts from now on."""
    now = means.ports.clock.now()
    await means.ports.store.note_job(action.project, action.job.name, mark=action.mark, at=now)
    return Done()


async def start_job(means: Means, action: StartJob) -> ActionOutcome:
    """The row, then the work. A row that is there already was begun by somebody: what can be finished is. Where several
    machines look after the repository, the due time is taken first."""
    job, store, now = action.job, means.ports.store, means.ports.clock.now()
    if await store.find_job_run(action.project, job.name, action.due_at) is None:
        if job.run and not action.skip and means.observer.base_sha(action.project) is None:
            return Refused("where the base branch is, is not known yet")
        turn, words = await take_turn(means, action)
        if turn is Turn.LATER:
            return Refused(words)
        if turn is Turn.THEIRS:
            action = replace(action, skip=words)
    run = JobRun(
        project=action.project,
        job=job.name,
        due_at=action.due_at,
        began_at=now,
        state=JobState.BEGUN,
        is_late=action.is_late,
        by_hand=action.by_hand,
    )
    if action.skip:
        skipped = replace(run, state=JobState.SKIPPED, words=action.skip, ended_at=now)
        await store.record_job_run(skipped, event=_event(means, skipped))
        return Done(action.skip)
    if not (job.run or job.external or job.review):
        return await _ask_for_task(means, action, run)
    if await store.record_job_run(run, event=_event(means, run)) is not None:
        return await _work(means, action, run)
    known = await store.find_job_run(run.project, run.job, run.due_at)
    if known is None or known.state is not JobState.BEGUN:
        return Refused("it was started for that time already")
    if job.external or job.review is not None:
        return await _work(means, action, known)  # nothing of it is done twice
    words = "the service ended while it ran; it is not run again"
    await _settle(means, replace(known, state=JobState.LOST, words=words))
    return Done(words)


async def _work(means: Means, action: StartJob, run: JobRun) -> ActionOutcome:
    try:
        if action.job.external:
            return await _file(means, action, run)
        if action.job.review is not None:
            ended, new = await write_review(means, action, run)
            await _settle(means, ended, new)
            return Done()
        return await _command(means, action, run)
    except PortError as error:
        if action.job.external or (action.job.review is not None and isinstance(error, OutcomeUnknown)):
            raise  # it is looked for and filed at the next look
        await _settle(means, replace(run, state=JobState.FAILED, words=one_line(str(error), 500)))
        return Done(str(error))


async def _ask_for_task(means: Means, action: StartJob, run: JobRun) -> ActionOutcome:
    """An internal task, recorded with the row."""
    job = action.job
    last = await describe_last_runs(means, action.project, job.name, before=action.due_at)
    new = NewTask(
        title=job.title or job.name,
        body=render_job_body(job.prompt, last, BODY_LIMIT),
        why=f"the job {job.name} asked for it: {action.why}",
        kind=job.kind,
        pins=job.pins,
        job=job.name,
    )
    done = replace(run, state=JobState.DONE, ended_at=means.ports.clock.now())
    recorded = await means.ports.store.record_job_run(
        done, event=_event(means, done), draft=lambda key: draft_internal(means, key, new)
    )
    return Done() if recorded is not None else Refused("it was started for that time already")


async def _file(means: Means, action: StartJob, run: JobRun) -> ActionOutcome:
    """An issue, looked for by its mark first."""
    job, settings = action.job, means.project(action.task)
    last = await describe_last_runs(means, action.project, job.name, before=action.due_at, short=True)
    mark = f"<!-- nightcrew:job {job.name} {action.due_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} -->"
    labels = job.pins.labels if settings.intake is Intake.ALL else (settings.intake_label, *job.pins.labels)
    if settings.intake is not Intake.ALL:
        tracker = means.forge(action.task).tracker
        await tracker.ensure_labels(action.project, {settings.intake_label: INTAKE_LABEL})
    body = means.ports.mask(f"{mark}\n{render_job_body(job.prompt, last, BODY_LIMIT)}")
    title = means.ports.mask(job.title or job.name)
    issue = await file_marked(
        means, action.task, title=title, body=body, labels=labels, since=min(run.began_at, action.due_at)
    )
    means.observer.expire(action.project)
    key = TaskKey(action.project, issue.number)
    await _settle(means, replace(run, state=JobState.DONE, task=key, words=f"issue #{issue.number}"))
    return Done()


async def _command(means: Means, action: StartJob, run: JobRun) -> ActionOutcome:
    """The command in a throw-away checkout of the base, in the sandbox; its output is kept."""
    job, slug, workspace = action.job, action.project, means.ports.workspace
    sha = means.observer.base_sha(slug)
    if sha is None:
        raise Missing("where the base branch is was not known when its time came")
    log = log_path(means, slug, job.name, action.due_at)
    run = replace(run, log=str(log.relative_to(means.ports.home)))
    place = RunId(f"job-{job.name}-{_stamp(action.due_at)}")
    checkout = await workspace.ensure_review_checkout(slug, place, sha)
    try:
        confinement = await confine_checks(means, action.task, checkout)
        env = {**(confinement.env or means.ports.base_env()), "NIGHTCREW_JOB": job.name}
        try:
            ended = await run_process(confinement.wrap(job.run), cwd=checkout, env=env, timeout_s=job.timeout_s)
        except TimedOut as error:
            _keep(means, log, error.output)
            run = replace(run, state=JobState.FAILED, words=f"it did not end within {job.timeout_s:g} s")
        except NotFound as error:
            _keep(means, log, str(error).encode())
            run = replace(run, state=JobState.FAILED, words=one_line(str(error), 500))
        else:
            _keep(means, log, ended.stdout + ended.stderr)
            state = JobState.DONE if ended.ok else JobState.FAILED
            run = replace(run, state=state, exit_code=ended.returncode, words=f"exit code {ended.returncode}")
    finally:
        await workspace.remove_checkout(slug, place)
    await _settle(means, run)
    return Done()


async def _settle(means: Means, run: JobRun, new: NewTask | None = None) -> None:
    """What came of it, with a task that it asks for."""
    ended = replace(run, ended_at=means.ports.clock.now())
    draft = None if new is None else lambda key: draft_internal(means, key, new)
    await means.ports.store.save_job_run(ended, event=_event(means, ended), draft=draft)


def _event(means: Means, run: JobRun) -> Event:
    late = " late" if run.is_late else ""
    why = f"{run.job} of {run.due_at:%Y-%m-%d %H:%M} UTC: {run.state.value}{late} {run.words}".rstrip()
    due_at = run.due_at.isoformat()
    return means.event(f"job.{run.state.value}", why, task=run.task, project=run.project, job=run.job, due_at=due_at)


def log_path(means: Means, slug: str, name: str, due_at: datetime) -> Path:
    """Where the output of one run of a job is kept."""
    return means.ports.home / "jobs" / safe_project(slug) / name / f"{_stamp(due_at)}.log"


def _stamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S}"


def _keep(means: Means, log: Path, content: bytes) -> None:
    """Without secrets. The oldest go when there are too many."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.touch(mode=0o600)
    log.write_text(means.ports.mask(content.decode("utf-8", "replace")), encoding="utf-8", errors="replace")
    for old in sorted(log.parent.glob("*.log"))[:-LOGS_KEPT]:
        old.unlink(missing_ok=True)
