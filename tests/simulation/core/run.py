"""Starting, ending and collecting runs in the simulated world, as in `nightcrew.engine.effect`."""

from dataclasses import replace
from datetime import datetime, timedelta

from nightcrew.core.actions import (
    CollectRun,
    ResumeStart,
    StartRun,
    StopRun,
)
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.report import Report, ReviewReport
from nightcrew.core.model.run import Interruption, InterruptionKind, Role, Run, RunOutcome, RunState, Stop, StopCause
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.policy.cooling import charge, cooled_until, credit, is_forgiven
from tests.core.build import BASE
from tests.simulation.core.row import change_status, label_moved, save, set_label
from tests.simulation.core.rule import check_start
from tests.simulation.core.said import note_delivered, take
from tests.simulation.core.sub_task import begin_at_base, go_on
from tests.simulation.core.truth import Effect, Refuse, Simulated

_MOVES = {
    Role.AUTHOR: (Status.ROUTED, Status.IN_PROGRESS, Evidence.RUN_STARTED),
    Role.REVIEWER: (Status.NEEDS_REVIEW, Status.IN_REVIEW, Evidence.REVIEW_STARTED),
}


def start_run(sim: Simulated, action: StartRun) -> Effect:
    number = action.task.number
    if sim.tasks[number].status is not action.source:
        raise Refuse("its status has moved")
    if cooled_until(sim.cooldowns.values(), agent=action.agent, model=action.model, now=sim.now):
        raise Refuse("the agent is cooling down")
    label_moved(sim, number)
    if action.role is Role.AUTHOR:
        go_on(sim, number)
    runs = sim.runs.setdefault(number, [])
    check_start(sim, action)
    if any(run.role is action.role and run.attempt == action.attempt for run in runs):
        raise Refuse("claimed already")
    name = f"{number}-{action.role.value}-{action.attempt}"
    run = Run(
        RunId(name), action.task, action.role, action.agent, action.model, action.attempt, RunState.STARTING,
        f"nc-{name}", f"runs/{name}", _next_moment(sim, number), action.deadline_s, action.head_sha,
        resumes=action.resumes, hears=action.hears,
    )  # fmt: skip
    runs.append(run)
    take(sim, run)
    yield
    yield from _bring_up(sim, run)


def _next_moment(sim: Simulated, number: int) -> datetime:
    """Now, or just after the last thing that counts for the order of runs, if the clock was set back since."""
    reset_at = sim.tasks[number].reset_at
    known = [run.created_at for run in sim.runs[number]] + ([reset_at] if reset_at is not None else [])
    return max([sim.now, *(at + timedelta(microseconds=1) for at in known)])


def resume_start(sim: Simulated, action: ResumeStart) -> Effect:
    run = _run(sim, action.task.number, action.run)
    if run.state is not RunState.STARTING:
        raise Refuse("it was started already")
    yield from _bring_up(sim, run)


def _bring_up(sim: Simulated, run: Run) -> Effect:
    number = run.task.number
    if run.role in _MOVES:
        source, target, evidence = _MOVES[run.role]
        task = sim.tasks[number]
        if task.status is source:
            changed = replace(task, attempts=task.attempts + 1, block=None) if run.role is Role.AUTHOR else task
            change_status(sim, number, target, evidence, changed)
        yield
        yield from set_label(sim, number, target)
    if run.role is Role.AUTHOR:
        run = _place(sim, run)
        pull = sim.tasks[number].pull
        said = sim.delivered.setdefault(number, set())
        said |= {f"review:{review.id}" for review in sim.reviews.get(pull or 0, ())}
        yield
    sim.open_session(run)
    yield
    _save_run(sim, replace(run, state=RunState.RUNNING, started_at=sim.now))
    note_delivered(sim, run)


def _place(sim: Simulated, run: Run) -> Run:
    number = run.task.number
    begin_at_base(sim, number)
    task = sim.tasks[number]
    head = sim.work.get(number, run.head_sha or sim.base_of(number))
    if run.head_sha is not None and not sim.is_ancestor(run.head_sha, head):
        head = run.head_sha
    sim.work[number] = head
    if not task.base_ref or task.started_from is None:
        save(sim, number, base_ref=task.base_ref or BASE, started_from=sim.base_of(number))
    run = replace(run, head_sha=head)
    _save_run(sim, run)
    return run


def _run(sim: Simulated, number: int, run: RunId) -> Run:
    return next(found for found in sim.runs[number] if found.id == run)


def _save_run(sim: Simulated, run: Run) -> None:
    runs = sim.runs[run.task.number]
    runs[[old.id for old in runs].index(run.id)] = run


def stop_run(sim: Simulated, action: StopRun) -> Effect:
    if action.run in sim.results:
        raise Refuse("it has ended by itself")
    sim.stopped[action.run] = action.cause
    _save_run(sim, replace(_run(sim, action.task.number, action.run), stop=Stop(action.cause, action.why)))
    yield
    sim.sessions.pop(action.run, None)


def collect_run(sim: Simulated, action: CollectRun) -> Effect:
    number = action.task.number
    run = _run(sim, number, action.run)
    if not run.is_open:
        raise Refuse("it was collected already")
    head = sim.work.get(number) if run.role is Role.AUTHOR else run.head_sha
    report, failure, interruption = _read(sim, run)
    yield
    if isinstance(report, ReviewReport) and run.head_sha is not None:
        known = sim.verdicts.setdefault(number, [])
        if run.id not in {verdict.run for verdict in known}:
            base_ref = sim.tasks[number].base_ref
            known.append(
                Verdict(run.id, run.task, report.decision, run.head_sha, base_ref, run.agent, run.model, report.summary,
                        (), sim.now)
            )  # fmt: skip
    yield
    sim.sessions.pop(run.id, None)
    moved = run.role is Role.AUTHOR and head is not None and head != run.head_sha
    outcome = RunOutcome(
        report, failure, head_sha=head, has_commits=moved, agent_session=run.resumes or f"s-{run.id}",
        interruption=interruption,
        can_resume=True, answered=run.id in sim.spoke,
    )  # fmt: skip
    ended = replace(run, state=RunState.ENDED, ended_at=sim.now, outcome=outcome)
    _save_run(sim, ended)
    _cool(sim, ended)


def _cool(sim: Simulated, run: Run) -> None:
    """A failure cools whom it is about; work that ended well ends the counting."""
    outcome, rows, who = run.outcome, tuple(sim.cooldowns.values()), (run.agent, run.model)
    if outcome is None or outcome.interruption is not None:
        return
    if outcome.failure is None:
        for row in credit(run, rows, now=sim.now):
            if is_forgiven(row):
                del sim.cooldowns[row.agent, row.model, row.kind]
            else:
                sim.cooldowns[row.agent, row.model, row.kind] = row
        if sim.vendor_says.get(who, sim.now) <= sim.now:
            sim.vendor_says.pop(who, None)  # it worked since: a clock that is set back does not bring that up again
        return
    said_at = outcome.failure.retry_at
    if said_at is not None:
        sim.vendor_says[who] = max(said_at, sim.vendor_says.get(who, said_at))
    fresh = charge(run, rows, now=sim.now, of_task=sim.runs.get(run.task.number, ()))
    if fresh is not None:
        sim.cooldowns[fresh.agent, fresh.model, fresh.kind] = fresh


def _read(sim: Simulated, run: Run) -> tuple[Report | None, Failure | None, Interruption | None]:
    match sim.stopped.get(run.id):
        case StopCause.UNWANTED | StopCause.SAID:
            return None, None, Interruption(InterruptionKind.STOPPED, "it was ended")
        case StopCause.OVERDUE:
            return None, Failure(FailureKind.TIMEOUT, "it was ended"), None
        case StopCause.SILENT:
            return None, Failure(FailureKind.HANG, "it was ended"), None
        case StopCause.LIMITED:
            return None, Failure(FailureKind.USAGE_WINDOW, "it was ended"), None
        case None:
            pass
    if run.id not in sim.results:
        return None, None, Interruption(InterruptionKind.LOST, "its session is gone")
    if run.id in sim.not_resumed:
        return None, None, Interruption(InterruptionKind.NOT_RESUMED, "its CLI does not know the session")
    return *sim.results[run.id], None
