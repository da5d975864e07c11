"""What each status asks for next, where no run lives and no person's hand was seen."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import (
    PublishWork,
    RecordRoute,
    StartRun,
)
from nightcrew.core.failures import FailureKind
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.report import Decision, ReportedOutcome, ReviewReport, RouterReport
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role, RunOutcome
from nightcrew.core.model.settings import Limits, RouterMode, RouterSettings
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from tests.core.asking import blocked, moved, step, wait
from tests.core.build import (
    BASE_SHA,
    HEAD,
    UNKNOWN,
    a_project,
    a_pull,
    a_pull_view,
    a_route,
    a_run,
    a_settings,
    a_sha,
    a_task,
    a_view,
    an_agent,
    an_outcome,
    cooled,
    done_report,
)

PAUSES = [{"paused": True}, {"project_paused": True}]


class TestNew:
    def test_it_is_routed(self):
        assert isinstance(step(a_view()), RecordRoute)

    def test_a_router_is_asked(self):
        settings = a_settings(router=RouterSettings(RouterMode.MODEL, "ann"))
        action = step(a_view(), settings=settings)
        assert isinstance(action, StartRun)
        assert action.role is Role.ROUTER
        full = replace(settings, limits=Limits(max_runs=0))
        assert wait(a_view(), settings=full).code == "slot"

    def test_a_bad_label_asks_a_person(self):
        assert blocked(a_view(labels=(Status.NEW.label, "agent:zoe"))).code == "bad_label"

    def test_no_agent_label(self):
        assert wait(a_view(labels=(Status.NEW.label, "no-agent"))).code == "no_agent"

    @pytest.mark.parametrize("world", PAUSES)
    def test_paused(self, world):
        assert wait(a_view(), **world).code == "paused"


class TestRouted:
    def test_its_author_starts(self):
        view = a_view(Status.ROUTED)
        action = step(view, settings=replace(a_settings(), generation=4))
        assert isinstance(action, StartRun)
        assert (action.role, action.agent, action.attempt, action.source) == (Role.AUTHOR, "ann", 1, Status.ROUTED)
        assert (action.head_sha, action.generation) == (None, 4)

    def test_it_goes_on_from_the_head_of_its_pull(self):
        view = a_view(task=a_task(Status.ROUTED, pull=70), runs=(a_run(), a_run(attempt=2)))
        view = replace(view, pull=Known(a_pull_view()))
        action = step(view)
        assert isinstance(action, StartRun)
        assert (action.head_sha, action.attempt) == (HEAD, 3)

    @pytest.mark.parametrize(
        ("complexity", "deadline_s"), [(Complexity.SIMPLE, 10.0), (Complexity.MEDIUM, 20.0), (Complexity.COMPLEX, 20.0)]
    )
    def test_its_deadline_is_that_of_its_complexity(self, complexity, deadline_s):
        limits = Limits(timeouts_s={Complexity.SIMPLE: 10.0, Complexity.MEDIUM: 20.0})
        view = a_view(task=a_task(Status.ROUTED, route=a_route(complexity=complexity)))
        action = step(view, settings=a_settings(limits=limits))
        assert isinstance(action, StartRun)
        assert action.deadline_s == deadline_s

    def test_out_of_attempts(self):
        runs = tuple(a_run(attempt=n, outcome=an_outcome(failure=FailureKind.CRASH)) for n in (1, 2, 3))
        assert blocked(a_view(Status.ROUTED, runs=runs)).code == "out_of_attempts"

    def test_no_slot(self):
        assert wait(a_view(Status.ROUTED), settings=a_settings(limits=Limits(max_runs=0))).code == "slot"
        assert wait(a_view(Status.ROUTED), settings=a_settings(a_project(max_runs=0))).code == "slot"
        agents = (an_agent("ann", max_runs=0), an_agent("bob"))
        assert "ann" in wait(a_view(Status.ROUTED), settings=a_settings(agents=agents)).words

    @pytest.mark.case("C037")
    def test_the_default_branch_is_never_guessed(self):
        assert wait(a_view(Status.ROUTED), base_ref=UNKNOWN).code == "base_unknown"

    def test_no_agent_label(self):
        assert wait(a_view(Status.ROUTED, labels=(Status.ROUTED.label, "no-agent"))).code == "no_agent"

    @pytest.mark.case("C106")
    def test_a_pinned_agent_that_is_cooled_uses_up_nothing(self):
        view = a_view(Status.ROUTED, labels=(Status.ROUTED.label, "agent:ann"))
        assert wait(view, cooldowns=(cooled("ann"),)).code == "agent_not_usable"

    def test_rerouted(self):
        assert isinstance(step(a_view(Status.ROUTED), cooldowns=(cooled("ann"),)), RecordRoute)

    @pytest.mark.parametrize("world", PAUSES)
    def test_paused(self, world):
        assert wait(a_view(Status.ROUTED), **world).code == "paused"


class TestInProgress:
    def after(self, outcome: RunOutcome, *, pull: PullView | None = None, **task: Any) -> TaskView:
        view = a_view(task=a_task(Status.IN_PROGRESS, **task), runs=(a_run(outcome=outcome),))
        return replace(view, pull=Known(pull))

    def test_work_is_published(self):
        action = step(self.after(an_outcome()))
        assert isinstance(action, PublishWork)
        assert (action.head_sha, action.run) == (HEAD, "author-1")

    @pytest.mark.parametrize("world", PAUSES)
    def test_work_is_published_while_paused(self, world):
        assert isinstance(step(self.after(an_outcome()), **world), PublishWork)

    def test_work_on_top_of_a_pull_is_published(self):
        action = step(self.after(an_outcome(), pull=a_pull_view(a_pull(head_sha=a_sha(3)))))
        assert isinstance(action, PublishWork)

    def test_work_of_an_earlier_attempt_that_was_never_published(self):
        assert isinstance(step(self.after(an_outcome(has_commits=False))), PublishWork)

    def test_a_push_that_was_cut_short_is_not_taken_for_no_work(self):
        """The branch was pushed, and the service ended before the status was written."""
        action = step(self.after(an_outcome(), pull=a_pull_view()))
        assert isinstance(action, PublishWork)

    @pytest.mark.parametrize(
        ("outcome", "pull"),
        [
            (an_outcome(head_sha=None, has_commits=False), None),
            (an_outcome(head_sha=BASE_SHA, has_commits=False), None),
            (an_outcome(head_sha=BASE_SHA), None),
            (an_outcome(has_commits=False), a_pull_view()),
        ],
    )
    def test_done_without_a_change_goes_to_the_next(self, outcome, pull):
        action = moved(self.after(outcome, pull=pull), Status.ROUTED, Evidence.RUN_FAILED)
        assert "changed nothing" in action.why

    @pytest.mark.parametrize("kind", FailureKind)
    def test_a_failure_goes_back_to_be_routed(self, kind):
        action = moved(self.after(an_outcome(failure=kind)), Status.ROUTED, Evidence.RUN_FAILED)
        assert kind.value in action.why

    @pytest.mark.parametrize("kind", FailureKind)
    def test_a_failure_is_never_done_whatever_its_report_says(self, kind):
        outcome = an_outcome(done_report(), kind, head_sha=HEAD, has_commits=True)
        moved(self.after(outcome), Status.ROUTED, Evidence.RUN_FAILED)

    @pytest.mark.parametrize(
        "report", [RouterReport(Complexity.SIMPLE), ReviewReport(Decision.APPROVE, "fine")], ids=["router", "review"]
    )
    def test_a_report_of_another_role_is_none(self, report):
        assert "no report" in moved(self.after(an_outcome(report)), Status.ROUTED, Evidence.RUN_FAILED).why

    @pytest.mark.parametrize(
        ("report", "code", "words"),
        [
            (
                done_report(outcome=ReportedOutcome.NEEDS_INPUT, question="Left or right?"),
                "needs_input",
                "Left or right?",
            ),
            (done_report(outcome=ReportedOutcome.NEEDS_INPUT), "needs_input", "turned them round"),
            (done_report(outcome=ReportedOutcome.DECLINED, why="Not reproducible."), "declined", "Not reproducible."),
            (done_report(outcome=ReportedOutcome.DECLINED), "declined", "turned them round"),
            (done_report(outcome=ReportedOutcome.BLOCKED, why="No compiler."), "agent_blocked", "No compiler."),
        ],
    )
    def test_questions_and_reasons_go_to_a_person(self, report, code, words):
        block = blocked(self.after(an_outcome(report)))
        assert (block.code, block.answerable) == (code, True)
        assert words in block.words

    @pytest.mark.parametrize("runs", [(), (a_run(outcome=None),), (a_run(Role.ROUTER),)])
    def test_without_an_outcome_it_is_tried_again(self, runs):
        moved(a_view(Status.IN_PROGRESS, runs=runs), Status.ROUTED, Evidence.RUN_FAILED)


class TestBlocked:
    QUESTION = Block("needs_input", "Left or right?", answerable=True)

    def test_it_waits_for_the_answer(self):
        found = wait(a_view(task=a_task(Status.BLOCKED, block=self.QUESTION)))
        assert (found.code, found.words) == ("blocked", "Left or right?")
        assert "comment" in found.next

    def test_an_answer_lets_it_go_on(self):
        view = a_view(task=a_task(Status.BLOCKED, block=self.QUESTION), answered=True)
        action = moved(view, Status.ROUTED, Evidence.PERSON)
        assert action.reset
        moved(replace(view, task=replace(view.task, route=None)), Status.NEW, Evidence.PERSON)

    @pytest.mark.parametrize("block", [None, Block("out_of_attempts", "3 attempts are used up.")])
    def test_a_comment_does_not_answer_what_is_no_question(self, block):
        found = wait(a_view(task=a_task(Status.BLOCKED, block=block), answered=True))
        assert found.code == "blocked"
        assert "unblock" in found.next

    def test_an_unknown_pull_changes_nothing(self):
        view = a_view(task=a_task(Status.BLOCKED, pull=70), pull=UNKNOWN)
        assert wait(view).words == "a person set it to blocked"
