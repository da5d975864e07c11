"""Pull requests that stand on others: beginning at the one below, and following it once it is merged.

Whoever is sent to another base has to be reviewed anew, unless it is the very same change there, by its patch id. What
was squashed away below it is taken out of it by bringing the new base in; that, too, is the same change or not.
"""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, Refused, RetargetPull
from nightcrew.core.branch import PREFIX
from nightcrew.core.errors import Invalid
from nightcrew.core.ids import Sha, render_sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import UpdateMethod
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.report import Decision
from nightcrew.core.model.task import Stack, Task
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.status import label_moved
from nightcrew.engine.effect.update import PUSH_TIMEOUT_S, carry_verdict, is_same_change
from nightcrew.engine.view.landed import as_landed
from nightcrew.ports.workspace import MergeConflict

_UNDER_REVIEW = (Status.NEEDS_REVIEW, Status.IN_REVIEW)


async def put_on(means: Means, task: Task, stack: Stack | None) -> Task:
    """Have the task begin at another's branch, or at the base again."""
    words = f"it stands on pull request #{stack.pull}" if stack is not None else "it stands on the base"
    event = means.event("task.stacked", words, task=task.key)
    base_ref = stack.branch if stack is not None else ""
    return await means.ports.store.update_task(
        task.key, lambda stored: replace(stored, stack=stack, base_ref=base_ref), event=event
    )


async def follow_stack(means: Means, task: Task) -> Task:
    """The task before its pull request is opened: if what it stands on was merged meanwhile, it goes to that base. That
    it does not stand on it any more is for `retarget_pull` to settle, which takes the other's commits out of it."""
    if task.stack is None:
        return task
    below = await _below(means, task, task.stack)
    return replace(task, base_ref=below.base_ref) if below.is_merged else task


async def _below(means: Means, task: Task, stack: Stack) -> Pull:
    """The pull request that a task stands on, as now."""
    pull = await means.forge(task.key).scm.fetch_pull(task.key.project, stack.pull)
    return await as_landed(means.ports.store, task.key.project, pull)


async def send_on(means: Means, merged: Task, *, base_ref: str) -> None:
    """Before the branch of a merged task goes, send the pull requests that stand on it to where it was merged: some
    forges close them else."""
    scm, project = means.forge(merged.key).scm, merged.key.project
    for task in await means.ports.store.load_tasks(project=project):
        if task.stack is None or task.stack.pull != merged.pull or task.pull is None:
            continue
        pull = await scm.fetch_pull(project, task.pull)
        if pull.is_open and pull.base_ref == merged.branch:
            await _send(means, task, pull, base_ref)


async def retarget_pull(means: Means, action: RetargetPull) -> ActionOutcome:
    """Verdict, branch, base, row, each as if it might have been done already."""
    key, scm, workspace = action.task, means.forge(action.task).scm, means.ports.workspace
    task = await means.task(key)
    refusal = await _why_not(means, task, action)
    if task.stack is None or refusal:
        return Refused(refusal or "it stands on nothing any more")
    below = await _below(means, task, task.stack)
    pull = await scm.fetch_pull(key.project, action.pull)
    if not below.is_merged or below.base_ref != action.base_ref:
        return Refused("the pull request that it stands on is not merged there")
    if not pull.is_open or pull.is_fork or pull.head_sha != action.head_sha:
        return Refused("the pull request is not what it was")
    await workspace.fetch(key.project, await scm.fetch_remote(key.project))
    base = await workspace.find_branch(key.project, action.base_ref)
    if base is None:
        return Refused(f"there is no branch {action.base_ref}")
    if task.status in _UNDER_REVIEW:
        await _bring_over(means, task, action, below=below, base=base)
    if pull.base_ref != action.base_ref:
        await _send(means, task, pull, action.base_ref)
    await _come_down(means, task, action.base_ref)
    return Done()


async def _why_not(means: Means, task: Task, action: RetargetPull) -> str:
    if task.status is not action.source or task.pull != action.pull:
        return f"its status is {task.status.value} by now"
    return await label_moved(means, task)


async def _bring_over(means: Means, task: Task, action: RetargetPull, *, below: Pull, base: Sha) -> None:
    """The head on the new base, without what it stood on, and the verdict for it, where it is the same change. Only a
    branch of our own is rewritten. A conflict is left to what is done about conflicts."""
    key, scm, workspace = action.task, means.forge(action.task).scm, means.ports.workspace
    answer = await workspace.bring_in(
        key.project,
        head=action.head_sha,
        base=base,
        method=UpdateMethod.REBASE if task.branch.startswith(PREFIX) else UpdateMethod.MERGE,
        message=f"Merge {action.base_ref} into {task.branch}",
        commit=means.project(key).commit,
        since=below.head_sha,
    )
    head = action.head_sha if isinstance(answer, MergeConflict) else answer
    before = (below.head_sha, action.head_sha)
    if await is_same_change(means, key, before=before, after=(base, head)):
        if head == action.head_sha:
            await _keep_verdict(means, task, action)
        else:
            await carry_verdict(means, action, base=base, head=head, of_base=task.base_ref)
    if head == action.head_sha:
        return
    remote = await scm.fetch_remote(key.project)
    rewrites = not await workspace.is_ancestor(key.project, ancestor=action.head_sha, descendant=head)
    await means.journal.effect(
        "branch.update",
        subject(key),
        lambda: workspace.push(
            key.project, remote, branch=task.branch, sha=head, expected=action.head_sha, replace=rewrites
        ),
        detail=f"{task.branch} {head}",
        timeout_s=PUSH_TIMEOUT_S,
    )


async def _keep_verdict(means: Means, task: Task, action: RetargetPull) -> None:
    verdicts = await means.ports.store.load_verdicts(task=task.key)
    given = next((verdict for verdict in reversed(verdicts) if verdict.head_sha == action.head_sha), None)
    if given is None or given.decision is not Decision.APPROVE or given.base_ref != task.base_ref:
        return
    words = (
        f"{given.agent}'s approval of {render_sha(action.head_sha)} holds for {action.base_ref} too: it is the same "
        "change there (equal patch id). Nobody reviewed it anew."
    )
    event = means.event("verdict.carried", words, task=task.key, run=given.run, sha=action.head_sha)
    await means.ports.store.retarget_verdict(given.run, head_sha=action.head_sha, base_ref=action.base_ref, event=event)


async def _send(means: Means, task: Task, pull: Pull, base_ref: str) -> None:
    scm = means.forge(task.key).scm
    try:
        await means.journal.effect(
            "pull.retarget",
            subject(task.key),
            lambda: scm.set_pull_base(task.key.project, pull.number, base_ref=base_ref),
            detail=base_ref,
        )
    except Invalid as error:
        # It has nothing of its own there: what becomes of it then is for the forge and its people to say.
        await means.ports.store.record_event(means.event("pull.not_retargeted", str(error), task=task.key))


async def _come_down(means: Means, task: Task, base_ref: str) -> None:
    event = means.event("task.unstacked", f"what it stood on is merged into {base_ref}", task=task.key)
    await means.ports.store.update_task(
        task.key, lambda stored: replace(stored, stack=None, base_ref=base_ref), event=event
    )
