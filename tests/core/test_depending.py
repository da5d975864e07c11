"""May a task start, given what it depends on?"""

from typing import Any

import pytest

from nightcrew.core.actions import AnswerCommand, FinishTask, MoveStatus, RecordRoute, StartRun
from nightcrew.core.command import Command, GivenCommand, Verb
from nightcrew.core.decide import decide
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.settings import DependencySettings, ParentMode
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.depending import CIRCLE, NOT_PLANNED, find_circles
from tests.core.asking import blocked, moved, step, wait
from tests.core.build import NOW, UNKNOWN, a_key, a_project, a_settings, a_task, a_view, a_world

OPEN, DONE, LEFT = Standing.OPEN, Standing.COMPLETED, Standing.NOT_PLANNED


def need(number: int, standing: Any = OPEN, bond: Bond = Bond.LINK, *, project: str = "acme/widget") -> Dependency:
    seen = standing if isinstance(standing, Unknown) else Known(standing)
    return Dependency(TaskKey(project, number), bond, seen)


def needing(*needs: Dependency, status: Status = Status.ROUTED, number: int = 7, **fields: Any) -> TaskView:
    task = a_task(status, number, **fields)
    return a_view(task=task, needs=Known(needs))


@pytest.mark.parametrize("status", [Status.NEW, Status.ROUTED])
def test_it_waits_for_what_it_depends_on_and_names_it(status):
    view = needing(need(3), need(4, bond=Bond.CHILD), need(9, project="acme/tools"), need(5, DONE), status=status)
    found = wait(view)
    assert found.code == "depends"
    assert found.words == "it waits for acme/tools#9, #3, #4 (a sub-issue of it)"
    assert "/start" in found.next


def test_it_starts_once_all_of_it_is_done():
    assert isinstance(step(needing(need(3, DONE), need(4, DONE, Bond.WORDS))), StartRun)
    assert isinstance(step(needing(need(3, DONE), status=Status.NEW)), RecordRoute)


def test_what_cannot_be_read_is_not_taken_for_done():
    assert wait(a_view(Status.ROUTED, needs=UNKNOWN)).code == "dependencies_unknown"
    found = wait(needing(need(3, UNKNOWN), need(4, DONE)))
    assert found.code == "dependencies_unknown"
    assert "#3" in found.words


@pytest.mark.parametrize("standing", [LEFT, Standing.DUPLICATE])
def test_a_blocker_that_nobody_will_do_asks_a_person(standing):
    found = blocked(needing(need(3, standing), need(4)))
    assert found.code == NOT_PLANNED
    assert "#3" in found.words
    assert "#4" not in found.words


def test_a_part_that_is_left_out_holds_nothing_up():
    assert isinstance(step(needing(need(3, LEFT, Bond.CHILD), need(4, DONE, Bond.CHILD))), StartRun)


def held(*needs: Dependency, code: str = NOT_PLANNED, **fields: Any) -> TaskView:
    return needing(*needs, status=Status.BLOCKED, block=Block(code, "why", at=NOW), **fields)


def test_the_block_ends_once_the_link_is_put_right():
    assert wait(held(need(3, LEFT))).code == "blocked"
    moved(held(need(3, DONE)), Status.ROUTED, Evidence.PERSON)
    moved(held(), Status.ROUTED, Evidence.PERSON)
    moved(held(need(3), route=None), Status.NEW, Evidence.PERSON)


def test_the_block_stays_while_it_cannot_be_read():
    assert wait(held(need(3, UNKNOWN))).code == "blocked"
    view = a_view(task=a_task(Status.BLOCKED, block=Block(NOT_PLANNED, "why")), needs=UNKNOWN)
    assert wait(view).code == "blocked"


@pytest.mark.parametrize("status", [Status.ROUTED, Status.NEW])
def test_a_person_may_have_it_started_all_the_same(status):
    view = needing(need(3), need(4, LEFT), need(7), status=status, waived=True)
    assert isinstance(step(view), StartRun | RecordRoute)


def test_what_has_a_pull_request_goes_on():
    view = needing(need(3), status=Status.ROUTED, pull=70)
    assert isinstance(step(view), StartRun)


def test_a_circle_is_told_on_every_task_in_it():
    views = [
        needing(need(4), number=3),
        needing(need(5, bond=Bond.CHILD), need(9), number=4),
        needing(need(3, bond=Bond.WORDS), number=5, status=Status.NEW),
        needing(need(3), number=6),
    ]
    decision = decide(a_world(*views))
    told = {action.task.number: action.block for action in decision.actions if isinstance(action, MoveStatus)}
    assert set(told) == {3, 4, 5}
    assert {block.code for block in told.values() if block} == {CIRCLE}
    assert "#4 → #5 → #3 → #4" in (told[4].words if told[4] else "")
    assert decision.waits[a_key(6)].code == "depends"


def test_a_circle_holds_while_part_of_it_is_blocked_and_ends_when_a_link_is_taken_out():
    first = held(need(4), code=CIRCLE, number=3)
    assert blocked_in(first, needing(need(3), number=4), number=4) == CIRCLE
    decision = decide(a_world(held(need(4), code=CIRCLE, number=3), held(code=CIRCLE, number=4)))
    assert {action.task.number for action in decision.actions if isinstance(action, MoveStatus)} == {3, 4}


def blocked_in(*views: TaskView, number: int) -> str:
    decision = decide(a_world(*views))
    actions = [action for action in decision.actions if isinstance(action, MoveStatus) and action.task.number == number]
    return actions[0].block.code if actions and actions[0].block else ""


def test_it_may_wait_for_itself_alone():
    assert "it waits for itself: #7 → #7" in blocked(needing(need(7))).words


def test_one_who_is_to_start_all_the_same_breaks_the_circle():
    world = a_world(needing(need(4), number=3), needing(need(3), number=4, waived=True))
    assert find_circles(world) == {}


def test_a_long_chain_is_no_circle():
    views = [needing(need(number + 1), number=number) for number in range(1, 400)]
    assert find_circles(a_world(*views)) == {}


CLOSING = a_settings(a_project(dependencies=DependencySettings(ParentMode.CLOSE)))


def test_a_parent_may_be_closed_with_its_parts():
    view = needing(need(3, DONE, Bond.CHILD), need(4, LEFT, Bond.CHILD))
    done = step(view, settings=CLOSING)
    assert isinstance(done, FinishTask)
    assert not done.merged
    assert wait(needing(need(3, DONE, Bond.CHILD), need(4, bond=Bond.CHILD)), settings=CLOSING).code == "depends"
    for others in ((), (need(3, LEFT, Bond.CHILD),), (need(3, DONE),)):
        assert isinstance(step(needing(*others), settings=CLOSING), StartRun)


def given(verb: Verb) -> GivenCommand:
    return GivenCommand(Command(verb), 500, 0, "olga", NOW, Known(True))


def test_the_command_start():
    def answered(view: TaskView) -> Any:
        return step(a_view(task=view.task, needs=view.needs, commands=(given(Verb.START),)))

    waived = answered(needing(need(3)))
    assert isinstance(waived, AnswerCommand)
    assert waived.waive
    again = answered(held(need(3, LEFT)))
    assert isinstance(again, MoveStatus)
    assert (again.target, again.waive) == (Status.ROUTED, True)
    for status in (Status.BLOCKED, Status.IN_PROGRESS, Status.IN_REVIEW):
        refused = answered(a_view(status))
        assert isinstance(refused, AnswerCommand)
        assert (refused.command.settlement.value, refused.waive) == ("refused", False)


def test_who_unblocks_it_does_not_want_it_to_wait_for_that_again():
    view = held(need(3, LEFT))
    move = step(a_view(task=view.task, needs=view.needs, commands=(given(Verb.UNBLOCK),)))
    assert isinstance(move, MoveStatus)
    assert move.waive
