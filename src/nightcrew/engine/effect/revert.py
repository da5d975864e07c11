"""Taking a merge back by a pull request of its own, which an internal task carries through the usual gate.

Each step looks first whether it was made: asked for twice, or cut short, it comes to one branch, one pull request and
one task.
"""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, Refused, RevertMerge
from nightcrew.core.branch import PREFIX
from nightcrew.core.errors import Missing, OutcomeUnknown
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.revert import render_revert_body, render_revert_message, render_revert_title
from nightcrew.engine.effect.internal import NewTask, draft_internal
from nightcrew.engine.effect.means import Means
from nightcrew.engine.journal import Subject, look_for
from nightcrew.engine.view.landed import as_landed
from nightcrew.ports.scm import NewPull
from nightcrew.ports.workspace import MergeConflict

PUSH_TIMEOUT_S = 300.0


async def revert_merge(means: Means, action: RevertMerge) -> ActionOutcome:
    """Have a pull request that takes `action.pull` back, and a task that carries it."""
    scm, slug = means.forge(action.task).scm, action.project
    merged = await as_landed(means.ports.store, slug, await scm.fetch_pull(slug, action.pull))
    if not merged.is_merged or merged.merge_commit_sha is None:
        return Refused(f"#{action.pull} is not merged")
    await means.ports.workspace.fetch(slug, await scm.fetch_remote(slug))
    there = await scm.find_pull(slug, head_ref=revert_branch(action.pull), base_ref=merged.base_ref)
    if there is not None and (await as_landed(means.ports.store, slug, there)).is_merged:
        return Refused(f"#{action.pull} was reverted by #{there.number} already")
    if there is None or not there.is_open:
        pushed = await _push(means, action, merged)
        if isinstance(pushed, Refused):
            return pushed
        there = await _open(means, action, merged)
    key = await _have_task(means, action, merged, there)
    if action.of is not None:
        await _link(means, action.of, key, there)
    return Done(f"#{there.number} takes #{action.pull} back ({key})")


def revert_branch(pull: int) -> str:
    return f"{PREFIX}revert-{pull}"


async def find_revert(means: Means, project: str, pull: int) -> Task | None:
    """The task that takes a pull request back, the newest if there were several."""
    tasks = await means.ports.store.load_tasks(project=project, include_done=True)
    found = [task for task in tasks if task.key.is_internal and task.branch == revert_branch(pull)]
    return max(found, key=lambda task: task.key.number, default=None)


async def _push(means: Means, action: RevertMerge, merged: Pull) -> Sha | Refused:
    """The commit on the base as it is now, on a branch of our own. One that is there from before is used if it stands
    on the merge: then it was cut short."""
    scm, workspace, slug = means.forge(action.task).scm, means.ports.workspace, action.project
    merge, branch = Sha(str(merged.merge_commit_sha)), revert_branch(action.pull)
    base = await workspace.find_branch(slug, merged.base_ref)
    if base is None:
        return Refused(f"the branch {merged.base_ref} is gone")
    try:
        if not await workspace.is_ancestor(slug, ancestor=merge, descendant=base):
            return Refused(f"{merge[:10]} is not on {merged.base_ref}")
        before = await workspace.find_before(slug, merge=merge, head=merged.head_sha)
    except Missing as error:
        return Refused(f"what was merged is not to be found: {error}")
    made = await workspace.revert_merge(
        slug,
        merge=merge,
        before=before,
        base=base,
        message=render_revert_message(merged, merge),
        commit=means.project(action.task).commit,
    )
    if isinstance(made, MergeConflict):
        words = ", ".join(made.paths[:5])
        return Refused(f"what landed since stands in the way ({words}); file a task to have it taken back")
    if made == base:
        return Refused(f"nothing of #{action.pull} is left on {merged.base_ref}")
    expected, remote = await scm.find_branch(slug, branch), await scm.fetch_remote(slug)
    if expected != made:
        # Ours by its name; what a try before left on it is replaced.
        await means.journal.effect(
            "branch.push",
            _subject(action),
            lambda: workspace.push(slug, remote, branch=branch, sha=made, expected=expected, replace=True),
            detail=f"{branch} {made}",
            timeout_s=PUSH_TIMEOUT_S,
        )
    return made


async def _open(means: Means, action: RevertMerge, merged: Pull) -> Pull:
    scm, slug, branch = means.forge(action.task).scm, action.project, revert_branch(action.pull)
    body = means.ports.mask(render_revert_body(merged, action.why))
    new = NewPull(means.ports.mask(render_revert_title(merged)), body, branch, merged.base_ref)

    async def find() -> Pull | None:
        found = await scm.find_pull(slug, head_ref=branch, base_ref=merged.base_ref)
        return found if found is not None and found.is_open else None

    try:
        return await means.journal.effect(
            "pull.create", _subject(action), lambda: scm.create_pull(slug, new), detail=branch
        )
    except OutcomeUnknown as error:
        return await look_for(error, find)


async def _have_task(means: Means, action: RevertMerge, merged: Pull, pull: Pull) -> TaskKey:
    """The internal task that carries the pull request from review to merge, recorded once."""
    store = means.ports.store
    known = await find_revert(means, action.project, action.pull)
    if known is not None and known.pull == pull.number:
        return known.key
    base = await means.ports.workspace.find_branch(action.project, pull.base_ref)
    new = NewTask(render_revert_title(merged), render_revert_body(merged, action.why), action.why, priority=10)

    def carried(task: Task) -> Task:
        return replace(
            task,
            status=Status.NEEDS_REVIEW,
            branch=pull.head_ref,
            base_ref=pull.base_ref,
            started_from=base,
            pull=pull.number,
        )

    def draft(key: TaskKey) -> tuple[Task, InternalTask, Event]:
        task, internal, event = draft_internal(means, key, new)
        return carried(task), internal, event

    return await store.record_internal(action.project, draft)


async def _link(means: Means, of: TaskKey, key: TaskKey, pull: Pull) -> None:
    """The task that was merged says by which it is taken back."""
    task = await means.task(of)
    if task.landing is None or task.landing.revert == key:
        return

    def change(stored: Task) -> Task:
        landing = stored.landing
        return stored if landing is None else replace(stored, landing=replace(landing, revert=key))

    event = means.event("landing.revert", f"{key} takes it back by #{pull.number}", task=of, by=str(key))
    await means.ports.store.update_task(of, change, event=event)


def _subject(action: RevertMerge) -> Subject:
    return Subject(action.of)
