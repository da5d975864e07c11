"""A person asks for a merge to be taken back: which one is meant, and the answer."""

from nightcrew.core.actions import Done, RevertMerge
from nightcrew.core.errors import Conflict, Missing, NightcrewError
from nightcrew.core.ids import TaskKey, parse_task_key
from nightcrew.core.model.task import Task
from nightcrew.engine.effect.revert import find_revert
from nightcrew.engine.loop import Loop
from nightcrew.engine.reading import Reader
from nightcrew.ports.service import Answer


async def revert(loop: Loop, reader: Reader, text: str) -> Answer:
    """Have the merge of a task, or of a pull request, taken back by a pull request of its own. Asked for twice, it
    comes to the same one."""
    project, pull, of = await _find_meant(loop, reader, text)
    if project not in loop.means.settings.projects:
        raise Conflict(f"{project} is not configured; add it with `nightcrew project add`")
    known = await find_revert(loop.means, project, pull)
    action = RevertMerge(project, pull, of, "a person asked for it to be taken back")
    outcome = await loop.actor.submit(action)
    if not isinstance(outcome, Done):
        raise Conflict(f"#{pull} of {project} could not be taken back: {outcome.why}")
    made = await find_revert(loop.means, project, pull)
    if made is None or made.pull is None:
        raise Conflict(f"#{pull} of {project} could not be taken back: its task is not there")
    loop.means.observer.touch(made.key)
    loop.wake()
    is_new = known is None or known.key != made.key
    words = f"#{made.pull} takes #{pull} back, and goes through review and checks as {made.key}"
    return Answer(is_new, words, {"task": str(made.key), "pull": made.pull})


async def _find_meant(loop: Loop, reader: Reader, text: str) -> tuple[str, int, TaskKey | None]:
    """The project, the pull request, and the task that it was made for. A number may be that of a task, or of a pull
    request: a task goes first, since it is what everything else names."""
    try:
        task = await loop.means.task(await reader.resolve_task(text))
    except Missing:
        return await _find_pull(loop, reader, text)
    if task.pull is None and task.landing is None:
        raise Conflict(f"{task.key} has no pull request")
    return task.key.project, _merged_pull(task), task.key


def _merged_pull(task: Task) -> int:
    """That which was merged last; the task may have another one by now."""
    return task.landing.pull if task.landing is not None else int(task.pull or 0)


async def _find_pull(loop: Loop, reader: Reader, text: str) -> tuple[str, int, TaskKey | None]:
    projects = tuple(loop.means.settings.projects)
    name, _, number = text.strip().rpartition("#")
    try:
        slugs = [slug for slug in projects if name.casefold() in ("", slug.casefold(), slug.casefold().split("/")[1])]
        key = parse_task_key(f"{reader.spell(name) if '/' in name else slugs[0] if slugs else 'a/b'}#{number}")
    except NightcrewError as error:
        raise Missing(str(error)) from error
    if "/" not in name and len(slugs) != 1:
        raise Missing(f"which project is {text} of? write owner/repo#{number}")
    tasks = await loop.means.ports.store.load_tasks(project=key.project, include_done=True)
    of = next((task.key for task in tasks if task.pull == key.number or _has_landed(task, key.number)), None)
    return key.project, key.number, of


def _has_landed(task: Task, pull: int) -> bool:
    return task.landing is not None and task.landing.pull == pull
