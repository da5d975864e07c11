"""Starting a run: run row, label, workspace, session, in this order. Claim and start are one operation: asked twice,
or cut short anywhere, it comes to one run."""

from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from nightcrew.core.actions import ActionOutcome, Done, Refused, ResumeStart, StartRun
from nightcrew.core.errors import Conflict, Denied, Invalid, Missing, PortError, Unavailable
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.run import Interruption, InterruptionKind, Role, Run, RunOutcome, RunState
from nightcrew.core.model.task import Task
from nightcrew.core.policy.cooling import cooled_until
from nightcrew.engine.effect.brief import PROMPT_FILE, write_brief
from nightcrew.engine.effect.confine import confine_setup
from nightcrew.engine.effect.equip import Unequipped
from nightcrew.engine.effect.held import why_held_now
from nightcrew.engine.effect.label import set_status_label
from nightcrew.engine.effect.means import Means, edge, subject
from nightcrew.engine.effect.rejoin import end_sub_tasks, take_base
from nightcrew.engine.effect.resolve import leave_conflict
from nightcrew.engine.effect.saying import said_to
from nightcrew.engine.effect.session import prepare_session
from nightcrew.engine.effect.stack import put_on
from nightcrew.engine.effect.status import label_moved
from nightcrew.engine.naming import run_folder, session_name
from nightcrew.ports.workspace import UNCONFINED, WorkspaceSpec

PREPARE_TIMEOUT_S = 900.0

_MOVES = {
    Role.AUTHOR: (Status.ROUTED, Status.IN_PROGRESS, Evidence.RUN_STARTED),
    Role.REVIEWER: (Status.NEEDS_REVIEW, Status.IN_REVIEW, Evidence.REVIEW_STARTED),
}


async def start_run(means: Means, action: StartRun) -> ActionOutcome:
    """Claim the task with a run row, then do what `resume_start` does."""
    task = await means.task(action.task)
    refusal = await _why_not(means, action, task)
    if refusal:
        return Refused(refusal)
    if action.role is Role.AUTHOR and task.pull is None and task.stack != action.stack:
        task = await put_on(means, task, action.stack)
    if action.role is Role.AUTHOR:
        task = await end_sub_tasks(means, task)
    now = await _next_moment(means, task)
    folder = run_folder(action.task, action.role, action.attempt)
    run = Run(
        id=means.ports.ids.run_id(),
        task=action.task,
        role=action.role,
        agent=action.agent,
        model=action.model,
        attempt=action.attempt,
        state=RunState.STARTING,
        session=session_name(action.task, action.role, action.attempt),
        folder=folder,
        created_at=now,
        deadline_s=action.deadline_s,
        head_sha=action.head_sha,
        agent_session=action.resumes or str(means.ports.ids.session_uuid()),
        resumes=action.resumes,
        hears=action.hears,
    )
    event = means.event(
        "run.claimed",
        action.why,
        task=action.task,
        run=run.id,
        role=action.role.value,
        agent=action.agent,
        model=action.model,
        attempt=action.attempt,
        **({"resumes": action.resumes} if action.resumes else {}),
    )
    if not await means.ports.store.record_run(run, event=event):
        return Refused("that run was claimed already")
    _put_aside(means.folder(run))
    return await _bring_up(means, run)


def _put_aside(folder: Path) -> None:
    """A run folder of that name from before the store was lost would be taken for this run's: it gets another name."""
    for number in range(1, 1000):
        if not folder.exists():
            return
        aside = folder.with_name(f"{folder.name}.before-{number}")
        if not aside.exists():
            folder.rename(aside)


async def _next_moment(means: Means, task: Task) -> datetime:
    """Now, or just after the last thing that counts for the order of runs, if the clock was set back since."""
    runs = await means.ports.store.load_runs(task=task.key)
    known = [run.created_at for run in runs] + ([task.reset_at] if task.reset_at is not None else [])
    return max([means.ports.clock.now(), *(at + timedelta(microseconds=1) for at in known)])


async def resume_start(means: Means, action: ResumeStart) -> ActionOutcome:
    """Finish starting a run whose row is there."""
    run = await means.run(action.run)
    if run.state is not RunState.STARTING:
        return Refused("it was started already")
    return await _bring_up(means, run)


async def _why_not(means: Means, action: StartRun, task: Task) -> str:
    """The evidence again: the status, the labels, that the agent may still be used, and what the task depends on."""
    if task.status is not action.source:
        return f"its status is {task.status.value} by now"
    if action.agent not in means.ports.agents:
        return f"there is no agent {action.agent}"
    if action.generation not in (0, means.settings.generation):
        return "the settings have changed meanwhile"
    cooldowns = await means.ports.store.load_cooldowns()
    cooled = cooled_until(cooldowns, agent=action.agent, model=action.model, now=means.ports.clock.now())
    if cooled is not None:
        return f"{action.agent} is cooling down by now"
    moved = await label_moved(means, task)
    if moved or action.role is not Role.AUTHOR:
        return moved
    return await why_held_now(means, task, action.stack)


async def _bring_up(means: Means, run: Run) -> ActionOutcome:
    if run.agent not in means.ports.agents:
        await _fail(means, run, Missing(f"there is no agent {run.agent} in the settings any more"))
        return Done(f"there is no agent {run.agent} any more")
    moved = await _move(means, run)
    if moved:
        return Refused(moved)
    try:
        cwd, run = await _place(means, run)
        prepared = await prepare_session(means, run, await write_brief(means, run, cwd))
    except Unequipped as error:
        await _fail(means, run, error, interruption=Interruption(InterruptionKind.STOPPED, str(error)))
        return Done(f"it was not started: {error}")
    except (Invalid, Missing, Denied, Conflict) as error:
        # Nothing was started, and starting it again would end the same way.
        await _fail(means, run, error)
        return Done(f"it could not be started: {error}")
    except Unavailable as error:
        return Refused(f"it cannot be started now: {error}")
    if not means.observer.is_configured(run.task.project, run.agent):
        await _fail(means, run, Missing("its project or its agent was taken out of the settings meanwhile"))
        return Done("it is not configured any more")
    means.started_with[run.id] = means.ports.agents[run.agent]
    spec, runtime = prepared.spec, means.ports.runtime
    await means.journal.effect("session.start", subject(run.task, run.id), lambda: runtime.start_session(spec))
    event = means.event(
        "run.started",
        f"{run.agent} started",
        task=run.task,
        run=run.id,
        session=run.session,
        sandbox=prepared.sandbox,
        **await _said(means, run),
    )
    clock = means.ports.clock
    started = replace(run, state=RunState.RUNNING, started_at=clock.now(), began_s=clock.monotonic())
    await means.ports.store.save_run(started, event=event)
    return Done()


async def _said(means: Means, run: Run) -> dict[str, object]:
    """The messages that stand in the prompt of a run, and the prompt's digest, for the record of its start."""
    said = [saying.id for saying in await said_to(means, run.task) if saying.run == run.id]
    if run.role is not Role.AUTHOR or not said:
        return {}
    return {"said": said, "prompt": sha256((means.folder(run) / PROMPT_FILE).read_bytes()).hexdigest()}


async def _move(means: Means, run: Run) -> str:
    """Move to the status that goes with the role; says why not, if the task has moved elsewhere."""
    if run.role not in _MOVES:
        return ""
    source, target, evidence = _MOVES[run.role]
    task = await means.task(run.task)
    if task.status is source:
        event = means.status_event(run.task, edge(source, target, evidence), f"{run.agent} starts", run=run.id)
        change = _count_attempt if run.role is Role.AUTHOR else None
        await means.ports.store.change_status(run.task, edge(source, target, evidence), event=event, change=change)
    elif task.status is not target:
        return f"its status is {task.status.value} by now"
    await set_status_label(means, run.task, target)
    return ""


def _count_attempt(task: Task) -> Task:
    return replace(task, attempts=task.attempts + 1, block=None)


async def _place(means: Means, run: Run) -> tuple[Path, Run]:
    """Where the agent works. An author's run is recorded with the HEAD that it begins at."""
    match run.role:
        case Role.ROUTER | Role.ASSISTANT:
            empty = means.folder(run) / "work"
            empty.mkdir(parents=True, exist_ok=True)
            return empty, run
        case Role.REVIEWER:
            sha = _needed(run.head_sha)
            workspace = means.ports.workspace
            path = await means.journal.effect(
                "checkout.ensure",
                subject(run.task, run.id),
                lambda: workspace.ensure_review_checkout(run.task.project, run.id, sha),
            )
            return path, run
        case Role.AUTHOR:
            return await _author_place(means, run)


async def _author_place(means: Means, run: Run) -> tuple[Path, Run]:
    workspace, scm = means.ports.workspace, means.forge(run.task).scm
    project = means.project(run.task)
    task = await means.task(run.task)
    base_ref = task.base_ref or await _base_ref(means, run.task)
    if run.attempt > 1 or task.pull is not None or not await _is_fetched(means, run.task.project, base_ref):
        await workspace.fetch(run.task.project, await scm.fetch_remote(run.task.project))
    task = await take_base(means, run, task, base_ref)
    # A branch whose pull request a person closed is gone on with: nothing is ever forced over it.
    start = run.head_sha or await workspace.find_branch(run.task.project, task.branch)
    spec = WorkspaceSpec(run.task.project, run.task.number, task.branch, base_ref, run.id, start)
    checkout = await means.journal.effect(
        "workspace.ensure",
        subject(run.task, run.id),
        lambda: workspace.ensure_workspace(spec),
        timeout_s=PREPARE_TIMEOUT_S,
    )
    confinement = await confine_setup(means, run.task, checkout.path) if project.setup else UNCONFINED
    log = means.folder(run) / "setup.log"
    warnings = await workspace.prepare(spec, project, log=log, confinement=confinement)
    run = replace(run, head_sha=checkout.head_sha)
    await means.ports.store.save_run(run)
    await leave_conflict(means, run, task)
    if (task.base_ref, task.started_from) != (base_ref, checkout.base_sha):
        await means.ports.store.update_task(
            run.task, lambda stored: replace(stored, base_ref=base_ref, started_from=checkout.base_sha)
        )
    for warning in (*checkout.warnings, *warnings):
        await means.ports.store.record_event(means.event("workspace.warning", warning, task=run.task, run=run.id))
    return checkout.path, run


async def _is_fetched(means: Means, project: str, base_ref: str) -> bool:
    """Whether the base is here as the last look saw it on the forge: a first attempt needs no more than that."""
    seen = means.observer.base_sha(project)
    try:
        return seen is not None and await means.ports.workspace.find_branch(project, base_ref) == seen
    except Missing:
        return False


async def _base_ref(means: Means, key: TaskKey) -> str:
    configured = means.project(key).base_ref
    if configured:
        return configured
    repository = await means.forge(key).scm.fetch_repository(key.project)
    return repository.default_branch


async def _fail(means: Means, run: Run, error: PortError, *, interruption: Interruption | None = None) -> None:
    """A run that could not be started has a row with its reason, like any other. An earlier try at the same start may
    have left its session, which would work on beside the next run's."""
    await means.ports.runtime.stop_session(run.session)
    now = means.ports.clock.now()
    failure = Failure(FailureKind.CRASH, f"it could not be started: {error}") if interruption is None else None
    outcome = RunOutcome(None, failure, interruption=interruption)
    ended = replace(run, state=RunState.ENDED, ended_at=now, outcome=outcome)
    event = means.event("run.failed_to_start", str(error), task=run.task, run=run.id)
    if run.role is Role.AUTHOR:
        await means.ports.workspace.release(run.task.project, run.task.number, lease=run.id)
    elif run.role is Role.REVIEWER:
        await means.ports.workspace.remove_checkout(run.task.project, run.id)
    await means.ports.store.save_run(ended, event=event)


def _needed(sha: Sha | None) -> Sha:
    if sha is None:
        raise Invalid("a reviewer run needs the SHA that it reviews")
    return sha
