"""What each status asks for next, where no run lives and no person's hand was seen."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import (
    MergePull,
    MoveStatus,
    PostVerdict,
    PublishWork,
    RecordRoute,
    RunChecks,
    StartRun,
    TellPerson,
)
from nightcrew.core.decide import decide
from nightcrew.core.failures import FailureKind
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import CheckState, Required
from nightcrew.core.model.report import Decision, ReportedOutcome, ReviewReport, RouterReport
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import CheckCommand, Limits, MergeMode, MergeSettings, RouterMode, RouterSettings
from nightcrew.core.model.task import Block
from tests.core.build import (
    BASE_SHA,
    HEAD,
    UNKNOWN,
    a_check,
    a_project,
    a_pull,
    a_pull_view,
    a_route,
    a_run,
    a_settings,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_agent,
    an_issue,
    an_outcome,
    cooled,
    done_report,
)

PAUSES = [{"paused": True}, {"project_paused": True}]


def steps(view, **world):
    return [action for action in decide(a_world(view, **world)).actions if not isinstance(action, TellPerson)]


def step(view, **world):
    (action,) = steps(view, **world)
    return action


def wait(view, **world):
    decision = decide(a_world(view, **world))
    assert not [action for action in decision.actions if not isinstance(action, TellPerson | RunChecks)]
    return decision.waits[view.task.key]


def blocked(view, **world) -> Block:
    action = step(view, **world)
    assert isinstance(action, MoveStatus), action
    assert (action.target, action.evidence) == (Status.BLOCKED, Evidence.NEEDS_PERSON)
    assert action.block is not None
    assert action.why == action.block.words
    return action.block


def moved(view, target: Status, evidence: Evidence, **world) -> MoveStatus:
    action = steps(view, **world)[-1]
    assert isinstance(action, MoveStatus), action
    assert (action.target, action.evidence) == (target, evidence)
    return action


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
    def after(self, outcome, *, pull=None, **task):
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
            (done_report(outcome=ReportedOutcome.NEEDS_INPUT, question="Left or right?"), "needs_input", "Left or right?"),
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


class TestNeedsReview:
    def test_a_reviewer_starts(self):
        action = step(a_view(Status.NEEDS_REVIEW))
        assert isinstance(action, StartRun)
        assert (action.role, action.agent, action.head_sha) == (Role.REVIEWER, "bob", HEAD)

    def test_a_head_that_has_its_verdict_is_under_review(self):
        moved(a_view(Status.NEEDS_REVIEW, verdicts=(a_verdict(),)), Status.IN_REVIEW, Evidence.REVIEW_STARTED)

    def test_a_verdict_for_another_base_is_none(self):
        view = a_view(Status.NEEDS_REVIEW, verdicts=(a_verdict(base_ref="old"),))
        assert isinstance(step(view), StartRun)

    @pytest.mark.case("C149")
    def test_cooled_reviewers_are_waited_for(self):
        assert wait(a_view(Status.NEEDS_REVIEW), cooldowns=(cooled("bob"),)).code == "cooling"

    def test_no_verdict_to_be_had(self):
        failed = tuple(a_run(Role.REVIEWER, n, outcome=an_outcome(failure=FailureKind.CRASH)) for n in (1, 2, 3))
        assert blocked(a_view(Status.NEEDS_REVIEW, runs=(a_run(), *failed))).code == "review_failed"

    @pytest.mark.parametrize("world", PAUSES)
    def test_paused(self, world):
        assert wait(a_view(Status.NEEDS_REVIEW), **world).code == "paused"


CHECKED = a_project(checks=(CheckCommand("tests", ("make", "test")), CheckCommand("lint", ("make", "lint"))))
CHECKED_SETTINGS = a_settings(CHECKED)


def checked_view(status: Status, *checks, **parts):
    pull = a_pull_view(checks=Known(checks), **parts)
    return a_view(status, pull=Known(pull))


class TestEngineChecks:
    @pytest.mark.parametrize("status", [Status.NEEDS_REVIEW, Status.IN_REVIEW])
    def test_they_run_beside_the_review(self, status):
        first, second = steps(checked_view(status), settings=CHECKED_SETTINGS)
        assert isinstance(first, RunChecks)
        assert (first.names, first.head_sha, first.base_sha) == (("tests", "lint"), HEAD, BASE_SHA)
        assert not isinstance(second, RunChecks)

    def test_only_those_that_have_not_answered_run(self):
        answered = (
            a_check("nightcrew/tests", CheckState.FAILURE, "status"),
            a_check("nightcrew/lint", CheckState.PENDING, "status"),
        )
        action = steps(checked_view(Status.NEEDS_REVIEW, *answered), settings=CHECKED_SETTINGS)[0]
        assert isinstance(action, RunChecks)
        assert action.names == ("lint",)

    def test_none_runs_once_all_have_answered(self):
        answered = tuple(a_check(f"nightcrew/{name}", CheckState.SUCCESS, "status") for name in ("tests", "lint"))
        assert [type(a) for a in steps(checked_view(Status.NEEDS_REVIEW, *answered), settings=CHECKED_SETTINGS)] == [StartRun]

    @pytest.mark.parametrize(
        "pull",
        [
            a_pull_view(checks=UNKNOWN),
            a_pull_view(base_sha=UNKNOWN),
            a_pull_view(a_pull(mergeable=False)),
        ],
    )
    def test_none_runs_where_it_could_not_count(self, pull):
        view = a_view(Status.NEEDS_REVIEW, pull=Known(pull))
        assert [type(action) for action in steps(view, settings=CHECKED_SETTINGS)] == [StartRun]

    def test_they_run_while_no_reviewer_may_and_while_paused(self):
        view = checked_view(Status.NEEDS_REVIEW)
        for world in ({"cooldowns": (cooled("bob"),)}, *PAUSES):
            assert [type(action) for action in steps(view, settings=CHECKED_SETTINGS, **world)] == [RunChecks]

    def test_those_under_way_are_not_started_again(self):
        view = checked_view(Status.NEEDS_REVIEW)
        checks = steps(view, settings=CHECKED_SETTINGS)[0]
        again = steps(view, settings=CHECKED_SETTINGS, in_flight=(checks,))
        assert [type(action) for action in again] == [StartRun]

    def test_one_that_failed_sends_it_back(self):
        failed = (
            a_check("nightcrew/tests", CheckState.FAILURE, "status"),
            a_check("nightcrew/lint", CheckState.SUCCESS, "status"),
        )
        view = replace(checked_view(Status.IN_REVIEW, *failed), verdicts=(a_verdict(),))
        action = moved(view, Status.ROUTED, Evidence.CHANGES_REQUESTED, settings=CHECKED_SETTINGS)
        assert "nightcrew/tests" in action.why


class TestInReview:
    def view(self, *verdicts, pull=None, runs=(), **task):
        view = a_view(task=a_task(Status.IN_REVIEW, **task), verdicts=verdicts)
        return replace(view, pull=Known(pull or a_pull_view()), runs=(a_run(), *runs))

    def test_approved_and_green_is_merged_at_exactly_that_head(self):
        action = step(self.view(a_verdict()))
        assert isinstance(action, MergePull)
        assert (action.head_sha, action.pull, action.base_ref) == (HEAD, 70, "main")

    def test_a_verdict_is_posted_first(self):
        for decision in Decision:
            action = step(self.view(a_verdict(decision, posted=False)))
            assert isinstance(action, PostVerdict)
            assert (action.run, action.head_sha) == ("reviewer-1", HEAD)

    def test_changes_go_back_to_the_author(self):
        action = moved(self.view(a_verdict(Decision.REQUEST_CHANGES)), Status.ROUTED, Evidence.CHANGES_REQUESTED)
        assert "looked at it" in action.why

    @pytest.mark.case("C162")
    def test_after_so_many_rounds_a_person_is_asked_with_the_last_words(self):
        block = blocked(self.view(a_verdict(Decision.REQUEST_CHANGES), cycles=2))
        assert block.code == "review_cycles"
        assert "looked at it" in block.words

    def test_red_checks_go_back_and_end_as_well(self):
        red = a_pull_view(checks=Known((a_check("build", CheckState.FAILURE), a_check("x", CheckState.FAILURE))))
        action = moved(self.view(a_verdict(), pull=red), Status.ROUTED, Evidence.CHANGES_REQUESTED)
        assert "build, x" in action.why
        assert blocked(self.view(a_verdict(), pull=red, cycles=2)).code == "review_cycles"

    def test_a_review_without_a_verdict_is_had_again(self):
        failed = a_run(Role.REVIEWER, outcome=an_outcome(failure=FailureKind.BAD_OUTPUT))
        moved(self.view(runs=(failed,)), Status.NEEDS_REVIEW, Evidence.REVIEW_FAILED)

    @pytest.mark.case("C159")
    @pytest.mark.parametrize("runs", [(), (a_run(Role.REVIEWER, head_sha=a_sha(4)),)])
    def test_a_moved_head_is_reviewed_anew(self, runs):
        old = a_verdict(head_sha=a_sha(4))
        moved(self.view(old, runs=runs), Status.NEEDS_REVIEW, Evidence.HEAD_MOVED)

    def test_a_new_base_is_reviewed_anew(self):
        action = moved(self.view(a_verdict(base_ref="old")), Status.NEEDS_REVIEW, Evidence.HEAD_MOVED)
        assert "base old" in action.why

    @pytest.mark.parametrize(
        ("pull", "code"),
        [
            (a_pull_view(a_pull(mergeable=None)), "gate_waits"),
            (a_pull_view(a_pull(mergeable_state="new word")), "gate_waits"),
            (a_pull_view(checks=UNKNOWN), "gate_waits"),
            (a_pull_view(checks=Known((a_check("build", CheckState.PENDING),))), "gate_waits"),
            (a_pull_view(a_pull(is_draft=True)), "gate_shut"),
            (a_pull_view(checks=Known(())), "gate_shut"),
            (a_pull_view(a_pull(mergeable=None, is_draft=True)), "gate_shut"),
            (a_pull_view(required=Known(Required(approvals=1))), "gate_shut"),
        ],
    )
    def test_a_shut_gate_waits_and_says_why(self, pull, code):
        found = wait(self.view(a_verdict(), pull=pull))
        assert found.code == code
        assert found.words

    @pytest.mark.parametrize("place", ["issue", "pull"])
    def test_hold(self, place):
        view = self.view(a_verdict(), pull=a_pull_view(a_pull(labels=("hold",) if place == "pull" else ())))
        if place == "issue":
            view = replace(view, issue=Known(an_issue(labels=(Status.IN_REVIEW.label, "hold"))))
        assert "hold" in wait(view).words

    def test_ask(self):
        settings = a_settings(a_project(merge=MergeSettings(mode=MergeMode.ASK)))
        assert wait(self.view(a_verdict()), settings=settings).code == "gate_shut"
        assert isinstance(step(self.view(a_verdict(), approved_sha=HEAD), settings=settings), MergePull)

    @pytest.mark.parametrize("world", PAUSES)
    def test_what_is_ready_is_merged_while_paused(self, world):
        assert isinstance(step(self.view(a_verdict()), **world), MergePull)


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
