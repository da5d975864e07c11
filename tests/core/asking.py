"""What is decided about one task: its actions, its one action, its wait, its block, its move."""

from typing import Any

from nightcrew.core.actions import Action, MoveStatus, NoteHoldup, RunChecks, TellPerson
from nightcrew.core.decide import decide
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from nightcrew.core.reason import Wait
from tests.core.build import a_world


def steps(view: TaskView, **world: Any) -> list[Action]:
    """The actions about the task, but for the comment that follows from them."""
    return [action for action in decide(a_world(view, **world)).actions if not isinstance(action, TellPerson)]


def step(view: TaskView, **world: Any) -> Action:
    (action,) = steps(view, **world)
    return action


def wait(view: TaskView, **world: Any) -> Wait:
    """Why it waits, with nothing done but checks beside it."""
    decision = decide(a_world(view, **world))
    beside = TellPerson | RunChecks | NoteHoldup
    assert not [action for action in decision.actions if not isinstance(action, beside)]
    return decision.waits[view.task.key]


def blocked(view: TaskView, **world: Any) -> Block:
    action = step(view, **world)
    assert isinstance(action, MoveStatus), action
    assert (action.target, action.evidence) == (Status.BLOCKED, Evidence.NEEDS_PERSON)
    assert action.block is not None
    assert action.why == action.block.words
    return action.block


def moved(view: TaskView, target: Status, evidence: Evidence, **world: Any) -> MoveStatus:
    action = steps(view, **world)[-1]
    assert isinstance(action, MoveStatus), action
    assert (action.target, action.evidence) == (target, evidence)
    return action
