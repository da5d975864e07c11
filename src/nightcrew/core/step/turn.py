"""Whose turn it is under `merge.strategy: update`: for a base one at a time is brought up to date and merged, the first
by priority and age. All at once would only make each other wait anew.
"""

from dataclasses import replace
from datetime import timedelta

from nightcrew.core.actions import MergePull, PostVerdict, UpdateBranch
from nightcrew.core.known import Known
from nightcrew.core.model.merge import MergeStrategy
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import World
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, Turn


def in_turn(case: Case, pull: PullView, verdict: Verdict, step: Stage) -> Stage:
    """The step if it is its turn, or it needs none; else the wait for the one that is first."""
    if case.settings.merge.strategy is not MergeStrategy.UPDATE:
        return step
    place, number = (case.settings.slug, pull.pull.base_ref), pull.pull.number
    first = case.allowance.turns.get(place)
    wants = any(isinstance(action, UpdateBranch | MergePull) for action in step.actions)
    if first is not None and first.pull != number:
        return _wait_for(first) if wants or _code(step) == "merge_turn" else step
    until_at = verdict.at + timedelta(seconds=case.settings.merge.queue_timeout_s)
    is_refused = _is_refused(case, pull)
    if wants and not is_refused:
        return replace(step, turn=Turn(place, number))
    # What is refused or whose checks run is not waited for without end. Brought up to date, it was in vain if another
    # went before it now.
    is_under_way = is_refused or (pull.has_base == Known(True) and _awaits_checks(case, step))
    return replace(step, turn=Turn(place, number, until_at)) if is_under_way and case.world.now < until_at else step


def _awaits_checks(case: Case, step: Stage) -> bool:
    if any(isinstance(action, PostVerdict) for action in step.actions):
        return case.task.updates > 0  # its approval was carried over to the head that has the base
    return _code(step) == "gate_waits"


def _is_refused(case: Case, pull: PullView) -> bool:
    """Whether bringing it up to date, or merging it, was refused a while ago, and is tried again."""
    task, seen = case.task, pull.pull
    update = UpdateBranch(task.key, task.status, seen.number, seen.head_sha, seen.base_ref, "")
    merge = MergePull(task.key, seen.number, seen.head_sha, seen.base_ref, "")
    return update.key in case.world.deferred or merge.key in case.world.deferred


def _code(step: Stage) -> str:
    return step.wait.code if step.wait is not None else ""


def turns_under_way(world: World) -> dict[tuple[str, str], Turn]:
    """The turns of those about which something is being done right now."""
    turns: dict[tuple[str, str], Turn] = {}
    for action in world.in_flight:
        if not isinstance(action, UpdateBranch | MergePull | PostVerdict):
            continue
        project = world.projects.get(action.task.project)
        view = next((view for view in project.tasks if view.task.key == action.task), None) if project else None
        pull = view.pull.value if view is not None and isinstance(view.pull, Known) else None
        if view is None or pull is None:
            continue
        if isinstance(action, PostVerdict) and not (view.task.updates and pull.has_base == Known(True)):
            continue
        place = (action.task.project, pull.pull.base_ref)
        turns.setdefault(place, Turn(place, pull.pull.number))
    return turns


def _wait_for(first: Turn) -> Stage:
    base_ref = first.place[1]
    words = f"#{first.pull} is first to be brought up to date with {base_ref} and merged, one at a time"
    return Stage(wait=Wait("update_turn", words, "It is next once that has been merged, or cannot be.", first.until_at))
