"""What a task has used, and what it may use."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import MoveStatus, StartRun, TellPerson
from nightcrew.core.decide import decide
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Usage
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import Budget
from nightcrew.core.policy.budgeting import Spent, cut_deadline, describe_spent, over_budget, spent_by
from tests.core.build import a_project, a_run, a_settings, a_task, a_view, a_world, an_open_run, an_outcome, at


def used(attempt: int = 1, role: Role = Role.AUTHOR, minutes: float = 10, **usage: object) -> Run:
    """A run that took so long and used that."""
    return a_run(
        role,
        attempt,
        started_at=at(-60),
        ended_at=at(-60 + minutes),
        outcome=an_outcome(usage=Usage(**usage)),  # type: ignore[arg-type]  # the fields of the caller
    )


def test_everything_is_counted_over_all_roles():
    runs = (
        used(1, input_tokens=100, output_tokens=10, cost_usd=0.5),
        used(1, Role.REVIEWER, 5, input_tokens=50),
        used(1, Role.ROUTER, 1, output_tokens=1, cost_usd=0.25),
        an_open_run(attempt=2, created_at=at(-1)),
    )
    assert spent_by(runs, since=None) == Spent(4, 16 * 60.0, 161, 0.75)
    assert spent_by((), since=None) == Spent(0, 0.0, None, None)
    assert spent_by((used(),), since=None) == Spent(1, 600.0, None, None)


def test_what_was_before_a_reset_is_not_counted():
    runs = (used(1, input_tokens=5), used(2, input_tokens=7))
    assert spent_by(runs, since=runs[0].created_at).tokens == 7


@pytest.mark.parametrize(("minutes", "seconds"), [(-600, 0.0), (0, 0.0), (100_000, 3600.0 + 60.0)])
def test_a_wall_clock_that_was_set_makes_no_time(minutes, seconds):
    assert spent_by((used(minutes=minutes),), since=None).wall_s == seconds


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(), ""),
        (Budget(runs=4), ""),
        (Budget(runs=3), "3 of 3 runs"),
        (Budget(wall_s=1260.0), ""),
        (Budget(wall_s=1259.0), "20 min of 21 min"),
        (Budget(wall_s=60.0), "20 min of 60 s"),
        (Budget(tokens=1001), ""),
        (Budget(tokens=1000), "1,000 of 1,000 tokens"),
        (Budget(cost_usd=0.51), ""),
        (Budget(cost_usd=0.5), "0.50 of 0.50 USD"),
        (Budget(runs=1, tokens=1), "3 of 1 runs, 1,000 of 1 tokens"),
    ],
)
def test_a_budget_is_used_up(budget, words):
    block = over_budget(Spent(3, 1200.0, 1000, 0.5), budget)
    assert (block is None) is (words == "")
    if block is not None:
        assert block.code == "budget"
        assert f"used up: {words};" in block.words


@pytest.mark.parametrize("budget", [Budget(tokens=1), Budget(cost_usd=0.01)])
def test_what_no_cli_tells_uses_up_nothing(budget):
    assert over_budget(Spent(9, 9e4), budget) is None


def test_a_deadline_is_cut_to_what_is_left():
    assert cut_deadline(3600.0, Spent(1, 600.0), Budget()) == 3600.0
    assert cut_deadline(3600.0, Spent(1, 600.0), Budget(wall_s=1000.0)) == 400.0
    assert cut_deadline(300.0, Spent(1, 600.0), Budget(wall_s=1000.0)) == 300.0


def test_in_words():
    assert describe_spent(Spent(1, 90.0)) == "1 run, 90 s"
    assert describe_spent(Spent(2, 600.0, 12345, 1.5)) == "2 runs, 10 min, 12,345 tokens, 1.50 USD"


@pytest.mark.parametrize("status", [Status.ROUTED, Status.NEEDS_REVIEW])
@pytest.mark.parametrize(
    ("budget", "deadline_s", "target"),
    [(Budget(), None, None), (Budget(wall_s=900.0), 300.0, None), (Budget(runs=1), None, Status.BLOCKED)],
)
def test_no_run_is_started_over_the_budget(status, budget, deadline_s, target):
    settings = a_settings(a_project(budget=budget))
    view = a_view(status, runs=(used(),), task=a_task(status))
    actions = decide(a_world(view, settings=settings)).actions
    (action,) = [found for found in actions if not isinstance(found, TellPerson)]
    if target is not None:
        assert isinstance(action, MoveStatus)
        assert action.target is target
        assert action.block is not None
        assert action.block.code == "budget"
    else:
        assert isinstance(action, StartRun)
        assert deadline_s is None or action.deadline_s == deadline_s


def test_after_a_reset_it_may_go_on():
    settings = a_settings(a_project(budget=Budget(runs=1)))
    task = replace(a_task(Status.ROUTED), reset_at=at(-1))
    view = a_view(Status.ROUTED, task=task, runs=(used(),))
    assert any(isinstance(action, StartRun) for action in decide(a_world(view, settings=settings)).actions)
