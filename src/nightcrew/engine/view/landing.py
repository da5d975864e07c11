"""The checks of a base after a merge into it, as long as that is watched."""

from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.landing import Landing, LandingState, LandingView
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.core.model.task import Task
from nightcrew.engine.view.observed import observed
from nightcrew.ports.scm import Scm

Checks = Observed[tuple[Check, ...]]


def is_watched(task: Task) -> bool:
    return task.landing is not None and task.landing.state is LandingState.WATCHED


async def read_landings(scm: Scm, project: str, tasks: list[Task]) -> tuple[LandingView, ...]:
    """Those of the tasks that are watched. The base before and now is only asked about once a check failed with it."""
    found = []
    for task in tasks:
        if task.landing is not None and is_watched(task):
            found.append(await _read(scm, project, task, task.landing))
    return tuple(found)


async def _read(scm: Scm, project: str, task: Task, landing: Landing) -> LandingView:
    checks: Checks = await observed(scm.list_checks(project, landing.merge_sha))
    if isinstance(checks, Unknown) or all(one.state is not CheckState.FAILURE for one in checks.value):
        return LandingView(task.key, landing, checks, Known(()), Known(()))
    before: Checks = await observed(scm.list_checks(project, landing.before_sha))
    tip: Observed[Sha | None] = await observed(scm.find_branch(project, landing.base_ref))
    if isinstance(tip, Unknown):
        return LandingView(task.key, landing, checks, before, tip)
    if tip.value is None or tip.value == landing.merge_sha:
        return LandingView(task.key, landing, checks, before, checks)
    now: Checks = await observed(scm.list_checks(project, tip.value))
    return LandingView(task.key, landing, checks, before, now)
