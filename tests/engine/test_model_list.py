"""Keeping the list that `opencode:free` stands for: asked beside the loop, kept over failures and restarts."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from nightcrew.core.errors import Unavailable
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings, Settings
from nightcrew.core.model_list import FREE
from nightcrew.engine.model_list import refresh_models
from tests.engine.stage import Stage

AGENTS = {
    "open": AgentSettings("open", "fake", models={Complexity.MEDIUM: (FREE,)}),
    "bob": AgentSettings("bob", "fake", can_author=False),
}


class Lister:
    """Answers what it is told to: names, or an error."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, agent: Any, env: Mapping[str, str]) -> tuple[str, ...]:
        self.asked.append((agent.name, env["KEY"]))
        if isinstance(self.answer, Exception):
            raise self.answer
        return tuple(self.answer)


def staged(tmp_path: Any, lister: Callable[..., Any]) -> Stage:
    return Stage(tmp_path, settings=Settings(agents=AGENTS), agents=("open", "bob"), guards={"list_models": lister})


async def refresh(stage: Stage) -> bool:
    return await refresh_models(stage.means, stage.loop.wake)


async def test_a_task_is_routed_to_a_model_that_was_listed(tmp_path):
    lister = Lister(("opencode/paid", "opencode/a-free", "opencode/b-free"))
    stage = staged(tmp_path, lister)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.NEW
    assert stage.wait(key).code == "agents_unknown"
    assert await refresh(stage)
    assert lister.asked == [("open", "secret of open")]
    assert stage.loop._woken.is_set()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert [run.model for run in stage.runs(key, Role.AUTHOR)] == ["opencode/a-free"]
    status = await stage.facade.status()
    assert {agent.name: agent.free_models for agent in status.agents} == {
        "open": ("opencode/a-free", "opencode/b-free"),
        "bob": (),
    }


@pytest.mark.case("C112")
@pytest.mark.parametrize("failure", [Unavailable("its database is locked"), (), ("opencode/paid",), TimeoutError()])
async def test_a_listing_that_fails_keeps_the_last_list(tmp_path, failure):
    lister = Lister(("opencode/a-free",))
    stage = staged(tmp_path, lister)
    await refresh(stage)
    lister.answer = failure
    assert not await refresh(stage)
    await stage.restart()
    assert not await refresh(stage)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.events("models.not_listed")) == 2
    assert stage.events("models.listed") == ["open: opencode/a-free"]


async def test_a_list_that_is_the_same_is_no_event(tmp_path):
    stage = staged(tmp_path, Lister(("opencode/a-free",)))
    for _ in range(3):
        assert await refresh(stage)
    assert len(stage.events("models.listed")) == 1


async def test_a_listing_that_hangs_holds_up_no_tick(tmp_path):
    never = asyncio.Event()

    async def hang(_agent: Any, _env: Mapping[str, str]) -> tuple[str, ...]:
        await never.wait()
        return ()

    stage = staged(tmp_path, hang)
    stage.file()
    ticks = stage.loop.state.ticks
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(stage.loop.run())
        while stage.loop.state.ticks < ticks + 2:
            stage.loop.wake()
            await asyncio.sleep(0.001)
        stage.loop.stop()
