"""Which jobs are due? One start for each due time; times that were missed are made up for once, or not at all."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import Enum

from nightcrew.core.action.job import NoteJob, StartJob
from nightcrew.core.actions import Action
from nightcrew.core.cron import Schedule, last_fire, next_fire, parse_schedule
from nightcrew.core.model.claim import DueNote
from nightcrew.core.model.job import CatchUp, JobRun, JobState, JobView
from nightcrew.core.model.world import ProjectWorld, World

LATE = timedelta(minutes=5)
"""How long after its time a start counts as made up for."""
ASKED_FOR = timedelta(hours=1)
"""How long a person's word holds that could not be followed yet."""
TURN = timedelta(minutes=10)
"""How long the machine that took a job's last due time may take the next one before others do."""
COMMANDS_AT_ONCE = 4
"""Commands of jobs that run beside each other; the others come after them."""


def schedule_jobs(world: World, project: ProjectWorld) -> tuple[NoteJob | StartJob, ...]:
    """What is to be done about a project's jobs now."""
    if world.draining or world.paused or project.paused or project.is_removed:
        return ()
    found: list[NoteJob | StartJob] = []
    for view in project.jobs:
        action = _follow(world, project.settings.slug, view)
        is_command = isinstance(action, StartJob) and bool(action.job.run) and not action.skip
        if action is not None and not (is_command and _commands((*world.in_flight, *found)) >= COMMANDS_AT_ONCE):
            found.append(action)
    return tuple(found)


class Turn(Enum):
    """Whose a due time is. TAKE: ours if no other machine takes it first. LATER: the machine that had the last one is
    given time to take it, since it alone knows whether its task lives."""

    OURS = "ours"
    TAKE = "take"
    LATER = "later"
    THEIRS = "theirs"


def judge_turn(last: DueNote | None, *, due_at: datetime, me: str, now: datetime, by_hand: bool) -> Turn:
    """What the last due time that was taken means for this one. One that lies ahead was written by a wrong clock."""
    if last is None or by_hand or last.due_at > now + LATE:
        is_done = last is not None and last.holder == me and last.due_at == due_at
        return Turn.OURS if is_done else Turn.TAKE
    if last.due_at >= due_at:
        return Turn.OURS if last.holder == me else Turn.THEIRS
    return Turn.TAKE if last.holder == me or now - due_at >= TURN else Turn.LATER


def mark_of(view: JobView) -> str:
    """By which it is known that a schedule is another one; one that is switched off is none."""
    if not view.is_on:
        return "off"
    schedule = _schedule(view)
    return f"{schedule.fields} {schedule.zone}"


def baseline(view: JobView, now: datetime) -> datetime:
    """From when on due times count: the last one on record that has come, or since when the job has its schedule. A
    time on record that lies ahead was written under a clock that was wrong."""
    known = [run.due_at for run in view.runs if not run.by_hand and run.due_at <= now]
    since = view.record.since_at if view.record is not None else now
    return max([since, *known])


def next_times(view: JobView, now: datetime, count: int) -> tuple[datetime, ...]:
    """When it fires next; nothing where it is off."""
    if not view.is_on:
        return ()
    schedule = _schedule(view)
    times: list[datetime] = []
    for _ in range(count):
        times.append(next_fire(schedule, times[-1] if times else now))
    return tuple(times)


def wake_times(world: World) -> Iterator[datetime]:
    """When a look is wanted for the sake of jobs."""
    if world.draining or world.paused:
        return
    for project in world.projects.values():
        if not project.paused and not project.is_removed:
            for view in project.jobs:
                # From the last time on record, so that the same question is asked at each look until it comes.
                if view.is_on and (at := next_fire(_schedule(view), baseline(view, world.now))) > world.now:
                    yield at


def _follow(world: World, slug: str, view: JobView) -> NoteJob | StartJob | None:
    job, now = view.settings, world.now
    unfinished = next((run for run in view.runs if run.state is JobState.BEGUN), None)
    if unfinished is not None:
        return _finish(slug, view, unfinished)
    if _is_wanted(view, now):
        # It may have been started between the person's word and this look.
        return StartJob(slug, job, view.wanted_at or now, "a person asked for it", by_hand=True, skip=view.held)
    mark = mark_of(view)
    if view.record is None or view.record.mark != mark or view.record.since_at > now:
        return NoteJob(slug, job, mark, "its schedule counts from now on")
    if not view.is_on:
        return None
    schedule, since = _schedule(view), baseline(view, now)
    if next_fire(schedule, since) > now:
        return None
    due_at = last_fire(schedule, after=since, until=now)
    if due_at is None or any(run.due_at == due_at for run in view.runs):
        return None
    is_late = now - due_at > LATE
    if is_late and job.catch_up is CatchUp.SKIP:
        return _start(slug, view, due_at, is_late=True, skip="it was missed, and such times are skipped (catch_up)")
    if view.held:
        return _start(slug, view, due_at, is_late=is_late, skip=view.held)
    return _start(slug, view, due_at, is_late=is_late)


def _is_wanted(view: JobView, now: datetime) -> bool:
    """Whether a person asked for a start, not long ago, that was not made yet."""
    at = view.wanted_at
    return at is not None and timedelta() <= now - at < ASKED_FOR and all(run.due_at != at for run in view.runs)


def _schedule(view: JobView) -> Schedule:
    """Settings were read, so this can be."""
    return parse_schedule(view.settings.schedule, view.settings.zone)


def _start(slug: str, view: JobView, due_at: datetime, *, is_late: bool, skip: str = "") -> StartJob:
    why = "a time that was missed is made up for" if is_late else "its time has come"
    return StartJob(slug, view.settings, due_at, skip or why, is_late=is_late, skip=skip)


def _finish(slug: str, view: JobView, run: JobRun) -> StartJob:
    """What was cut short: an issue is looked for and filed, a command is not run again."""
    why = "its start was cut short"
    return StartJob(slug, view.settings, run.due_at, why, is_late=run.is_late, by_hand=run.by_hand)


def _commands(actions: Sequence[Action]) -> int:
    return len({action.key for action in actions if isinstance(action, StartJob) and action.job.run})
