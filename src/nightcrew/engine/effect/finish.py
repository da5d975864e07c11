"""Closing out: the merge is proven on the fetched base, the issue closed, branch and workspace removed with nothing
lost, and the task done."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, FinishTask, Refused
from nightcrew.core.branch import PREFIX
from nightcrew.core.errors import Missing
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.noticing import MERGED
from nightcrew.engine.effect.label import set_status_label
from nightcrew.engine.effect.landing import begin_watch
from nightcrew.engine.effect.means import Means, edge, subject
from nightcrew.engine.effect.stack import send_on
from nightcrew.engine.view.landed import as_landed

REMOVE_TIMEOUT_S = 300.0


async def finish_task(means: Means, action: FinishTask) -> ActionOutcome:
    """Prove, close, clean, record. A task whose issue is gone is only cleaned and recorded."""
    task = await means.task(action.task)
    if task.status is Status.DONE:
        await set_status_label(means, task.key, Status.DONE)
        return Done()
    landing = task.landing
    if action.merged:
        proven = await _prove(means, task)
        if isinstance(proven, str):
            return Refused(proven)
        landing = None if action.as_seen else await begin_watch(means, task, proven)
    if not action.as_seen:
        await _close_issue(means, task)
        await remove_branch(means, task, merged=action.merged)
    await _remove_workspace(means, task, merged=action.merged and await _is_all_merged(means, task))
    evidence = Evidence.MERGED if action.merged and task.status is not Status.NEW else Evidence.FINISHED
    if action.merged and task.status in (Status.ROUTED, Status.IN_PROGRESS):
        evidence = Evidence.FINISHED
    runs = await means.ports.store.load_runs(task=task.key)
    last = runs[-1].id if runs else ""
    step = edge(task.status, Status.DONE, evidence)
    event = means.status_event(task.key, step, action.why)
    await means.ports.store.change_status(
        task.key,
        step,
        event=event,
        change=lambda stored: replace(
            stored, block=None, landing=landing, done_after=last if action.merged else stored.done_after
        ),
        labels_follow=not action.as_seen,
        command=action.command,
        notice=_notice(means, task, action),
    )
    if not action.as_seen:
        await set_status_label(means, task.key, Status.DONE)
    return Done()


def _notice(means: Means, task: Task, action: FinishTask) -> Notice | None:
    if not action.merged or action.as_seen:
        return None
    words = f"Pull request #{task.pull} is merged: {one_line(task.title, 200)}"
    return means.notice(MERGED, Priority.INFO, words, task=task.key)


async def _prove(means: Means, task: Task) -> Pull | str:
    """The pull request whose merge is on the base as fetched now; else why that is not proven yet."""
    scm, workspace, slug = means.forge(task.key).scm, means.ports.workspace, task.key.project
    if task.pull is None:
        return "it has no pull request"
    pull = await scm.fetch_pull(slug, task.pull)
    pull = await as_landed(means.ports.store, slug, pull)
    merge_sha = pull.merge_commit_sha
    if not pull.is_merged or merge_sha is None:
        return "the pull request is not merged"
    await workspace.fetch(slug, await scm.fetch_remote(slug))
    base = await workspace.find_branch(slug, pull.base_ref)
    if base is None:
        return f"the base branch {pull.base_ref} is gone"
    try:
        if not await workspace.is_ancestor(slug, ancestor=merge_sha, descendant=base):
            return f"the merge {merge_sha[:10]} is not on {pull.base_ref} as fetched"
    except Missing:
        return f"the merge {merge_sha[:10]} is not on {pull.base_ref} as fetched"
    if task.merge_sha != merge_sha:
        event = means.event("pull.merge_proven", f"on {pull.base_ref}", task=task.key, merge=merge_sha)
        await means.ports.store.update_task(task.key, lambda stored: replace(stored, merge_sha=merge_sha), event=event)
    return pull


async def _close_issue(means: Means, task: Task) -> None:
    tracker, key = means.forge(task.key).tracker, task.key
    try:
        issue = await tracker.fetch_issue(key.project, key.number)
    except Missing:
        return
    if issue.is_open:
        await means.journal.effect(
            "issue.close", subject(key), lambda: tracker.set_issue_open(key.project, key.number, is_open=False)
        )


async def remove_branch(means: Means, task: Task, *, merged: bool) -> None:
    """Only Nightcrew's own branch, only when it holds nothing but what was merged."""
    if not merged or task.pull is None or not task.branch.startswith(PREFIX):
        return
    scm, key = means.forge(task.key).scm, task.key
    pull: Pull = await scm.fetch_pull(key.project, task.pull)
    if pull.head_ref != task.branch or pull.is_fork:
        return
    if await scm.find_branch(key.project, task.branch) != pull.head_sha:
        return  # gone already, or somebody pushed after the merge
    await send_on(means, task, base_ref=pull.base_ref)
    await means.journal.effect(
        "branch.delete", subject(key), lambda: scm.delete_branch(key.project, task.branch), detail=task.branch
    )


async def _is_all_merged(means: Means, task: Task) -> bool:
    """Whether the work that was collected last is in what was merged. A person can merge while the next round is at
    work: what that round did is on no branch of the forge. Not known is no, and keeps more than it has to."""
    if task.pull is None:
        return False
    runs = await means.ports.store.load_runs(task=task.key)
    heads = [run.outcome.head_sha for run in runs if run.role is Role.AUTHOR and run.outcome and run.outcome.head_sha]
    if not heads:
        return False
    pull = await means.forge(task.key).scm.fetch_pull(task.key.project, task.pull)
    if heads[-1] == pull.head_sha:
        return True
    try:
        return await means.ports.workspace.is_ancestor(task.key.project, ancestor=heads[-1], descendant=pull.head_sha)
    except Missing:
        return False


async def _remove_workspace(means: Means, task: Task, *, merged: bool) -> None:
    workspace, key = means.ports.workspace, task.key
    salvaged = await means.journal.effect(
        "workspace.remove",
        subject(key),
        lambda: workspace.remove_workspace(key.project, key.number, merged=merged),
        timeout_s=REMOVE_TIMEOUT_S,
    )
    for ref in salvaged:
        words = f"work that was not on the forge is kept as {ref}"
        await means.ports.store.record_event(means.event("workspace.salvaged", words, task=key, ref=ref))
