"""What does not fit between a row, an issue and a pull request: by the rule that the loop itself follows."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import AcceptPerson, FinishTask, SettleLabels
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.policy.diagnosing import Misfit, describe_labels, find_misfits
from tests.core.build import a_pull, a_task, an_issue

NONE: Known[None] = Known(None)


def misfits(task: Task, *labels: str, is_open: bool = True, pull: Observed[Pull | None] = NONE) -> tuple[Misfit, ...]:
    issue = an_issue(task.key.number, labels=("nightcrew", *labels), is_open=is_open)
    return find_misfits(task, issue=Known(issue), pull=pull)


def the_misfit(task: Task, *labels: str, is_open: bool = True, pull: Observed[Pull | None] = NONE) -> Misfit:
    (found,) = misfits(task, *labels, is_open=is_open, pull=pull)
    return found


def under_review(**fields: Any) -> Task:
    return a_task(Status.IN_REVIEW, pull=70, **fields)


def test_what_fits_is_not_told():
    assert misfits(a_task(Status.ROUTED), "status:routed") == ()
    assert misfits(under_review(), "status:in_review", pull=Known(a_pull(70))) == ()
    assert misfits(a_task(Status.DONE), "status:done", is_open=False) == ()


def test_what_is_not_known_fits():
    task = under_review()
    assert find_misfits(task, issue=Unknown("no network"), pull=Unknown("no network")) == ()


def test_a_label_of_a_persons_counts():
    found = the_misfit(a_task(Status.ROUTED), "status:blocked")
    assert isinstance(found.action, AcceptPerson)
    assert found.action.target is Status.BLOCKED
    assert found.words == "is routed in the store; its issue has status:blocked: a person set status:blocked"


@pytest.mark.parametrize("labels", [(), ("status:new", "status:blocked")])
def test_no_label_and_several_are_put_right(labels):
    found = the_misfit(a_task(Status.ROUTED), *labels)
    assert isinstance(found.action, SettleLabels)
    assert found.action.status is Status.ROUTED


def test_a_move_that_was_cut_short_is_finished_and_never_taken_for_a_persons_hand():
    moving = a_task(Status.IN_PROGRESS, moving_to=Status.IN_PROGRESS, moving_over=(Status.ROUTED,))
    assert isinstance(the_misfit(moving, "status:routed").action, SettleLabels)
    assert isinstance(the_misfit(moving, "status:blocked").action, AcceptPerson)
    assert misfits(moving, "status:in_progress") == (), "its labels are right, and it is only kept open for a while"


def test_an_issue_that_is_closed_or_gone_ends_the_task():
    assert isinstance(the_misfit(a_task(Status.BLOCKED), "status:blocked", is_open=False).action, FinishTask)
    gone = find_misfits(a_task(Status.ROUTED), issue=NONE, pull=NONE)
    assert [misfit.words for misfit in gone] == [
        "is routed in the store; its issue is gone: its issue was deleted or moved away"
    ]


def test_a_done_task_whose_issue_is_open_is_a_persons_to_decide():
    found = the_misfit(a_task(Status.DONE), "status:done")
    assert found.action is None
    assert "status:new" in found.hint


def test_a_merged_or_closed_pull_request_does_not_fit_under_review():
    merged = replace(a_pull(70), is_open=False, is_merged=True)
    assert the_misfit(under_review(), "status:in_review", pull=Known(merged)).words.endswith("#70 is merged")
    closed = replace(merged, is_merged=False)
    assert the_misfit(under_review(), "status:in_review", pull=Known(closed)).words.endswith("#70 is closed")
    assert misfits(a_task(Status.ROUTED, pull=70), "status:routed", pull=Known(closed)) == ()


def test_a_pull_request_that_is_gone_or_never_was_is_told():
    assert the_misfit(under_review(), "status:in_review").hint == "nightcrew task retry acme/widget#7"
    found = the_misfit(a_task(Status.NEEDS_REVIEW, pull=None), "status:needs_review")
    assert found.words == "is needs_review in the store, without a pull request"


def test_both_are_told_but_not_twice_where_the_issue_ends_it():
    merged = replace(a_pull(70), is_open=False, is_merged=True)
    assert len(misfits(under_review(), pull=Known(merged))) == 2
    assert len(misfits(under_review(), "status:in_review", is_open=False, pull=Known(merged))) == 1


def test_an_internal_task_has_no_labels():
    task = a_task(Status.ROUTED, number=10_000_000_001)
    assert misfits(task) == ()


def test_what_an_issue_says_of_its_status():
    assert describe_labels(an_issue(7, labels=("Status:New", "x"))) == "its issue has Status:New"
    assert describe_labels(an_issue(7, labels=("x",), is_open=False)) == "its closed issue has no status label"
