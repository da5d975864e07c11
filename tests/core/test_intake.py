"""Which issues become tasks, and how urgent they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.actions import AdoptIssue
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.issue import Permission
from nightcrew.core.model.settings import Intake
from nightcrew.core.model.world import Candidate
from nightcrew.core.policy.intake import DEFAULT_PRIORITY, adopt, asks_in, priority_of
from tests.core.build import UNKNOWN, a_key, a_project, a_view, a_world, an_issue, at


@pytest.mark.parametrize(
    ("labels", "how"),
    [
        ((), ""),
        (("bug",), ""),
        (("nightcrew",), "nightcrew"),
        (("NightCrew",), "nightcrew"),
        (("status:new",), "status:new"),
        (("nightcrew", "Status:New"), "status:new"),
        (("nightcrew", "status:blocked"), ""),
        (("status:new", "status:routed"), ""),
        (("status:done",), ""),
    ],
)
def test_how_an_issue_asks(labels, how):
    assert asks_in(a_project(), an_issue(labels=labels)) == how


def test_with_intake_all_every_open_issue_asks():
    project = a_project(intake=Intake.ALL)
    assert asks_in(project, an_issue(labels=("bug",))) == "*"
    assert asks_in(project, an_issue(labels=("nightcrew",))) == "nightcrew"
    assert asks_in(project, an_issue(labels=("status:routed",))) == ""
    assert asks_in(project, an_issue(labels=(), is_open=False)) == ""


@pytest.mark.case("C226")
@pytest.mark.parametrize("asked", [Known(False), UNKNOWN])
@pytest.mark.parametrize("intake", Intake)
def test_only_who_is_known_to_have_write_access_is_heard(asked, intake):
    assert adopt(a_project(intake=intake), Candidate(an_issue(labels=("nightcrew",)), asked)) is None


def test_an_issue_is_taken_in_once_asked_for():
    issue = an_issue(labels=("nightcrew", "priority:high"))
    action = adopt(a_project(), Candidate(issue, Known(True)))
    assert isinstance(action, AdoptIssue)
    assert (action.task, action.issue, action.priority) == (a_key(), issue, 20)
    assert "'nightcrew'" in action.why


def test_an_author_with_write_access_needs_no_label():
    action = adopt(a_project(intake=Intake.ALL), Candidate(an_issue(labels=()), Known(True)))
    assert isinstance(action, AdoptIssue)
    assert "author" in action.why


def test_an_issue_that_asks_for_nothing_is_left_alone():
    assert adopt(a_project(), Candidate(an_issue(labels=()), Known(True))) is None


@pytest.mark.parametrize(
    ("labels", "priority"),
    [
        ((), DEFAULT_PRIORITY),
        (("priority:critical",), 0),
        (("Priority: HIGH ",), 20),
        (("priority:normal",), 50),
        (("priority:low",), 80),
        (("priority:p0",), 0),
        (("priority:p1",), 20),
        (("priority:P9",), 99),
        (("priority:7",), 7),
        (("priority:99",), 99),
        (("priority:low", "priority:3"), 3),
        (("priority:100",), DEFAULT_PRIORITY),
        (("priority:-1",), DEFAULT_PRIORITY),
        (("priority:²",), DEFAULT_PRIORITY),
        (("priority:p",), DEFAULT_PRIORITY),
        (("priority:",), DEFAULT_PRIORITY),
        (("priority:soon", "my-priority:1"), DEFAULT_PRIORITY),
    ],
)
def test_priorities(labels, priority):
    assert priority_of(labels) == priority


@given(st.lists(st.text(max_size=12).map("priority:".__add__)))
def test_any_label_gives_a_priority(labels):
    assert 0 <= priority_of(tuple(labels)) <= 99


def candidates(*numbers_and_labels: tuple[int, tuple[str, ...]]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(an_issue(number, labels=("nightcrew", *labels), created_at=at(number)), Known(True))
        for number, labels in numbers_and_labels
    )


def test_the_most_urgent_is_taken_in_first_then_the_oldest():
    world = a_world(candidates=candidates((3, ()), (2, ()), (9, ("priority:high",))))
    assert [action.task.number for action in decide(world).actions] == [9, 2, 3]


def test_a_task_is_not_taken_in_again():
    view = a_view(Status.BLOCKED)
    world = a_world(view, candidates=candidates((7, ())))
    assert not [action for action in decide(world).actions if isinstance(action, AdoptIssue)]


@pytest.mark.parametrize("world", [{"paused": True}, {"project_paused": True}])
def test_nothing_is_taken_in_while_paused(world):
    assert decide(a_world(candidates=candidates((7, ())), **world)).actions == ()


def test_an_issue_being_taken_in_is_not_asked_for_twice():
    world = a_world(candidates=candidates((7, ())))
    (action,) = decide(world).actions
    assert decide(a_world(candidates=candidates((7, ())), in_flight=(action,))).actions == ()


@pytest.mark.parametrize("permission", Permission)
def test_who_can_write(permission):
    assert permission.can_write is (permission.value in ("write", "maintain", "admin"))
