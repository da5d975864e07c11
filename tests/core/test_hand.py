"""What a person did to the issue or its pull request, in each status: a person's hand wins."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import (
    AcceptPerson,
    CollectRun,
    FinishTask,
    MoveStatus,
    ResumeStart,
    SettleLabels,
    StopRun,
)
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.run import Probe, Role, RunState
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from tests.core.asking import step, steps, wait
from tests.core.build import (
    UNKNOWN,
    a_pull,
    a_pull_view,
    a_task,
    a_view,
    a_world,
    an_issue,
    an_open_run,
    live,
)

OPEN = [status for status in Status if status is not Status.DONE]


def working(status: Status, role: Role = Role.AUTHOR, state: RunState = RunState.RUNNING, **fields: Any) -> TaskView:
    """A view with a live session."""
    run = an_open_run(role, state)
    return replace(a_view(status, **fields), runs=(run,), live=(live(run),))


@pytest.mark.parametrize("status", OPEN)
@pytest.mark.parametrize("target", OPEN)
def test_another_label_is_taken_over(status, target):
    if status is target:
        return
    for labels in ((target.label,), (status.label, target.label), (target.label.upper(), "bug")):
        action = step(a_view(status, labels=labels))
        assert isinstance(action, AcceptPerson)
        assert (action.source, action.target) == (status, target)


@pytest.mark.parametrize("status", OPEN)
def test_done_by_label_finishes_the_task(status):
    action = step(a_view(status, labels=(Status.DONE.label,)))
    assert isinstance(action, FinishTask)
    assert (action.source, action.merged) == (status, False)


@pytest.mark.parametrize("status", OPEN)
def test_a_label_taken_off_is_put_back(status):
    action = step(a_view(status, labels=("bug",)))
    assert isinstance(action, SettleLabels)
    assert action.status is status
    assert action.why == "the issue had no status label"


@pytest.mark.parametrize("status", OPEN)
def test_three_labels_mean_nothing(status):
    others = [other.label for other in OPEN if other is not status][:3]
    action = step(a_view(status, labels=tuple(others)))
    assert isinstance(action, SettleLabels)
    assert "3 status labels" in action.why


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("labels", [(), (Status.NEW.label, Status.IN_REVIEW.label), (Status.BLOCKED.label,)])
def test_an_unfinished_move_is_finished(status, labels):
    view = a_view(task=a_task(status, moving_to=status), labels=labels)
    action = step(view)
    assert isinstance(action, SettleLabels)
    assert action.status is status


@pytest.mark.case("C031")
@pytest.mark.parametrize("status", OPEN)
def test_a_closed_issue_ends_the_task(status):
    issue = Known(an_issue(is_open=False, labels=(status.label,)))
    action = step(a_view(status, issue=issue))
    assert isinstance(action, FinishTask)
    assert (action.source, action.merged, action.why) == (status, False, "its issue was closed")


def test_an_issue_closed_by_the_merge_is_finished_as_merged():
    issue = Known(an_issue(is_open=False, labels=(Status.IN_REVIEW.label,)))
    pull = Known(a_pull_view(a_pull(is_open=False, is_merged=True)))
    action = step(a_view(Status.IN_REVIEW, issue=issue, pull=pull))
    assert isinstance(action, FinishTask)
    assert action.merged
    unknown = step(a_view(Status.IN_REVIEW, issue=issue, pull=UNKNOWN))
    assert isinstance(unknown, FinishTask)
    assert not unknown.merged


@pytest.mark.parametrize("status", OPEN)
def test_a_deleted_issue_ends_the_task(status):
    action = step(a_view(status, issue=Known(None)))
    assert isinstance(action, FinishTask)
    assert "deleted" in action.why


def test_what_is_done_stays_done():
    assert steps(a_view(Status.DONE, issue=Known(None))) == []


def test_a_task_whose_issue_went_away_while_it_was_being_finished_is_finished_to_the_end():
    cut_short = a_task(Status.DONE, moving_to=Status.DONE)
    assert isinstance(step(a_view(Status.DONE, task=cut_short, issue=Known(None))), FinishTask)
    closed = Known(an_issue(is_open=False, labels=(Status.DONE.label,)))
    assert steps(a_view(Status.DONE, issue=closed)) == []
    assert steps(a_view(Status.DONE, issue=UNKNOWN)) == []


def test_labels_of_a_finished_task_are_finished():
    closed = Known(an_issue(is_open=False, labels=(Status.IN_REVIEW.label,)))
    action = step(a_view(task=a_task(Status.DONE, moving_to=Status.DONE), issue=closed))
    assert isinstance(action, FinishTask)


@pytest.mark.parametrize("label", [Status.DONE.label, "bug"])
def test_an_issue_opened_again_is_new(label):
    action = step(a_view(Status.DONE, labels=(label,)))
    assert isinstance(action, MoveStatus)
    assert (action.target, action.evidence, action.reset) == (Status.NEW, Evidence.PERSON, True)


@pytest.mark.parametrize("target", OPEN)
@pytest.mark.parametrize("labels", [(), (Status.DONE.label,)])
def test_an_issue_opened_again_goes_where_its_new_label_says(target, labels):
    action = step(a_view(Status.DONE, labels=(*labels, target.label)))
    assert isinstance(action, AcceptPerson)
    assert (action.source, action.target) == (Status.DONE, target)


def test_an_issue_opened_again_with_several_labels_is_settled_first():
    labels = (Status.DONE.label, Status.NEW.label, Status.BLOCKED.label)
    assert isinstance(step(a_view(Status.DONE, labels=labels)), SettleLabels)


@pytest.mark.case("C021")
@pytest.mark.parametrize("status", OPEN)
def test_an_issue_that_could_not_be_read_is_neither_closed_nor_changed(status):
    assert wait(a_view(status, issue=UNKNOWN)).code == "issue_unknown"
    assert wait(a_view(status, issue=UNKNOWN)).next


@pytest.mark.case("C021")
def test_a_run_goes_on_while_its_issue_is_unknown():
    assert wait(working(Status.IN_PROGRESS, issue=UNKNOWN)).code == "running"


class TestRunsAndHands:
    """A run whose task a person moves or ends is ended first; one whose labels are only put right goes on."""

    @pytest.mark.parametrize(
        "change",
        [
            {"labels": (Status.BLOCKED.label,)},
            {"labels": (Status.IN_PROGRESS.label, Status.NEW.label)},
            {"labels": (Status.DONE.label,)},
            {"issue": Known(None)},
            {"issue": Known(an_issue(is_open=False))},
        ],
    )
    def test_the_run_is_ended_before_anything_else(self, change):
        view = working(Status.IN_PROGRESS, **change)
        action = step(view)
        assert isinstance(action, StopRun)
        assert "no longer wanted" in action.why
        ended = replace(view, live=(live(view.runs[0], Probe.DEAD),))
        assert isinstance(step(ended), CollectRun)
        unknown = replace(view, live=(live(view.runs[0], Probe.UNKNOWN),))
        assert wait(unknown).code == "session_unknown"

    @pytest.mark.parametrize("labels", [(), ("bug",), tuple(s.label for s in (Status.NEW, Status.ROUTED, Status.DONE))])
    def test_a_run_outlives_a_label_that_is_put_back(self, labels):
        decision = decide(a_world(working(Status.IN_PROGRESS, labels=labels)))
        (action,) = decision.actions
        assert isinstance(action, SettleLabels)
        assert next(iter(decision.waits.values())).code == "running"

    def test_a_start_cut_short_between_row_and_label_goes_on(self):
        run = an_open_run(state=RunState.STARTING)
        task = a_task(Status.IN_PROGRESS, moving_to=Status.IN_PROGRESS)
        for session in (Probe.DEAD, Probe.ALIVE):
            view = a_view(task=task, labels=(Status.ROUTED.label,), runs=(run,), live=(live(run, session),))
            assert isinstance(step(view), ResumeStart)

    def test_a_result_is_collected_before_labels_are_put_right(self):
        run = an_open_run()
        view = a_view(Status.IN_PROGRESS, labels=(), runs=(run,), live=(live(run, has_result=True),))
        assert isinstance(step(view), CollectRun)

    def test_a_finished_task_has_no_run(self):
        assert isinstance(step(working(Status.DONE, issue=Known(None))), StopRun)


class TestPullByHand:
    """The pull request merged, closed, sent to another base, or deleted by hand."""

    WITH_PULL = (Status.ROUTED, Status.IN_PROGRESS, Status.NEEDS_REVIEW, Status.IN_REVIEW)

    def view(self, status: Status, **pull: Any) -> TaskView:
        task = a_task(status, pull=70, base_ref="main")
        return a_view(task=task, pull=Known(a_pull_view(a_pull(**pull))))

    @pytest.mark.parametrize("status", [*WITH_PULL, Status.BLOCKED])
    def test_merged(self, status):
        action = step(self.view(status, is_open=False, is_merged=True))
        assert isinstance(action, FinishTask)
        assert action.merged
        assert action.source is status

    @pytest.mark.parametrize("status", WITH_PULL)
    def test_closed(self, status):
        action = step(self.view(status, is_open=False))
        assert isinstance(action, MoveStatus)
        assert action.target is Status.BLOCKED
        assert action.block is not None
        assert action.block.code == "pull_closed"

    @pytest.mark.parametrize("status", WITH_PULL)
    def test_sent_to_another_base(self, status):
        action = step(self.view(status, base_ref="release"))
        assert isinstance(action, MoveStatus)
        assert action.block is not None
        assert action.block.code == "base_changed"
        assert "release" in action.block.words and "main" in action.block.words

    @pytest.mark.parametrize("status", [Status.NEEDS_REVIEW, Status.IN_REVIEW])
    def test_gone(self, status):
        action = step(a_view(status, pull=Known(None)))
        assert isinstance(action, MoveStatus)
        assert action.block is not None
        assert action.block.code == "no_pull"

    @pytest.mark.case("C032")
    @pytest.mark.parametrize("status", WITH_PULL)
    def test_unknown(self, status):
        assert wait(a_view(task=a_task(status, pull=70), pull=UNKNOWN)).code == "pull_unknown"

    @pytest.mark.parametrize("status", [Status.IN_PROGRESS, Status.IN_REVIEW])
    def test_a_run_on_a_pull_that_has_ended_is_ended(self, status):
        role = Role.AUTHOR if status is Status.IN_PROGRESS else Role.REVIEWER
        run = an_open_run(role)
        view = replace(self.view(status, is_open=False), runs=(run,), live=(live(run),))
        assert isinstance(step(view), StopRun)


class TestUnfinishedMoves:
    """Labels that an unfinished move may have left are its own; any other is a person's."""

    def view(self, *labels: Status, over: tuple[Status, ...] = (Status.ROUTED,)) -> TaskView:
        task = a_task(Status.IN_PROGRESS, moving_to=Status.IN_PROGRESS, moving_over=over)
        return a_view(task=task, labels=tuple(status.label for status in labels))

    @pytest.mark.parametrize(
        "labels",
        [
            (),
            (Status.ROUTED,),
            (Status.ROUTED, Status.IN_PROGRESS),
            (Status.IN_PROGRESS,),
            (Status.BLOCKED, Status.NEW, Status.IN_PROGRESS),
        ],
    )
    def test_its_own_and_what_nobody_can_have_meant_are_settled(self, labels):
        assert isinstance(step(self.view(*labels)), SettleLabels)

    @pytest.mark.parametrize("own", [(), (Status.ROUTED,), (Status.ROUTED, Status.IN_PROGRESS), (Status.IN_PROGRESS,)])
    def test_a_persons_is_taken_over(self, own):
        action = step(self.view(*own, Status.BLOCKED))
        assert isinstance(action, AcceptPerson)
        assert (action.source, action.target) == (Status.IN_PROGRESS, Status.BLOCKED)
        assert isinstance(step(self.view(*own, Status.DONE)), FinishTask)

    def test_what_several_moves_went_over_is_own(self):
        view = self.view(Status.NEW, over=(Status.NEW, Status.ROUTED))
        assert isinstance(step(view), SettleLabels)

    def test_without_knowing_what_it_went_over_it_is_settled(self):
        assert isinstance(step(self.view(Status.BLOCKED, over=())), SettleLabels)


@pytest.mark.parametrize("known", [Known(False), UNKNOWN])
def test_an_issue_opened_again_by_nobody_known_to_have_write_access_waits(known):
    view = a_view(Status.DONE, labels=(Status.DONE.label,), reopened_by_writer=known)
    found = wait(view)
    assert found.code == "reopened"
    assert "/retry" in found.next
    taken = a_view(Status.DONE, labels=(Status.NEW.label,), reopened_by_writer=known)
    assert isinstance(step(taken), AcceptPerson), "a label needs more than a stranger has"


@pytest.mark.parametrize("status", [Status.NEW, Status.ROUTED, Status.NEEDS_REVIEW])
@pytest.mark.parametrize(("known", "code"), [(Known(False), "not_vouched"), (UNKNOWN, "vouch_unknown")])
def test_no_agent_is_shown_a_text_that_nobody_with_write_access_asked_for(status, known, code):
    found = wait(a_view(status, vouched=known))
    assert (found.code, bool(found.next)) == (code, True)


@pytest.mark.parametrize("code", ["pull_closed", "base_changed"])
def test_a_pull_request_put_right_lets_the_task_go_on(code):
    task = a_task(Status.BLOCKED, pull=70, base_ref="main", block=Block(code, "x"))
    for pull in (a_pull(is_open=False), a_pull(base_ref="release")):
        assert wait(a_view(task=task, pull=Known(a_pull_view(pull)))).code == "blocked"
    assert wait(a_view(task=task, pull=UNKNOWN)).code == "blocked"
    action = step(a_view(task=task))
    assert isinstance(action, MoveStatus)
    assert (action.target, action.reset) == (Status.NEEDS_REVIEW, True)
    other = replace(task, block=Block("by_person", "x"))
    assert wait(a_view(task=other)).code == "blocked"
