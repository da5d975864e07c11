"""Publishing: push the branch, have the pull request open, move on to review."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, PublishWork, Refused
from nightcrew.core.errors import Conflict, Denied, Missing, OutcomeUnknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.task import Block, Task
from nightcrew.core.words import render_pull_body, render_pull_title
from nightcrew.engine.effect.label import set_status_label
from nightcrew.engine.effect.leak import find_leak
from nightcrew.engine.effect.means import Means, edge, subject
from nightcrew.engine.effect.stack import follow_stack
from nightcrew.engine.effect.status import block_notice, label_moved
from nightcrew.engine.journal import look_for
from nightcrew.ports.scm import NewPull

PUSH_TIMEOUT_S = 300.0


async def publish_work(means: Means, action: PublishWork) -> ActionOutcome:
    """Push, pull request, status. Each looks first whether it is already so."""
    task = await means.task(action.task)
    if task.status is not Status.IN_PROGRESS:
        return Refused(f"its status is {task.status.value} by now")
    moved = await label_moved(means, task)
    if moved:
        return Refused(moved)
    try:
        leak = await _push(means, task, action)
    except (Conflict, Denied) as error:
        await _block(means, task, Block("push_refused", f"the branch {task.branch} could not be pushed: {error}"))
        return Done("blocked")
    if leak is not None:
        await _block(means, task, leak)
        return Done("blocked")
    task = await follow_stack(means, task)
    pull = await _have_pull(means, task, action)
    step = edge(Status.IN_PROGRESS, Status.NEEDS_REVIEW, Evidence.PULL_REQUEST)
    why = f"pull request #{pull.number} is at {action.head_sha[:10]}"
    event = means.status_event(action.task, step, why, run=action.run)
    await means.ports.store.change_status(
        action.task,
        step,
        event=event,
        change=lambda stored: replace(stored, pull=pull.number, approved_sha=None, conflict=None),
    )
    await set_status_label(means, action.task, Status.NEEDS_REVIEW)
    return Done()


async def _push(means: Means, task: Task, action: PublishWork) -> Block | None:
    """Push what has no secret in it; what stands in the way otherwise."""
    workspace, scm = means.ports.workspace, means.forge(task.key).scm
    remote = await scm.fetch_remote(task.key.project)
    expected = await scm.find_branch(task.key.project, task.branch)
    if expected == action.head_sha:
        return None
    leak = await find_leak(means, task, head=action.head_sha, pushed=expected)
    if leak is not None:
        return leak
    await means.journal.effect(
        "branch.push",
        subject(task.key, action.run),
        lambda: workspace.push(task.key.project, remote, branch=task.branch, sha=action.head_sha, expected=expected),
        detail=f"{task.branch} {action.head_sha}",
        timeout_s=PUSH_TIMEOUT_S,
    )
    return None


async def _have_pull(means: Means, task: Task, action: PublishWork) -> Pull:
    """The open pull request of the branch, opened if there is none."""
    scm, key = means.forge(task.key).scm, task.key
    found = await _find_open(means, task)
    if found is not None:
        return found
    run = await means.run(action.run)
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    report = run.outcome.report if run.outcome and isinstance(run.outcome.report, AuthorReport) else None
    if report is None:
        raise Missing(f"run {action.run} has no report to open a pull request with")
    mask = means.ports.mask
    body = mask(render_pull_body(issue, run, report))
    new = NewPull(mask(render_pull_title(issue)), body, task.branch, task.base_ref)
    try:
        return await means.journal.effect(
            "pull.create", subject(key, action.run), lambda: scm.create_pull(key.project, new), detail=task.branch
        )
    except OutcomeUnknown as error:
        return await look_for(error, lambda: _find_open(means, task))


async def _find_open(means: Means, task: Task) -> Pull | None:
    """The open pull request of the task's branch."""
    scm = means.forge(task.key).scm
    found = await scm.find_pull(task.key.project, head_ref=task.branch, base_ref=task.base_ref)
    return found if found is not None and found.is_open else None


async def _block(means: Means, task: Task, block: Block) -> None:
    step = edge(task.status, Status.BLOCKED, Evidence.NEEDS_PERSON)
    stamped = replace(block, at=means.ports.clock.now())
    event = means.status_event(task.key, step, block.words)
    await means.ports.store.change_status(
        task.key,
        step,
        event=event,
        change=lambda stored: replace(stored, block=stamped),
        notice=block_notice(means, task, block),
    )
    await set_status_label(means, task.key, Status.BLOCKED)
