"""M10 over the forge: a red check runs once more at each head; what passes is flaky, a second red is its author's."""

import pytest

from nightcrew.core.errors import Denied, OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.reaction import ReactionRule, ReactionSettings
from nightcrew.core.model.rerun import RerunState
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import CheckCommand, ProjectSettings
from tests.engine.approved import in_review
from tests.engine.part import PROJECT
from tests.engine.stage import Stage

UNPAID = "The job was not started because recent account payments have failed or your spending limit is too low"
RED, GREEN = CheckState.FAILURE, CheckState.SUCCESS
LOG = "FAILED tests/test_turn.py::test_slow - assert 1 == 2\n##[error]1 failed\n"


def say(stage: Stage, key: TaskKey, state: CheckState, summary: str = "") -> None:
    head = stage.pull(key).head_sha
    stage.forge.add_check(PROJECT, head, "build", state, summary=summary, can_rerun=True)


def states(stage: Stage) -> list[RerunState]:
    return [row.state for row in stage.store.reruns.values()]


async def test_a_check_that_passes_when_run_again_is_flaky_and_its_author_is_left_alone(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    say(stage, key, RED, LOG)
    await stage.later()
    assert stage.count("rerun_check") == 1
    assert stage.wait(key).code == "gate_waits"
    say(stage, key, GREEN)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    (flake,) = await stage.facade.list_flakes(project=PROJECT)
    assert (flake.check, flake.test, flake.times) == ("build", "tests/test_turn.py::test_slow", 1)
    assert "flaky" in stage.events("check.flaky", key)[0]


async def test_m10_a_second_red_goes_to_the_author_with_its_log_and_is_not_run_again(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    say(stage, key, RED, LOG)
    await stage.later()
    await stage.restart()
    say(stage, key, RED, "FAILED tests/test_turn.py::test_really - assert 3 == 4\n")
    await stage.later()
    assert stage.count("rerun_check") == 1
    assert len(stage.runs(key, Role.AUTHOR)) == 2
    prompt = stage.agents[stage.runs(key, Role.AUTHOR)[-1].agent].jobs[-1].prompt
    assert "test_really" in prompt
    assert await stage.facade.list_flakes() == ()
    assert stage.pull(key).head_sha != merge.head_sha
    say(stage, key, RED, LOG)
    await stage.later()
    assert stage.count("rerun_check") == 2, "another head has one of its own"


async def test_without_the_permission_its_author_is_asked_and_that_is_said(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.forge.fail("rerun_check", Denied("it takes actions=write", needed="actions=write"))
    say(stage, key, RED, LOG)
    await stage.later(play=False)
    assert states(stage) == [RerunState.REFUSED]
    assert "actions=write" in stage.events("check.not_rerun", key)[0]
    assert any("actions=write" in why for why in stage.events("status.changed", key))
    assert len(stage.runs(key, Role.AUTHOR)) == 2


@pytest.mark.parametrize("after", [False, True], ids=["not made", "made"])
async def test_a_request_without_an_answer_is_looked_for_and_made_once(tmp_path, after):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.forge.fail("rerun_check", OutcomeUnknown("no answer"), after=after)
    say(stage, key, RED)
    await stage.later(play=False)
    assert states(stage) == [RerunState.WANTED]
    await stage.later(60, play=False)
    assert states(stage) == [RerunState.ASKED]
    runs = stage.forge.projects[PROJECT].runs[stage.pull(key).head_sha]
    assert [run.state for run in runs] == [RED, CheckState.PENDING]
    say(stage, key, GREEN)
    await stage.later()
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C187")
async def test_checks_that_nobody_pays_for_hold_their_task_until_they_run_and_nobody_else(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    say(stage, key, RED, UNPAID)
    await stage.later()
    assert stage.block(key).code == "ci_unpaid"
    assert stage.count("rerun_check") == 0
    other = stage.file("Another thing")
    await stage.later()
    say(stage, other, GREEN)
    await stage.later()
    assert stage.task(other).status is Status.DONE
    assert stage.store.cooldowns == {}
    assert stage.block(key).code == "ci_unpaid"
    say(stage, key, CheckState.PENDING)
    say(stage, key, GREEN)
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    kinds = [notice.kind for notice in stage.store.notices if notice.kind != "all_complete"]
    assert kinds == ["blocked", "merged", "merged"]


async def test_it_can_be_turned_off(tmp_path):
    rules = ReactionSettings(ci_failed=ReactionRule(rerun=False))
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, _ = await in_review(stage)
    say(stage, key, RED)
    await stage.later()
    assert stage.count("rerun_check") == 0
    assert len(stage.runs(key, Role.AUTHOR)) == 2


async def test_an_engine_check_that_is_flaky_runs_again_on_the_same_head(tmp_path):
    once = tmp_path / "once"
    flaky = CheckCommand(
        "tests", ("sh", "-c", f"test -e {once} || {{ touch {once}; echo 'FAILED a.py::test_x'; exit 1; }}")
    )
    stage = Stage(tmp_path / "home", projects=(ProjectSettings(PROJECT, checks=(flaky,)),))
    key = stage.file()
    await stage.settle()
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    (flake,) = await stage.facade.list_flakes()
    assert (flake.check, flake.test) == ("nightcrew/tests", "a.py::test_x")
