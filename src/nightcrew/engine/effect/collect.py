"""Collecting a run that has ended: its work first, then what it says, then the record. Nothing is taken on trust: work
is what git says, the outcome what the adapter reads, and what is unclear is a failure."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from nightcrew.core.actions import ActionOutcome, CollectRun, Done, Refused, StopRun
from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import Sha
from nightcrew.core.model.report import ReviewReport
from nightcrew.core.model.run import Role, Run, RunOutcome, RunState
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.retrying import describe_end
from nightcrew.core.words import render_commit_message
from nightcrew.engine.effect.brief import REPORT_FILE, write_private
from nightcrew.engine.effect.cool import keep_unknown, settle_cooldowns
from nightcrew.engine.effect.leak import mask_failure, mask_report
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.substance import find_nothing
from nightcrew.ports.agent import Reading, RunOutput
from nightcrew.ports.runtime import SessionResult
from nightcrew.ports.workspace import Left

STOP_FILE = "stopped.json"
OUTPUT_CAP = 64_000_000
REPORT_CAP = 1_000_000
GIT_TIMEOUT_S = 300.0


async def stop_run(means: Means, action: StopRun) -> ActionOutcome:
    """End the session. Why is left in the run folder, so that collecting it does not blame the agent."""
    run = await means.run(action.run)
    folder, runtime = means.folder(run), means.ports.runtime
    if runtime.look(folder).has_result:
        return Refused("it has ended by itself")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):  # an agent may have put a folder there: it is ended all the same
        write_private(folder / STOP_FILE, json.dumps({"why": action.why}))
    await means.journal.effect("session.stop", subject(run.task, run.id), lambda: runtime.stop_session(run.session))
    event = means.event("run.stopped", action.why, task=run.task, run=run.id)
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
    reading = _read(means, run)
    failure = reading.failure or await find_nothing(means, run, report=reading.report, left=left)
    outcome = RunOutcome(
        report=mask_report(means.ports.mask, reading.report),
        failure=mask_failure(means.ports.mask, failure),
        usage=reading.usage,
        head_sha=left.head_sha if left else run.head_sha,
        has_commits=left is not None and left.head_sha != run.head_sha,
        agent_session=reading.session or run.agent_session,
    )
    ended = replace(run, state=RunState.ENDED, ended_at=means.ports.clock.now(), outcome=outcome)
    if isinstance(outcome.report, ReviewReport) and run.head_sha is not None:
        await _record_verdict(means, run, outcome.report, run.head_sha)
    await _clean_up(means, run)
    await _mask_folder(means, run)
    await keep_unknown(means, run, reading)
    if outcome.failure is None or not _ended_from_outside(means, run):
        await settle_cooldowns(means, ended)
    data = {"failure": outcome.failure.kind.value} if outcome.failure else {}
    event = means.event("run.ended", describe_end(ended), task=run.task, run=run.id)
    await means.ports.store.save_run(ended, event=replace(event, data={**data, "role": run.role.value}))
    means.started_with.pop(run.id, None)
    return Done()


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


def _read(means: Means, run: Run) -> Reading:
    folder = means.folder(run)
    stopped = _stopped(folder)
    if stopped:
        return Reading(None, Failure(FailureKind.TIMEOUT, f"it was ended: {stopped}"))
    try:
        result = means.ports.runtime.load_result(folder)
    except Invalid as error:
        return Reading(None, Failure(FailureKind.CRASH, str(error)))
    if result is None:
        return Reading(None, Failure(FailureKind.CRASH, "its session was lost before it could write a result"))
    adapter = means.find_adapter(run)
    if adapter is None:
        return Reading(None, Failure(FailureKind.CRASH, f"there is no agent {run.agent} in the settings any more"))
    return adapter.read(_output(folder, run, result))


def _output(folder: Path, run: Run, result: SessionResult) -> RunOutput:
    return RunOutput(
        role=run.role,
        stdout=_tail(folder / "stdout.log"),
        stderr=_tail(folder / "stderr.log"),
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        report=_report(folder / REPORT_FILE),
        error=result.error,
        ended_at=result.ended_at,
    )


def _tail(path: Path) -> bytes:
    """The last bytes of a stream: what matters stands at its end."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - OUTPUT_CAP))
        return stream.read()


def _report(path: Path) -> str | None:
    """The report file, if it is a plain file: an agent may have put anything there."""
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as stream:
        return stream.read(REPORT_CAP).decode("utf-8", "replace")


def _stopped(folder: Path) -> str:
    path = folder / STOP_FILE
    if path.is_symlink() or not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8")).get("why", "")) or "stopped"
    except (ValueError, AttributeError):
        return "stopped"


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


def _ended_from_outside(means: Means, run: Run) -> bool:
    """Whether somebody or something else ended it: by a command, with its session, or with the tmux server."""
    if _stopped(means.folder(run)):
        return True
    try:
        result = means.ports.runtime.load_result(means.folder(run))
    except Invalid:
        return False
    return result is None or result.error.startswith("stopped by")


async def _mask_folder(means: Means, run: Run) -> None:
    """Take the secrets out of what the run left behind. It has been read by now."""
    try:
        names = await means.ports.mask_folder(means.folder(run))
    except OSError as error:
        words = f"secrets may be left in {run.folder}: {error.strerror or error}"
        await means.ports.store.record_event(means.event("run.not_masked", words, task=run.task, run=run.id))
        return
    if names:
        words = f"secrets were taken out of {one_line(', '.join(names))}"
        await means.ports.store.record_event(means.event("run.masked", words, task=run.task, run=run.id))


async def _clean_up(means: Means, run: Run) -> None:
    """The throw-away checkout, the lease."""
    workspace, key = means.ports.workspace, run.task
    match run.role:
        case Role.AUTHOR:
            await workspace.release(key.project, key.number, lease=run.id)
        case Role.REVIEWER:
            await workspace.remove_checkout(key.project, run.id)
        case Role.ROUTER:
            pass
