"""Branches of Nightcrew's own on the forge whose pull request is merged, or that are in nobody's use."""

from collections.abc import AsyncIterator, Iterable

from nightcrew.core.branch import PREFIX, QUEUE_PREFIX
from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.task import Task
from nightcrew.engine.doctor.ward import Found, Ward
from nightcrew.engine.effect.finish import remove_branch

SHOWN = 10


async def look_at_branches(ward: Ward, slug: str) -> AsyncIterator[Found]:
    """Those of tasks that are not done are in use, and those of the merge queue are the queue's affair. One that holds
    anything which is not merged is told, and left."""
    branches = await ward.forge(slug).scm.list_branches(slug, prefix=PREFIX)
    tasks = await ward.means.ports.store.load_tasks(project=slug, include_done=True)
    by_branch = {task.branch: task for task in tasks if task.branch}
    in_use = {task.branch for task in tasks if task.status is not Status.DONE}
    strange = []
    for name, sha in sorted(branches.items()):
        if name.startswith(QUEUE_PREFIX) or name in in_use:
            continue
        task = by_branch.get(name)
        if task is None:
            strange.append(name)
        elif task.key not in ward.busy():
            yield await _left(ward, task, sha)
    if strange:
        yield Found(_describe_strange(slug, strange))


async def _left(ward: Ward, task: Task, sha: Sha) -> Found:
    what = f"branch {task.branch} of {task.key.project}"
    why = await _why_kept(ward, task, sha)
    if not why:
        words = f"{task.key} is done, and pull request #{task.pull} is merged with all that is on it"
        return Found(Diagnosis(what, Level.WARNING, words, "nightcrew doctor --fix"), lambda: _delete(ward, task))
    hint = f"if nobody needs it: git push origin --delete {task.branch}"
    return Found(Diagnosis(what, Level.OK, f"{task.key} is done, and the branch is kept: {why}", hint))


async def _why_kept(ward: Ward, task: Task, sha: Sha) -> str:
    """Empty if everything on the branch is in what was merged."""
    if task.pull is None:
        return "it has no pull request"
    try:
        pull = await ward.forge(task.key.project).scm.fetch_pull(task.key.project, task.pull)
    except Missing:
        return f"pull request #{task.pull} was not found"
    if not pull.is_merged:
        return f"pull request #{pull.number} is not merged"
    if pull.head_ref != task.branch or pull.is_fork:
        return f"pull request #{pull.number} came from {pull.head_ref}"
    if pull.head_sha != sha:
        return f"somebody pushed to it since pull request #{pull.number} was merged"
    return ""


async def _delete(ward: Ward, task: Task) -> str:
    """As finishing does it, once more by what is there now."""
    means, key = ward.means, task.key
    now = await means.task(key)
    if now.status is not Status.DONE or await means.ports.store.load_runs(task=key, open_only=True):
        raise Conflict(f"{key} is worked on again")
    tip = (await ward.forge(key.project).scm.list_branches(key.project, prefix=task.branch)).get(task.branch)
    why = await _why_kept(ward, now, tip) if tip is not None else ""
    if why:
        raise Conflict(why)
    await remove_branch(means, now, merged=True)
    return "it was deleted"


def _describe_strange(slug: str, names: Iterable[str]) -> Diagnosis:
    listed = list(names)
    shown = ", ".join(listed[:SHOWN]) + (f", and {len(listed) - SHOWN} more" if len(listed) > SHOWN else "")
    words = f"of no task of this home, so another machine's or from before: {shown}"
    return Diagnosis(f"branches of {slug}", Level.OK, words)
