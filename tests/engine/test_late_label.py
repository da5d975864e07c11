"""A change of labels whose answer was lost, and which lands after later ones: it is known for Nightcrew's own."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from nightcrew.core.errors import Conflict, OutcomeUnknown
from nightcrew.core.lifecycle import Status
from tests.engine.part import PROJECT, Killed
from tests.engine.stage import Stage

Land = Callable[[], Awaitable[Any]]


def lose(stage: Stage, wanted: str) -> list[Land]:
    """The next request to set this label is not answered; it lands when the test says."""
    lost: list[Land] = []

    async def add(plain: Any, project: str, number: int, name: str) -> Any:
        if name != wanted or lost:
            return await plain(project, number, name)
        lost.append(lambda: plain(project, number, name))
        raise OutcomeUnknown("no answer")

    stage.forge.instead["add_label"] = add
    return lost


async def test_a_label_that_lands_on_a_task_that_is_done_by_then_is_taken_off(tmp_path):
    stage = Stage(tmp_path)
    lost = lose(stage, "status:blocked")
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    with pytest.raises(Conflict, match="no answer"):
        await stage.facade.block_task(key, why="wait")
    await stage.forge.set_issue_open(PROJECT, key.number, is_open=False)
    await stage.until(lambda: stage.task(key).status is Status.DONE and stage.statuses(key) == ("status:done",))
    await lost[0]()
    await stage.later(60)
    assert stage.statuses(key) == ("status:done",)
    await stage.later(120)
    assert stage.task(key).moving_to is None
    assert stage.task(key).status is Status.DONE


async def test_a_label_that_lands_late_is_not_taken_for_a_persons_hand(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    lost = lose(stage, "status:routed")
    key = stage.file()
    await stage.until(lambda: bool(stage.runtime.started))
    await lost[0]()
    await stage.later(200)
    assert not any("a person" in words for words in stage.events("status.changed", key))
    assert len(stage.statuses(key)) == 1
    assert stage.task(key).moving_to is None


async def test_while_one_may_land_the_task_goes_on_and_a_persons_label_still_counts(tmp_path):
    stage = Stage(tmp_path)
    lose(stage, "status:routed")
    key = stage.file()
    await stage.until(lambda: bool(stage.runtime.started))
    assert stage.task(key).moving_to is not None
    stage.set_label(key, "status:blocked")
    stage.observer.expire()
    await stage.until(lambda: stage.task(key).status is Status.BLOCKED)
    assert "a person set status:blocked" in stage.events("status.changed", key)


async def test_one_that_was_under_way_when_the_service_died_is_waited_for_as_well(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)

    async def die(_plain: Any, project: str, number: int, name: str) -> None:
        raise Killed(f"{project}#{number}: {name}")

    stage.forge.instead["add_label"] = die
    with pytest.raises(Killed):
        await stage.later()
    stage.forge.instead.clear()
    await stage.restart()
    await stage.forge.set_issue_open(PROJECT, key.number, is_open=False)
    await stage.until(lambda: stage.task(key).status is Status.DONE and stage.statuses(key) == ("status:done",))
    await stage.forge.add_label(PROJECT, key.number, "status:in_progress")
    await stage.later(200)
    assert stage.statuses(key) == ("status:done",)
    assert stage.task(key).moving_to is None
