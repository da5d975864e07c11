"""A login that parallel runs share, and that is no good any more."""

import pytest

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from nightcrew.ports.agent import Reading
from tests.engine.stage import Stage


@pytest.mark.case("C241")
async def test_it_takes_its_agent_out_says_so_once_and_the_tasks_go_to_others(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cleo"))
    words = "your refresh token was already used. Please log out and sign in again."
    stage.order("ann", *[Reading(None, Failure(FailureKind.AUTH, words))] * 4)
    keys = [stage.file() for _ in range(4)]
    await stage.until(lambda: all(key in stage.store.tasks and stage.task(key).status is Status.DONE for key in keys))
    failed = [run for key in keys for run in stage.runs(key, Role.AUTHOR) if run.agent == "ann"]
    assert failed
    said = stage.events("agent.needs_person")
    assert len(said) == 1
    assert words in said[0]
    assert all(stage.runs(key, Role.AUTHOR)[-1].agent != "ann" for key in keys)
    assert [cooldown.kind for cooldown in await stage.facade.list_cooldowns()] == [FailureKind.AUTH]
