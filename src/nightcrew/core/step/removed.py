"""A task whose project is not configured any more: its runs are ended and collected, and nothing else is done."""

from dataclasses import replace

from nightcrew.core.actions import StopRun
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Stage, act_on
from nightcrew.core.step.live import follow_live


def follow_removed(world: World, view: TaskView) -> Stage:
    """The step that its live runs ask for. Its issue, its branch and its row stay as they are."""
    live = follow_live(world, view, wanted=False)
    if live is None or isinstance(live, Wait):
        return Stage(wait=live or inactive(view.task.key.project))
    if isinstance(live, StopRun):
        live = replace(live, why="its project is not configured any more")
    return act_on(live)


def inactive(project: str) -> Wait:
    """Why a task of such a project waits."""
    return Wait("project_inactive", f"{project} is not configured", "Add it with `project add`.")
