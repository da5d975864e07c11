"""What `needs_review` and `in_review` ask for next, and the checks beside them."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import (
    MergePull,
    PostVerdict,
    RunChecks,
    StartRun,
)
from nightcrew.core.failures import FailureKind
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.merge import MergeMode, MergeSettings
from nightcrew.core.model.pull import Check, CheckState, PullView, Required
from nightcrew.core.model.reaction import Reaction, ReactionKey, ReactionKind
from nightcrew.core.model.report import Decision
from nightcrew.core.model.rerun import Rerun, RerunState
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import TaskView
from tests.core.asking import blocked, moved, step, steps, wait
from tests.core.build import (
    BASE_SHA,
    HEAD,
    NOW,
    UNKNOWN,
    a_check,
    a_project,
    a_pull,
    a_pull_view,
    a_run,
    a_settings,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    an_issue,
    an_outcome,
    at,
    cooled,
)

PAUSES: list[dict[str, Any]] = [{"paused": True}, {"project_paused": True}]


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


def checked_view(status: Status, *checks: Check, **parts: Any) -> TaskView:
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
        assert [type(a) for a in steps(checked_view(Status.NEEDS_REVIEW, *answered), settings=CHECKED_SETTINGS)] == [
            StartRun
        ]

    @pytest.mark.parametrize(
        "pull",
        [
            a_pull_view(checks=UNKNOWN),
            a_pull_view(base_sha=UNKNOWN),
            a_pull_view(a_pull(mergeable=False, is_draft=True)),
        ],
    )
    def test_none_runs_where_it_could_not_count(self, pull):
        view = a_view(Status.NEEDS_REVIEW, pull=Known(pull))
        assert [type(action) for action in steps(view, settings=CHECKED_SETTINGS)] == [StartRun]

    def test_they_run_while_no_reviewer_may_and_while_paused(self):
        view = checked_view(Status.NEEDS_REVIEW)
        for world in [{"cooldowns": (cooled("bob"),)}, *PAUSES]:
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
        ran = Rerun(70, HEAD, "nightcrew/tests", "status", "", NOW, RerunState.FAILED)
        view = replace(checked_view(Status.IN_REVIEW, *failed), verdicts=(a_verdict(),), reruns=(ran,))
        action = moved(view, Status.ROUTED, Evidence.CHANGES_REQUESTED, settings=CHECKED_SETTINGS)
        assert "nightcrew/tests" in action.why


class TestInReview:
    def view(
        self, *verdicts: Verdict, pull: PullView | None = None, runs: tuple[Run, ...] = (), **task: Any
    ) -> TaskView:
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
        assert [(key.pull, key.head_sha, key.kind) for key in action.sent] == [(70, HEAD, ReactionKind.CI_FAILED)]
        earlier = Reaction(ReactionKey(70, a_sha(1), ReactionKind.CI_FAILED), at(-9), sent=2, sent_at=at(-8))
        spent = replace(self.view(a_verdict(), pull=red), reactions=(earlier,))
        assert blocked(spent).code == "ci_failed"
        step(replace(spent, task=replace(spent.task, reset_at=at(-7))))

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
