"""Making sub-tasks in the simulated world, as `engine/effect/delegate.py` does, and what a parent does about them."""

from dataclasses import replace

from nightcrew.core.actions import FileSubTasks
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import DelegationState
from nightcrew.core.model.issue import Standing
from nightcrew.core.policy.delegating import end_parts, leave
from nightcrew.core.sub_task import render_mark
from tests.simulation.core.row import label_moved, save
from tests.simulation.core.rule import hold
from tests.simulation.core.sub_task_truth import standing_of
from tests.simulation.core.truth import Effect, Refuse, Simulated


def file_sub_tasks(sim: Simulated, action: FileSubTasks) -> Effect:
    """One after the other, each looked for by its mark first; a crash may fall between an issue and its row."""
    number = action.task.number
    task = sim.tasks[number]
    if task.delegated is None or task.delegated.state is not DelegationState.ACCEPTED:
        raise Refuse("it has no sub-tasks to be made")
    if task.status not in (Status.NEW, Status.ROUTED):
        raise Refuse("its status has moved")
    label_moved(sim, number)
    if number not in sim.issues or not sim.issues[number].is_open:
        raise Refuse("its issue is closed")
    for part in task.delegated.parts:
        if part.number is not None:
            continue
        mark = render_mark(1, part.run, part.place)
        child = sim.sub_tasks.made.get(mark)
        if child is None:
            child = sim.file_issue(project=sim.home[number])
            sim.issues[child] = replace(sim.issues[child], body=f"{mark}\nDo it.")
            sim.sub_tasks.made[mark] = child
            sim.sub_tasks.parts.setdefault(number, []).append(child)
        yield
        _save(sim, number, part.place, child)
        yield
    handed = sim.tasks[number].delegated
    hold(handed is not None and all(part.number for part in handed.parts), "all sub-tasks are made", number)
    if handed is not None:
        save(sim, number, delegated=replace(handed, state=DelegationState.FILED))


def _save(sim: Simulated, number: int, place: int, child: int) -> None:
    handed = sim.tasks[number].delegated
    if handed is None:
        raise Refuse("it hands nothing over any more")
    parts = tuple(replace(part, number=child) if part.place == place else part for part in handed.parts)
    save(sim, number, delegated=replace(handed, parts=parts))


def go_on(sim: Simulated, number: int) -> None:
    """A parent starts again: how its sub-tasks stood is written down."""
    handed = sim.tasks[number].delegated
    if handed is None or handed.state is not DelegationState.FILED:
        return

    def standing(child: int) -> Standing:
        seen = standing_of(child, sim.issues)
        return getattr(seen, "value", Standing.OPEN)

    save(sim, number, delegated=end_parts(handed, standing))


def wait_no_more(sim: Simulated, number: int) -> None:
    """A person said so."""
    handed = sim.tasks[number].delegated
    if handed is not None and handed.state is DelegationState.FILED:
        sim.sub_tasks.left.add(number)
        save(sim, number, delegated=leave(handed))


def begin_at_base(sim: Simulated, number: int) -> None:
    """The branch of a parent that has no work of its own begins at the base as it is now."""
    task = sim.tasks[number]
    over = task.delegated is not None and task.delegated.state in (DelegationState.ENDED, DelegationState.LEFT)
    if over and task.pull is None and sim.work.get(number) in (None, task.started_from):
        sim.work[number] = sim.base_of(number)
        save(sim, number, started_from=sim.base_of(number))
