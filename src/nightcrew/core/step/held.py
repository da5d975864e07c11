"""What a task depends on: whether it may start, goes on after a block, or is done with its parts."""

from nightcrew.core.actions import FinishTask
from nightcrew.core.model.settings import ParentMode
from nightcrew.core.model.task import Block
from nightcrew.core.policy.depending import is_gated, is_made_of_done, why_held
from nightcrew.core.policy.stacking import find_parent
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on, block
from nightcrew.core.step.delegate import wait_for_parts


def hold_for_others(case: Case) -> Stage | None:
    """The wait, or the block, for what it depends on; None if it may start."""
    parts = wait_for_parts(case)
    if parts is not None:
        return parts
    held = why_held(case.view, case.allowance.circles, parent=find_parent(case.project, case.view))
    if isinstance(held, Wait):
        return Stage(wait=held)
    if isinstance(held, Block):
        return block(case.task, held)
    closes = case.settings.dependencies.parent is ParentMode.CLOSE
    if closes and is_gated(case.task) and is_made_of_done(case.view) and not _has_work(case):
        return act_on(FinishTask(case.task.key, case.task.status, merged=False, why="all its sub-issues are closed"))
    return None


def _has_work(case: Case) -> bool:
    """Whether an author that handed parts over left work of its own."""
    return case.task.delegated is not None and any(run.outcome and run.outcome.has_commits for run in case.view.runs)
