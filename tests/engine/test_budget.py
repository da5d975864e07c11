"""Budgets over the whole life of a task: counted always, kept where they are set, and shown."""

from dataclasses import replace

from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Usage
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import Budget, ProjectSettings
from tests.engine.part import PROJECT, done, fails
from tests.engine.stage import Stage


def staged(tmp_path, budget: Budget, **project) -> Stage:
    return Stage(tmp_path, agents=("ann", "bob", "cat"), projects=(ProjectSettings(PROJECT, budget=budget, **project),))


async def test_what_a_task_used_is_told_on_its_issue_and_to_who_asks(tmp_path):
    stage = staged(tmp_path, Budget())
    stage.order("ann", replace(done(), usage=Usage(1000, 200, 0.5)))
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    detail = await stage.facade.get_task(key)
    assert (detail.spent.runs, detail.spent.tokens, detail.spent.cost_usd) == (2, 1200, 0.5)
    assert "- used: 2 runs, " in stage.comments(key)[0]
    assert "1,200 tokens, 0.50 USD" in stage.comments(key)[0]


async def test_a_task_over_its_budget_blocks_before_a_further_run(tmp_path):
    stage = staged(tmp_path, Budget(tokens=1000))
    stage.order("ann", replace(done(), usage=Usage(1000, 200)))
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.BLOCKED
    assert stage.block(key).code == "budget"
    assert "1,200 of 1,000 tokens" in stage.comments(key)[0]
    assert [run.role for run in stage.runs(key)] == [Role.AUTHOR]
    await stage.facade.unblock_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_runs_that_cost_no_attempt_cost_budget(tmp_path):
    stage = staged(tmp_path, Budget(runs=2))
    stage.order("ann", *[fails(FailureKind.NETWORK, "no answer")] * 5)
    key = stage.file(labels=("nightcrew", "agent:ann"))
    await stage.settle()
    for _ in range(3):
        await stage.later(3600)
    assert stage.block(key).code == "budget"
    assert len(stage.runs(key)) == 2


async def test_a_run_gets_no_more_wall_time_than_is_left(tmp_path):
    stage = staged(tmp_path, Budget(wall_s=1000.0))
    stage.order("ann", fails(FailureKind.BAD_OUTPUT, "no report"))
    key = stage.file()
    await stage.settle(play=False)
    first = stage.runs(key)[0]
    assert stage.runtime.started[0].deadline_s == first.deadline_s == 1000.0
    stage.clock.advance(400)
    stage.finish(first.session)
    await stage.settle(play=False)
    assert 580 < stage.runtime.started[1].deadline_s < 600
    stage.clock.advance(570)
    stage.runtime.end(stage.runs(key)[1].session, timed_out=True)
    await stage.settle()
    assert stage.block(key).code == "budget"
