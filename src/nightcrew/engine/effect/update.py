"""Bringing the base into the branch of a pull request: by the engine where that is clean, else by the author.

A verdict on the old head is carried over only if the new head has the same change, by its patch id; that is written
down before the push, so that a crash in between loses nothing. Checks run on the new head in any case.
"""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, Refused, RetargetPull, UpdateBranch
from nightcrew.core.branch import PREFIX
from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha, TaskKey, render_sha
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.merge import UpdateMethod
from nightcrew.core.model.report import Decision
from nightcrew.core.model.task import BaseConflict, Task
from nightcrew.core.neutral import one_line
from nightcrew.engine.effect.label import set_status_label
from nightcrew.engine.effect.means import Means, edge, subject
from nightcrew.engine.effect.status import label_moved
from nightcrew.ports.workspace import MergeConflict

PUSH_TIMEOUT_S = 300.0


async def update_branch(means: Means, action: UpdateBranch) -> ActionOutcome:
    """Have the base in the branch, or the conflict with the author, if the pull request is still as it was seen."""
    key, scm, workspace = action.task, means.forge(action.task).scm, means.ports.workspace
    task = await means.task(key)
    if task.status is not action.source:
        return Refused(f"its status is {task.status.value} by now")
    moved = await label_moved(means, task)
    if moved:
        return Refused(moved)
    pull = await scm.fetch_pull(key.project, action.pull)
    if not pull.is_open or pull.is_fork or (pull.head_sha, pull.base_ref) != (action.head_sha, action.base_ref):
        return Refused("the pull request is not what it was")
    await workspace.fetch(key.project, await scm.fetch_remote(key.project))
    base = await workspace.find_branch(key.project, pull.base_ref)
    if base is None:
        return Refused(f"there is no branch {pull.base_ref} any more")
    # Only a branch of our own is ever rewritten.
    answer = await workspace.bring_in(
        key.project,
        head=pull.head_sha,
        base=base,
        method=means.project(key).merge.update if pull.head_ref.startswith(PREFIX) else UpdateMethod.MERGE,
        message=render_update_message(task),
        commit=means.project(key).commit,
    )
    if isinstance(answer, MergeConflict):
        await _hand_over(means, action, BaseConflict(base, answer.paths))
        return Done("its author is to resolve the conflict")
    if answer == pull.head_sha:
        return Refused(f"it has {pull.base_ref} in it already; the forge has not seen that yet")
    await _put_forward(means, action, pull.head_ref, base=base, head=answer)
    return Done()


def render_update_message(task: Task) -> str:
    return f"Merge {task.base_ref} into {task.branch}"


async def _put_forward(means: Means, action: UpdateBranch, branch: str, *, base: Sha, head: Sha) -> None:
    """The verdict first, then the push, then the count."""
    key, scm, workspace = action.task, means.forge(action.task).scm, means.ports.workspace
    same = await is_same_change(means, key, before=(base, action.head_sha), after=(base, head))
    if same:
        await carry_verdict(means, action, base=base, head=head, of_base=action.base_ref)
    remote = await scm.fetch_remote(key.project)
    rewrites = not await workspace.is_ancestor(key.project, ancestor=action.head_sha, descendant=head)
    await means.journal.effect(
        "branch.update",
        subject(key),
        lambda: workspace.push(
            key.project, remote, branch=branch, sha=head, expected=action.head_sha, replace=rewrites
        ),
        detail=f"{branch} {head}",
        timeout_s=PUSH_TIMEOUT_S,
    )
    words = f"{action.base_ref} at {render_sha(base)} was brought into it: {action.why}"
    event = means.event("branch.updated", words, task=key, pull=action.pull, head=head, base=base, same_change=same)

    def change(stored: Task) -> Task:
        # A person's word is for what the head changes, and that is the same.
        word = head if same and stored.approved_sha == action.head_sha else stored.approved_sha
        return replace(stored, updates=stored.updates + 1, approved_sha=word)

    await means.ports.store.update_task(key, change, event=event)


async def is_same_change(means: Means, key: TaskKey, *, before: tuple[Sha, Sha], after: tuple[Sha, Sha]) -> bool:
    """Whether two heads, each seen from its base, make the very same change. Not known is no."""
    find = means.ports.workspace.find_patch_id
    try:
        known = await find(key.project, base=before[0], head=before[1])
        return known != "" and known == await find(key.project, base=after[0], head=after[1])
    except Missing:
        return False


async def carry_verdict(
    means: Means, action: UpdateBranch | RetargetPull, *, base: Sha, head: Sha, of_base: str
) -> None:
    """The approval of the old head on the base `of_base`, said in words to be that and no more."""
    verdicts = await means.ports.store.load_verdicts(task=action.task)
    given = next((verdict for verdict in reversed(verdicts) if verdict.head_sha == action.head_sha), None)
    if given is None or given.decision is not Decision.APPROVE or given.base_ref != of_base:
        return
    words = (
        f"Carried over: {given.agent} approved {render_sha(action.head_sha)}, and {render_sha(head)} is the same "
        f"change (equal patch id) with {one_line(action.base_ref, 100)} at {render_sha(base)} in it. "
        "Nobody reviewed it anew."
    )
    carried = replace(
        given,
        head_sha=head,
        base_ref=action.base_ref,
        summary=words,
        findings=(),
        at=means.ports.clock.now(),
        posted=False,
        carried_from=action.head_sha,
    )
    event = means.event("verdict.carried", words, task=action.task, run=given.run, sha=head, of=action.head_sha)
    await means.ports.store.record_verdict(carried, event=event)


async def _hand_over(means: Means, action: UpdateBranch, conflict: BaseConflict) -> None:
    step = edge(action.source, Status.ROUTED, Evidence.CONFLICT)
    paths = one_line(", ".join(conflict.paths), 300)
    event = means.status_event(
        action.task, step, f"it conflicts with {action.base_ref} in {paths}: its author resolves it"
    )
    await means.ports.store.change_status(
        action.task,
        step,
        event=event,
        change=lambda stored: replace(stored, conflicts=stored.conflicts + 1, conflict=conflict),
    )
    await set_status_label(means, action.task, Status.ROUTED)
