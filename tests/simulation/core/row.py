"""Writing the rows and labels of the simulated world. Every change of status goes through the table."""

from dataclasses import replace

from nightcrew.core.lifecycle import Evidence, Status, transition
from nightcrew.core.model.task import Task
from tests.simulation.core.truth import Effect, Refuse, Simulated


def change_status(sim: Simulated, number: int, target: Status, evidence: Evidence, task: Task | None = None) -> None:
    """The row and nothing else. Every change of status goes through here, and through the table."""
    stored = sim.tasks[number]
    edge = transition(stored.status, target, evidence)
    sim.tasks[number] = replace(task or stored, status=edge.target, moving_to=edge.target)


def save(sim: Simulated, number: int, **fields: object) -> None:
    sim.tasks[number] = replace(sim.tasks[number], **fields)  # type: ignore[arg-type] # fields of the caller


def set_label(sim: Simulated, number: int, status: Status) -> Effect:
    if number not in sim.issues:
        save(sim, number, moving_to=None)
        return
    sim.set_labels(number, add=(status.label,))
    yield
    sim.set_labels(number, remove=tuple(other.label for other in Status if other is not status))
    yield
    if number not in sim.issues or sim.statuses_on(number) == (status,):
        save(sim, number, moving_to=None)
        sim.by_hand.discard(number)


def label_moved(sim: Simulated, number: int) -> None:
    task = sim.tasks[number]
    if number not in sim.issues or task.moving_to is not None:
        return
    if [status for status in sim.statuses_on(number) if status is not task.status]:
        raise Refuse("a person has set another label")
