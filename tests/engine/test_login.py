"""A login that parallel runs share, and that is no good any more."""

import pytest

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.notice import Priority
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


AUTH = Reading(None, Failure(FailureKind.AUTH, "401 token\x1b[2J expired"))


def told(stage: Stage, *kinds: str) -> list[str]:
    return [notice.words for notice in stage.store.notices if notice.kind in kinds]


@pytest.mark.case("C241")
async def test_a_person_is_told_once_while_it_lasts_and_when_it_works_again(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cleo"))
    stage.agents["ann"].login = "ann /login"
    stage.agents["ann"].always = dict.fromkeys(Role, AUTH)
    for _ in range(3):
        stage.file()
    await stage.settle()
    for _ in range(4):
        await stage.restart()
        await stage.later(3600)  # its cooldown runs out, it is tried again and fails again
        stage.file()
        await stage.settle()
    assert stage.store.cooldowns["ann", None, "auth"].count > 1
    (words,) = told(stage, "agent_needs_person")
    assert "run `ann /login` on this machine" in words
    assert "\x1b" not in words
    (notice,) = [one for one in stage.store.notices if one.kind == "agent_needs_person"]
    assert (notice.priority, notice.project, notice.task) == (Priority.ACTION, "", None)
    stage.agents["ann"].always = {}
    await stage.later(2 * 86_400)
    for _ in range(4):
        stage.file()
    await stage.settle()
    await stage.later(60)
    assert not await stage.facade.list_cooldowns()
    assert told(stage, "agent_works_again") == ["ann works again: a run of it ended well (auth is over)"]
    assert told(stage, "no_agent_left", "agents_work_again") == []


async def test_that_no_agent_is_left_is_urgent_and_told_once(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob"))
    for agent in stage.agents.values():
        agent.always = dict.fromkeys(Role, AUTH)
    for _ in range(3):
        stage.file()
    await stage.settle()
    for _ in range(3):
        await stage.later(3600)
        await stage.restart()
    (words,) = told(stage, "no_agent_left")
    assert "and 3 tasks wait for one: " in words
    assert "ann: auth until" in words
    assert "bob: auth until" in words
    (notice,) = [one for one in stage.store.notices if one.kind == "no_agent_left"]
    assert notice.priority is Priority.URGENT
    for agent in stage.agents.values():
        agent.always = {}
    await stage.later(2 * 86_400)
    await stage.settle()
    assert len(told(stage, "agents_work_again")) == 1
    assert len(told(stage, "no_agent_left")) == 1


async def test_a_person_who_clears_it_hears_of_it_again_if_it_is_not_put_right(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob"))
    for agent in stage.agents.values():
        agent.always = dict.fromkeys(Role, AUTH)
    for _ in range(3):
        stage.file()
    await stage.settle()
    assert len(told(stage, "agent_needs_person")) == 2
    await stage.facade.clear_cooldowns(agent=None)
    await stage.settle()
    await stage.later(60)
    assert len(told(stage, "agent_needs_person")) > 2
    assert len(told(stage, "no_agent_left")) == 2
    assert told(stage, "agent_works_again", "agents_work_again") == []
