"""Who reviews a head, and when rounds and attempts are used up."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import StartRun
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Decision, ReviewReport, RouterReport
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role, Run, RunOutcome
from nightcrew.core.model.settings import ReviewAllow, ReviewSettings
from nightcrew.core.model.task import Block
from nightcrew.core.policy.eligible import Slots
from nightcrew.core.policy.retrying import attempts_used, describe_end, out_of_attempts, uses_attempt
from nightcrew.core.policy.reviewing import choose_reviewer, out_of_cycles
from nightcrew.core.reason import Wait
from tests.core.build import (
    HEAD,
    UNKNOWN,
    a_project,
    a_pull_view,
    a_run,
    a_settings,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_agent,
    an_outcome,
    at,
    cooled,
)

THREE = (an_agent("ann"), an_agent("bob"), an_agent("cyd"))
ROOM = Slots(9)


def choose(
    *runs: Run, agents: Any = THREE, project: Any = None, authors: Any = None, task: Any = None, slots: Slots = ROOM,
    verdicts: Any = (), **world: Any,
) -> StartRun | Wait | Block:  # fmt: skip
    project = project or a_project()
    view = a_view(task=task or a_task(Status.NEEDS_REVIEW), runs=(a_run(), *runs), verdicts=verdicts)
    pull = a_pull_view(author_agents=Known(frozenset({"ann"})) if authors is None else authors)
    return choose_reviewer(
        a_world(view, settings=a_settings(project, agents=agents), **world), project, view, pull, slots=slots
    )


def chosen(answer: object) -> str:
    assert isinstance(answer, StartRun), answer
    return answer.agent


def a_review_run(agent: str, attempt: int = 1, kind: FailureKind | None = None, **fields: Any) -> Run:
    outcome = an_outcome(failure=kind) if kind else RunOutcome(None, None)
    return a_run(Role.REVIEWER, attempt, agent=agent, outcome=outcome, **fields)


def test_another_agent_reviews_the_exact_head():
    answer = choose()
    assert isinstance(answer, StartRun)
    assert (answer.agent, answer.role, answer.head_sha, answer.source) == (
        "bob",
        Role.REVIEWER,
        HEAD,
        Status.NEEDS_REVIEW,
    )
    assert answer.attempt == 1
    assert answer.deadline_s == a_settings().limits.review_timeout_s


def test_nobody_with_a_commit_in_it_reviews():
    assert chosen(choose(authors=Known(frozenset({"ann", "bob"})))) == "cyd"
    assert chosen(choose(authors=Known(frozenset({"bob"})), agents=THREE)) == "ann"


def test_unknown_authors_wait():
    answer = choose(authors=UNKNOWN)
    assert isinstance(answer, Wait)
    assert answer.code == "authors_unknown"


def test_an_earlier_reviewer_only_where_no_other_is_available():
    old = a_review_run("bob", head_sha=a_sha(1))
    assert chosen(choose(old)) == "cyd"
    assert chosen(choose(old, cooldowns=(cooled("cyd"),))) == "bob"
    assert chosen(choose(old, a_review_run("cyd", 2, head_sha=a_sha(2)))) == "bob"


@pytest.mark.case("C140")
def test_one_that_failed_at_this_head_comes_last():
    failed = a_review_run("bob", kind=FailureKind.TIMEOUT)
    assert chosen(choose(failed)) == "cyd"
    both = (failed, a_review_run("cyd", 2, FailureKind.BAD_OUTPUT))
    assert chosen(choose(*both)) == "bob"
    assert chosen(choose(failed, agents=THREE[:2])) == "bob"


def test_after_so_many_failures_a_person_is_asked():
    runs = [a_review_run("bob", n, FailureKind.BAD_OUTPUT) for n in (1, 2, 3)]
    assert chosen(choose(*runs[:2], agents=THREE[:2])) == "bob"
    answer = choose(*runs)
    assert isinstance(answer, Block)
    assert answer.code == "review_failed"
    assert "bad_output" in answer.words


def test_failures_of_the_world_around_are_not_counted():
    runs = [a_review_run("bob", n, FailureKind.RATE_LIMIT) for n in range(1, 9)]
    assert chosen(choose(*runs)) == "cyd"


def test_reviews_of_other_heads_with_a_verdict_or_before_a_reset_are_not_failures():
    runs = [
        a_review_run("bob", 1, FailureKind.CRASH, head_sha=a_sha(1)),
        a_review_run("bob", 2),
        a_review_run("bob", 3, FailureKind.CRASH, created_at=at(-50)),
        a_review_run("bob", 4, FailureKind.CRASH),
    ]
    task = a_task(Status.NEEDS_REVIEW, reset_at=at(-40))
    project = a_project(review=ReviewSettings(attempts=2))
    answer = choose(*runs, task=task, project=project, verdicts=(a_verdict(run=RunId("reviewer-2")),))
    assert chosen(answer) == "cyd"


@pytest.mark.case("C149")
def test_cooled_reviewers_are_waited_for_and_never_block():
    answer = choose(cooldowns=(cooled("bob", 120), cooled("cyd", 90)))
    assert isinstance(answer, Wait)
    assert (answer.code, answer.until_at) == ("cooling", at(90))


@pytest.mark.case("C151")
def test_without_an_independent_reviewer_nothing_is_relaxed_in_silence():
    answer = choose(agents=THREE[:1])
    assert isinstance(answer, Wait)
    assert answer.code == "no_reviewer"
    assert "other_model" in answer.next
    answer = choose(agents=(an_agent("ann"), an_agent("bob", can_review=False)))
    assert isinstance(answer, Wait)
    assert answer.code == "no_reviewer"
    assert "not set up to review" in answer.words


class TestOtherModel:
    project = a_project(review=ReviewSettings(allow=ReviewAllow.OTHER_MODEL))

    def test_another_model_of_the_author_reviews(self):
        answer = choose(agents=(an_agent("ann", review_models=("", "large")),), project=self.project)
        assert isinstance(answer, StartRun)
        assert (answer.agent, answer.model) == ("ann", "large")

    def test_another_agent_comes_first(self):
        assert (
            chosen(choose(agents=(an_agent("ann", review_models=("large",)), an_agent("bob")), project=self.project))
            == "bob"
        )

    def test_the_same_model_never_does(self):
        answer = choose(agents=(an_agent("ann"),), project=self.project)
        assert isinstance(answer, Wait)
        assert answer.code == "no_agent_usable"


def test_the_complexity_of_the_task_chooses_the_model():
    bob = an_agent("bob", models={Complexity.MEDIUM: ("m",), Complexity.COMPLEX: ("c",)})
    task = a_task(Status.NEEDS_REVIEW)
    assert task.route is not None
    hard = replace(task, route=replace(task.route, complexity=Complexity.COMPLEX))
    for given, model in ((hard, "c"), (replace(task, route=None), "m")):
        answer = choose(agents=(bob,), task=given)
        assert isinstance(answer, StartRun)
        assert answer.model == model


def test_slots():
    answer = choose(slots=Slots(0))
    assert isinstance(answer, Wait)
    assert answer.code == "slot"
    assert chosen(choose(slots=Slots(9, {}, {"bob": 0}))) == "cyd"


def test_who_waits_for_a_slot_is_told_when_a_cooled_reviewer_with_room_is_back():
    answer = choose(slots=Slots(9, {}, {"bob": 0}), cooldowns=(cooled("cyd", 20),))
    assert isinstance(answer, Wait)
    assert (answer.code, answer.until_at) == ("slot", at(20))


@pytest.mark.case("C162")
@pytest.mark.parametrize(("cycles", "blocked"), [(0, False), (1, False), (2, True), (3, True)])
def test_rounds_of_changes_end(cycles, blocked):
    block = out_of_cycles(a_view(task=a_task(Status.IN_REVIEW, cycles=cycles)), a_project(), "bob asks: more tests")
    assert (block is not None) is blocked
    if block is not None:
        assert block.code == "review_cycles"
        assert "more tests" in block.words


AROUND = {"rate_limit", "usage_window", "credits", "auth", "model_not_found", "overloaded", "network", "billing"}


@pytest.mark.parametrize("kind", FailureKind)
def test_only_failures_of_the_work_use_up_attempts(kind):
    assert uses_attempt(a_run(outcome=an_outcome(failure=kind))) is (kind.value not in AROUND)


def test_runs_without_failure_use_up_attempts():
    assert uses_attempt(a_run())
    assert uses_attempt(a_run(outcome=None))


@pytest.mark.parametrize(
    ("runs", "cycles", "blocked"), [(2, 0, False), (3, 0, True), (3, 1, False), (4, 1, True), (9, 5, True)]
)
def test_attempts_end_and_each_round_gives_one_more(runs, cycles, blocked):
    view = a_view(task=a_task(Status.ROUTED, cycles=cycles), runs=tuple(a_run(attempt=n) for n in range(1, runs + 1)))
    block = out_of_attempts(view, 3)
    assert (block is not None) is blocked
    if block is not None:
        assert block.code == "out_of_attempts"
        assert f"{runs} attempts" in block.words


def test_attempts_are_counted_by_role_and_since_the_reset():
    runs = (a_run(), a_run(attempt=2, created_at=at(-1)), a_review_run("bob"))
    assert attempts_used(a_view(runs=runs)) == 2
    assert attempts_used(a_view(runs=runs), Role.REVIEWER) == 1
    assert attempts_used(a_view(task=a_task(reset_at=at(-5)), runs=runs)) == 1


def test_no_attempts_allowed_is_said_without_a_last_one():
    block = out_of_attempts(a_view(Status.ROUTED), 0)
    assert block is not None
    assert block.words == "0 attempts are used up."


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (None, "ann has not been collected"),
        (an_outcome(failure=FailureKind.CRASH), "ann failed (crash): it said so"),
        (an_outcome(), "ann ended"),
        (an_outcome(ReviewReport(Decision.APPROVE, "fine")), "ann: approve"),
        (an_outcome(RouterReport(Complexity.SIMPLE)), "ann: simple"),
        (an_outcome(has_commits=False), "ann ended without any change"),
    ],
)
def test_ends_in_words(outcome, words):
    assert describe_end(a_run(outcome=outcome)) == words


def test_a_verdict_is_found_by_its_exact_head_and_the_newest_counts():
    newest = a_verdict(Decision.REQUEST_CHANGES)
    view = a_view(verdicts=(a_verdict(), newest, a_verdict(head_sha=a_sha(1))))
    assert view.verdict_for(HEAD) is newest
    assert view.verdict_for(a_sha(2)) is None
