"""Which other task does a task start from, and when is it merged?"""

from typing import Any

import pytest

from nightcrew.core.actions import RetargetPull, StartRun
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.task import Block, Stack
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.merging import GateView, evaluate
from nightcrew.core.policy.term import Truth
from tests.core.asking import blocked, moved, step, wait
from tests.core.build import (
    BASE_SHA,
    HEAD,
    UNKNOWN,
    a_key,
    a_project,
    a_pull,
    a_pull_view,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    a_world,
)

BELOW = Stack(60, "nightcrew/6-below")


def asking(*others: Dependency, on: int = 6, standing: Standing = Standing.OPEN, **fields: Any) -> TaskView:
    """A task that is asked to stand on #6."""
    needs = (Dependency(a_key(on), Bond.STACK, Known(standing)), *others)
    return a_view(task=a_task(Status.ROUTED, **fields), needs=Known(needs))


def below(**pull: Any) -> TaskView:
    """#6, with pull request #60."""
    seen = a_pull(60, head_ref=BELOW.branch, head_sha=a_sha(6), **pull)
    task = a_task(Status.IN_REVIEW, 6, pull=60, branch=BELOW.branch)
    return a_view(task=task, pull=Known(a_pull_view(seen)))


def started(view: TaskView, *others: TaskView) -> StartRun | None:
    actions = decide(a_world(view, *others)).actions
    return next((one for one in actions if isinstance(one, StartRun) and one.task == view.task.key), None)


@pytest.mark.parametrize("on", [6, 60])
def test_it_starts_at_an_open_pull_request(on):
    run = started(asking(on=on), below())
    assert run is not None
    assert run.stack == BELOW


@pytest.mark.parametrize("pull", [{"is_open": False}, {"is_fork": True}])
def test_it_waits_where_there_is_none_to_stand_on(pull):
    assert started(asking(), below(**pull)) is None
    assert wait(asking()).code == "depends"


def test_once_that_is_merged_it_starts_at_the_base():
    run = started(asking(standing=Standing.COMPLETED), below())
    assert run is not None
    assert run.stack is None


def test_what_was_given_up_below_is_a_question():
    assert blocked(asking(standing=Standing.NOT_PLANNED)).code == "dependency_not_planned"


def test_other_dependencies_are_waited_for_all_the_same_but_not_that_one():
    other = Dependency(a_key(9), Bond.LINK, Known(Standing.OPEN))
    assert started(asking(other), below()) is None
    linked = Dependency(a_key(6), Bond.LINK, Known(Standing.OPEN))
    assert started(asking(linked), below()) is not None


def test_what_began_elsewhere_goes_on_there():
    run = started(asking(started_from=BASE_SHA, waived=True), below())
    assert run is not None
    assert run.stack is None


def above(status: Status = Status.IN_REVIEW, *, parent: Any = None, **pull: Any) -> TaskView:
    """A task whose approved pull request stands on #60."""
    task = a_task(status, stack=BELOW, base_ref=BELOW.branch, pull=70)
    seen = a_pull(**{"base_ref": BELOW.branch, **pull})
    verdict = a_verdict(base_ref=BELOW.branch)
    known = Known(a_pull(60, head_ref=BELOW.branch)) if parent is None else parent
    return a_view(task=task, pull=Known(a_pull_view(seen)), verdicts=(verdict,), parent=known)


def test_it_is_never_merged_before_the_one_below():
    found = wait(above())
    assert (found.code, found.words) == ("gate_waits", "it stands on pull request #60, which is merged first")


def test_the_gate_is_shut_by_that_alone():
    view = above()
    assert isinstance(view.pull, Known)
    assert view.pull.value is not None
    gate = evaluate(GateView(view, view.pull.value, a_project(), ()))
    assert [(term.code, term.truth) for term in gate.shut] == [("stack", Truth.NO)]


MERGED = Known(a_pull(60, is_open=False, is_merged=True, head_ref=BELOW.branch, base_ref="main"))


@pytest.mark.parametrize("status", [Status.ROUTED, Status.IN_PROGRESS, Status.NEEDS_REVIEW, Status.IN_REVIEW])
@pytest.mark.parametrize("base", [BELOW.branch, "main"])
def test_it_follows_the_merge_below(status, base):
    action = step(above(status, parent=MERGED, base_ref=base))
    assert isinstance(action, RetargetPull)
    assert (action.pull, action.head_sha, action.base_ref) == (70, HEAD, "main")


def test_the_one_below_is_closed_or_not_known():
    closed = Known(a_pull(60, is_open=False))
    assert blocked(above(parent=closed)).code == "parent_closed"
    assert wait(above(parent=UNKNOWN)).code == "parent_unknown"
    assert wait(above(parent=Known(None), base_ref="main")).code == "parent_unknown"


def test_the_block_ends_when_the_one_below_is_open_again():
    reason = Block("parent_closed", "why")
    view = above(parent=Known(a_pull(60)))
    task = a_task(Status.BLOCKED, block=reason, stack=BELOW, pull=70, base_ref=BELOW.branch)
    moved(a_view(task=task, pull=view.pull, parent=view.parent), Status.NEEDS_REVIEW, Evidence.PERSON)
    assert wait(a_view(task=task, pull=view.pull, parent=Known(a_pull(60, is_open=False)))).code == "blocked"


def test_a_person_who_sends_it_elsewhere_is_asked():
    assert blocked(above(base_ref="next")).code == "base_changed"
