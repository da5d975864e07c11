"""What is done without effect is done ever more slowly, and says so; what has an effect, or its own pace, is not."""

import itertools
from dataclasses import replace

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.engine.brake import FREE
from tests.engine.part import PROJECT
from tests.engine.stage import Stage
from tests.fakes.board import PLACE


class Ignored:
    """The forge says that it put a label on an issue, and does not."""

    def __init__(self, number: int = 1) -> None:
        self.number = number
        self.count = 0

    async def __call__(self, plain, project, number, name) -> None:
        if number != self.number:
            await plain(project, number, name)
            return
        self.count += 1


async def test_a_step_without_effect_is_slowed_down_and_says_so(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.instead["add_label"] = forge = Ignored()
    key = stage.file()
    tries: list[int] = []
    for second in range(3000):
        before = forge.count
        await stage.tick()
        if forge.count > before:
            tries.append(second)
    gaps = [later - earlier for earlier, later in itertools.pairwise(tries)]
    assert gaps[-1] >= 600
    assert len(tries) <= FREE + 20
    wait = stage.wait(key)
    assert wait.code == "no_effect"
    assert "changed nothing" in wait.words
    assert wait.until_at is not None
    assert f"done {FREE + 1} times" in stage.events("action.no_effect", key)[0]
    sentence = (await stage.facade.get_task(key)).summary.sentence
    assert "changed nothing" in sentence
    del stage.forge.instead["add_label"]
    await stage.later(601)
    assert stage.task(key).status is Status.DONE
    assert stage.loop.actor.deferred() == {}


async def test_one_task_that_comes_to_nothing_holds_up_no_other(tmp_path):
    stage = Stage(tmp_path)
    stuck, other = stage.file("Stuck"), stage.file("Other")
    stage.forge.instead["add_label"] = Ignored(stuck.number)
    await stage.until(lambda: other in stage.store.tasks and stage.task(other).status is Status.DONE, max_ticks=200)
    assert stage.events("action.no_effect", stuck)


async def test_a_persons_word_ends_the_pause_of_what_came_to_nothing(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.instead["add_label"] = Ignored()
    key = stage.file()
    for _ in range(40):
        await stage.tick()
    assert stage.wait(key).code == "no_effect"
    del stage.forge.instead["add_label"]
    await stage.facade.block_task(key, why="wait")
    await stage.facade.unblock_task(key)
    await stage.settle(max_ticks=60)
    assert stage.task(key).status is Status.DONE


async def test_two_steps_that_undo_each_other_are_slowed_down(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    for _ in range(120):
        stage.forge.unlabel(PROJECT, key.number, f"status:{stage.task(key).status.value}")
        stage.observer.expire()
        await stage.tick()
    assert stage.count("add_label") < 30
    assert stage.events("action.no_effect", key)


async def test_a_person_who_works_fast_is_not_taken_for_a_loop(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    for label in ("status:blocked", "status:new") * 3:
        stage.set_label(key, label)
        stage.observer.expire()
        await stage.settle(play=False)
    assert stage.events("action.no_effect") == []
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_what_the_clock_asks_for_is_done_at_its_own_pace(tmp_path):
    board = replace(BoardSettings(PLACE), look_every_s=2.5)
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, board=board),))
    stage.file()
    await stage.settle(play=False)
    before = len(stage.boards.calls)
    for _ in range(30):
        await stage.tick(advance_s=3.0)
    assert stage.boards.calls[before:].count("cards") >= 29
    assert stage.events("action.no_effect") == []


async def test_a_life_without_trouble_is_never_slowed_down(tmp_path):
    stage = Stage(tmp_path)
    for title in ("One", "Two", "Three"):
        stage.file(title)
    await stage.settle()
    assert stage.events("action.no_effect") == []
