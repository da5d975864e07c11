"""Settings that a repository has for an agent's CLI: loaded only where the owner allows it, and only the base's."""

import pytest

from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings
from tests.engine.part import PROJECT
from tests.engine.stage import Stage

HOOK: dict[str, str | None] = {".tool/settings.json": "{hook}"}


def staged(folder, *, allowed: bool) -> Stage:
    stage = Stage(folder, projects=(ProjectSettings(PROJECT, agent_settings=allowed),))
    for agent in stage.agents.values():
        agent.own_settings = (".tool", "tool.json")
    return stage


def loaded(stage: Stage) -> list[tuple[Role, bool]]:
    return [(job.role, job.repository_settings) for agent in stage.agents.values() for job in agent.jobs]


@pytest.mark.case("C220")
async def test_they_are_not_loaded_unless_the_owner_allows_it_and_that_is_said_once(tmp_path):
    stage = staged(tmp_path, allowed=False)
    stage.workspace.publish(PROJECT, HOOK)
    key = stage.file()
    await stage.settle()
    assert loaded(stage) == [(Role.AUTHOR, False), (Role.REVIEWER, False)]
    (said,) = stage.events("settings.left_out", key)
    assert ".tool/settings.json" in said
    assert "agent_settings" in said


async def test_a_repository_without_any_is_told_nothing(tmp_path):
    stage = staged(tmp_path, allowed=False)
    stage.workspace.publish(PROJECT, {".toolbox": "x", "tool": "y"})
    key = stage.file()
    await stage.settle()
    assert stage.events("settings.left_out", key) == []


async def test_the_owner_may_allow_those_of_the_base(tmp_path):
    stage = staged(tmp_path, allowed=True)
    stage.workspace.publish(PROJECT, HOOK)
    key = stage.file()
    await stage.settle()
    assert loaded(stage) == [(Role.AUTHOR, True), (Role.REVIEWER, True)]
    assert stage.events("settings.left_out", key) == []


@pytest.mark.case("C220")
@pytest.mark.parametrize("path", [".tool/settings.json", ".tool/more.json", "tool.json"])
async def test_what_a_branch_makes_of_them_is_never_loaded(tmp_path, path):
    stage = staged(tmp_path, allowed=True)
    stage.workspace.publish(PROJECT, HOOK)
    stage.edit = lambda _run: {path: "{another hook}", "a.py": "x"}
    key = stage.file()
    await stage.settle()
    assert loaded(stage) == [(Role.AUTHOR, True), (Role.REVIEWER, False)]
    (said,) = stage.events("settings.left_out", key)
    assert path in said
