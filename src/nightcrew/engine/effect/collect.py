"""Collecting a run that has ended: its work first, then what it says, then the record. Nothing is taken on trust: work
is what git says, the outcome what the adapter reads, and what is unclear is a failure."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, CollectRun, Done, Refused, StopRun
from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.delegation import DelegationMode, DelegationState
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.report import AuthorReport, Report, ReviewReport
from nightcrew.core.model.run import Role, Run, RunOutcome, RunState, Stop
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.noticing import told_of_exit
from nightcrew.core.policy.retrying import describe_end
from nightcrew.core.words import render_commit_message
from nightcrew.engine.effect.cool import keep_unknown, settle_cooldowns, task_of
from nightcrew.engine.effect.ending import can_resume, own_usage, read_end
from nightcrew.engine.effect.internal import keep_result
from nightcrew.engine.effect.leak import mask_failure, mask_report
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.resolve import find_marks
from nightcrew.engine.effect.saying import tell_answer
from nightcrew.engine.effect.substance import find_nothing
from nightcrew.ports.workspace import Left

GIT_TIMEOUT_S = 300.0


async def stop_run(means: Means, action: StopRun) -> ActionOutcome:
    """End the session. Why is written down first, so that collecting it blames the agent for no more than it did."""
    run = await means.run(action.run)
    runtime = means.ports.runtime
    if runtime.look(means.folder(run)).has_result:
        return Refused("it has ended by itself")
    await means.ports.store.save_run(replace(run, stop=Stop(action.cause, action.why)))
    await means.journal.effect("session.stop", subject(run.task, run.id), lambda: runtime.stop_session(run.session))
    event = means.event("run.stopped", action.why, task=run.task, run=run.id, cause=action.cause.value)
    await means.ports.store.record_event(event)
    return Done()


async def collect_run(means: Means, action: CollectRun) -> ActionOutcome:
    """Work, verdict, row. Everything before the row may be done twice."""
    run = await means.run(action.run)
    if not run.is_open:
        return Refused("it was collected already")
    # Whatever is left of it ends first: a session that was killed may have an agent that still writes.
    await means.ports.runtime.stop_session(run.session)
    left = await _work(means, run) if run.role is Role.AUTHOR else None
    has_commits = left is not None and left.head_sha != run.head_sha
    reading, interruption = read_end(means, run, has_commits=has_commits)
    failure = reading.failure
    if failure is None and interruption is None:
        is_report = await keep_result(means, run, reading.report)
        nothing = None
        if not await _hands_over(means, run, reading.report):
            nothing = await find_nothing(means, run, report=reading.report, left=left)
        if nothing is not None and is_report:
            nothing, has_commits = None, False  # what was asked for is there, and notes of its author are no change
        failure = nothing or await find_marks(means, run, left)
    outcome = RunOutcome(
        report=mask_report(means.ports.mask, reading.report),
        failure=mask_failure(means.ports.mask, failure),
        usage=await own_usage(means, run, reading),
        head_sha=left.head_sha if left else run.head_sha,
        has_commits=has_commits,
        agent_session=reading.session or run.agent_session,
        interruption=interruption,
        can_resume=can_resume(means, run, reading),
        answered=reading.spoke,
    )
    ended = replace(run, state=RunState.ENDED, ended_at=means.ports.clock.now(), outcome=outcome)
    if isinstance(outcome.report, ReviewReport) and run.head_sha is not None:
        await _record_verdict(means, run, outcome.report, run.head_sha)
    await _clean_up(means, run)
    await mask_run_folder(means, run)
    await keep_unknown(means, run, reading)
    if interruption is None:
        await settle_cooldowns(means, ended)
    data = {"failure": outcome.failure.kind.value} if outcome.failure else {}
    if interruption is not None:
        data = {"interruption": interruption.kind.value}
    event = means.event("run.ended", describe_end(ended), task=run.task, run=run.id)
    event = replace(event, data={**data, "role": run.role.value})
    await tell_answer(means, ended)
    await means.ports.store.save_run(ended, event=event, notice=_notice(means, ended))
    means.started_with.pop(run.id, None)
    return Done()


async def _hands_over(means: Means, run: Run, report: Report | None) -> bool:
    """Whether an author proposes sub-tasks where they may be taken: what it leaves undone is no failure."""
    if not isinstance(report, AuthorReport) or not report.delegations:
        return False
    handed = (await means.task(run.task)).delegated
    is_refused = handed is not None and handed.state is DelegationState.REFUSED
    return means.project(run.task).delegation.allow is not DelegationMode.NEVER and not is_refused


def _notice(means: Means, ended: Run) -> Notice | None:
    told = told_of_exit(ended, means.project(ended.task).reactions, how=describe_end(ended))
    if told is None:
        return None
    return means.notice(told.kind, told.priority, told.words, task=ended.task, mark=f"{told.kind}:{ended.id}")


async def _work(means: Means, run: Run) -> Left | None:
    """What the author left, committed and brought into the engine's repository. None if it never had a workspace."""
    workspace, key = means.ports.workspace, run.task
    if run.head_sha is None and not workspace.path(key.project, key.number).exists():
        return None
    task = await means.task(key)
    message = render_commit_message(task.title, key.number, run.agent)
    commit = means.project(key).commit
    try:
        left = await means.journal.effect(
            "workspace.collect",
            subject(key, run.id),
            lambda: workspace.collect(key.project, key.number, agent=run.agent, commit=commit, message=message),
            timeout_s=GIT_TIMEOUT_S,
        )
    except Missing as error:
        await means.ports.store.record_event(means.event("workspace.problem", str(error), task=key, run=run.id))
        return None
    for problem in left.problems:
        await means.ports.store.record_event(means.event("workspace.problem", problem, task=key, run=run.id))
    return left


async def _record_verdict(means: Means, run: Run, report: ReviewReport, sha: Sha) -> None:
    task = await means.task(run.task)
    verdict = Verdict(
        run=run.id,
        task=run.task,
        decision=report.decision,
        head_sha=sha,
        base_ref=task.base_ref,
        agent=run.agent,
        model=run.model,
        summary=report.summary,
        findings=report.findings,
        at=means.ports.clock.now(),
    )
    why = f"{run.agent}: {report.decision.value}"
    event = means.event("verdict.recorded", why, task=run.task, run=run.id, decision=report.decision.value, sha=sha)
    await means.ports.store.record_verdict(verdict, event=event)


async def mask_run_folder(means: Means, run: Run) -> None:
    """Take the secrets out of what the run left behind. It has been read by now."""
    try:
        names = await means.ports.mask_folder(means.folder(run))
    except OSError as error:
        words = f"secrets may be left in {run.folder}: {error.strerror or error}"
        await means.ports.store.record_event(means.event("run.not_masked", words, task=task_of(run), run=run.id))
        return
    if names:
        words = f"secrets were taken out of {one_line(', '.join(names))}"
        await means.ports.store.record_event(means.event("run.masked", words, task=task_of(run), run=run.id))


async def _clean_up(means: Means, run: Run) -> None:
    """The throw-away checkout, the lease."""
    workspace, key = means.ports.workspace, run.task
    match run.role:
        case Role.AUTHOR:
            await workspace.release(key.project, key.number, lease=run.id)
        case Role.REVIEWER:
            await workspace.remove_checkout(key.project, run.id)
        case Role.ROUTER | Role.ASSISTANT:
            pass
