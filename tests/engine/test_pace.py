"""How often a project is read: less where nothing happens or the forge's limit runs low, more where checks run."""

from datetime import timedelta

import pytest

from nightcrew.core.errors import HeldBack, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMode, MergeSettings
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.quota import Pace, PaceNow, TokenStanding
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.policy.pacing import IDLE_AFTER_S, TOLD_IDLE_AFTER_S
from nightcrew.engine.view.first import AT_ONCE
from tests.core.build import a_task
from tests.engine.part import PERSON, PROJECT
from tests.engine.stage import Stage

LISTS = {"list_open_issues", "list_updated_issues"}
OTHER = "acme/gadget"


async def in_review(stage: Stage) -> TaskKey:
    """A task whose pull request is approved and waits for CI that has not begun."""
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    return key


def short(stage: Stage, pace: Pace) -> None:
    stage.quota.now = PaceNow(pace, stage.clock.now() + timedelta(minutes=20), "few of its requests are left")


def asked(stage: Stage) -> list[str]:
    names = [name for name, _ in stage.forge.calls]
    stage.forge.calls.clear()
    return names


async def tick_for(stage: Stage, seconds: int, *, step_s: int = 1) -> list[str]:
    for _ in range(seconds // step_s):
        await stage.tick(advance_s=step_s)
    return asked(stage)


# In flight


async def test_while_checks_run_only_the_head_is_asked_about_and_often(tmp_path):
    stage = Stage(tmp_path)
    await in_review(stage)
    await stage.later()
    asked(stage)
    assert await tick_for(stage, 40) == ["list_checks"] * 4


async def test_green_is_merged_without_waiting_for_the_interval(tmp_path):
    stage = Stage(tmp_path)
    key = await in_review(stage)
    await stage.later()
    stage.ci()
    asked(stage)
    for _ in range(10):
        await stage.tick()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert not LISTS & set(asked(stage))


async def test_the_longer_checks_take_the_less_often_they_are_asked_about(tmp_path):
    stage = Stage(tmp_path)
    await in_review(stage)
    for _ in range(20):
        await stage.tick(advance_s=stage.settings.interval_s)
    asked(stage)
    assert "list_checks" not in await tick_for(stage, 40)


async def test_checks_that_have_ended_are_not_watched(tmp_path):
    ask = ProjectSettings(PROJECT, merge=MergeSettings(mode=MergeMode.ASK))
    stage = Stage(tmp_path, projects=(ask,))
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    await stage.later()
    asked(stage)
    assert await tick_for(stage, 40) == []


async def test_whether_it_merges_is_asked_for_while_the_forge_does_not_know(tmp_path):
    ask = ProjectSettings(PROJECT, merge=MergeSettings(mode=MergeMode.ASK))
    stage = Stage(tmp_path, projects=(ask,))
    key = stage.file()
    await stage.settle()
    stage.forge.thread(PROJECT, stage.number(key)).mergeable_known = False
    await stage.later()
    asked(stage)
    assert await tick_for(stage, 20) == ["fetch_pull"] * 2


async def test_what_cannot_be_asked_in_between_waits_for_the_interval(tmp_path):
    stage = Stage(tmp_path)
    key = await in_review(stage)
    await stage.later()
    stage.ci()
    stage.forge.fail("list_checks", Unavailable("down"), times=4)
    await tick_for(stage, 40)
    assert stage.task(key).status is Status.IN_REVIEW
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_the_loop_knows_when_the_next_look_is_due(tmp_path):
    stage = Stage(tmp_path)
    await in_review(stage)
    await stage.later()
    assert 0 < stage.observer.pause_s() <= stage.settings.interval_min_s
    stage.ci()
    await tick_for(stage, 10)
    await stage.settle()
    assert stage.settings.interval_min_s < stage.observer.pause_s() <= stage.settings.interval_s


# Idle


async def test_a_project_in_which_nothing_happens_is_read_half_as_often(tmp_path):
    stage = Stage(tmp_path)
    minute = int(IDLE_AFTER_S / 45) + 2
    for _ in range(minute):
        await stage.tick(advance_s=45)
    asked(stage)
    reads = [name for name in await tick_for(stage, 900, step_s=45) if name in LISTS]
    assert len(reads) == 10
    # News end that at once.
    stage.file(labels=())
    await stage.tick(advance_s=90)
    asked(stage)
    reads = [name for name in await tick_for(stage, 450, step_s=45) if name in LISTS]
    assert len(reads) == 10


async def test_with_a_webhook_that_works_it_is_read_more_seldom_still_and_sooner(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()
    stage.observer.tell(PROJECT)
    await stage.tick()
    assert LISTS & set(asked(stage))
    await tick_for(stage, int(TOLD_IDLE_AFTER_S) + 45, step_s=45)
    reads = [name for name in await tick_for(stage, 900, step_s=45) if name in LISTS]
    assert len(reads) == 5
    stage.observer.tell(PROJECT)
    await stage.tick()
    assert LISTS & set(asked(stage))


async def test_where_there_is_work_it_is_never_idle(tmp_path):
    stage = Stage(tmp_path)
    await in_review(stage)
    stage.observer.tell(PROJECT)
    for _ in range(int(IDLE_AFTER_S / 45) + 2):
        await stage.tick(advance_s=45)
    asked(stage)
    reads = [name for name in await tick_for(stage, 450, step_s=45) if name in LISTS]
    assert len(reads) == 10


async def test_a_blocked_task_is_waited_for_at_the_ordinary_interval(tmp_path):
    stage = Stage(tmp_path)
    key = await in_review(stage)
    await stage.facade.block_task(key, why="later")
    for _ in range(int(IDLE_AFTER_S / 45) + 2):
        await stage.tick(advance_s=45)
    asked(stage)
    reads = [name for name in await tick_for(stage, 450, step_s=45) if name in LISTS]
    assert len(reads) == 10


async def test_of_many_projects_some_are_read_at_first_and_those_with_work_before_all(tmp_path):
    many = [f"acme/number{number}" for number in range(AT_ONCE + 20)]
    stage = Stage(tmp_path, projects=tuple(ProjectSettings(slug) for slug in many))
    last = stage.file(project=many[-1])
    stage.store.tasks[last] = a_task(number=last.number, key=last)
    await stage.tick()
    read = {slug for name, slug in stage.forge.calls if name == "list_open_issues"}
    assert read == {*many[:AT_ONCE], many[-1]}
    await stage.tick()
    assert {slug for name, slug in stage.forge.calls if name == "list_open_issues"} == read
    await stage.tick(advance_s=45)
    assert {slug for name, slug in stage.forge.calls if name == "list_open_issues"} == set(many)


# Short


async def test_when_the_limit_runs_low_lists_are_read_less_often_and_work_as_ever(tmp_path):
    stage = Stage(tmp_path)
    await in_review(stage)
    short(stage, Pace.SLOW)
    await stage.later()
    asked(stage)
    names = await tick_for(stage, 720, step_s=45)
    assert names.count("list_updated_issues") == 4
    assert names.count("fetch_issue") == 16


async def test_when_polling_stops_what_is_at_work_is_merged_and_what_is_new_waits(tmp_path):
    stage = Stage(tmp_path, settings=Settings(interval_min_s=45))
    key = await in_review(stage)
    waiting = stage.file("Another", labels=("nightcrew", "no-agent"))
    await stage.later()
    stage.forge.unlabel(PROJECT, waiting.number, "no-agent")
    short(stage, Pace.STOPPED)
    unseen = stage.file("A third")
    stage.ci()
    asked(stage)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert not LISTS & set(asked(stage))
    assert unseen not in stage.store.tasks
    stage.observer.touch(waiting)
    told = stage.comments(waiting)
    await stage.later()
    wait = stage.wait(waiting)
    assert wait.code == "forge_limit"
    assert wait.words == "the forge's limit for it runs out: few of its requests are left"
    assert wait.until_at == stage.quota.now.until_at
    assert stage.comments(waiting) == told, "saying so on the issue would use up what is short"
    # It ends by itself.
    stage.quota.now = PaceNow()
    await stage.later()
    assert unseen in stage.store.tasks
    assert stage.task(waiting).status is Status.DONE or stage.runs(waiting)


@pytest.mark.parametrize("is_first", [True, False])
async def test_what_people_say_is_obeyed_while_polling_stops(tmp_path, is_first):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await stage.later(play=False)
    if is_first:
        await stage.restart()
    short(stage, Pace.STOPPED)
    stage.clock.advance(2)
    stage.forge.comment(PROJECT, key.number, body="/stop", author=PERSON)
    await stage.later(play=False)
    assert stage.task(key).status is Status.BLOCKED
    stage.clock.advance(2)
    stage.forge.comment(PROJECT, key.number, body="/unblock", author=PERSON)
    await stage.later(play=False)
    assert stage.task(key).status is not Status.BLOCKED


async def test_projects_without_tasks_are_left_alone_while_polling_stops(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))
    await stage.later()
    short(stage, Pace.STOPPED)
    asked(stage)
    assert await tick_for(stage, 450, step_s=45) == []
    assert stage.observer.problems() == ()


async def test_polling_that_is_held_back_in_the_middle_forgets_nothing(tmp_path):
    stage = Stage(tmp_path)
    key = await in_review(stage)
    stage.forge.fail("list_updated_issues", HeldBack("few of its requests are left"))
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_what_was_never_read_is_not_guessed_at_while_polling_stops(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    waiting = stage.file("Another", labels=("nightcrew", "no-agent"))
    await stage.later(play=False)
    short(stage, Pace.STOPPED)
    await stage.restart()
    await stage.later(play=False)
    assert stage.wait(waiting).code == "forge_limit"
    assert stage.task(key).status is Status.IN_PROGRESS
    stage.ci(CheckState.SUCCESS)


async def test_a_limit_in_force_is_the_reason_that_all_tasks_give(tmp_path):
    stage = Stage(tmp_path)
    key = await in_review(stage)
    short(stage, Pace.CLOSED)
    for method in ("find_branch", "fetch_pull", "list_checks"):
        stage.forge.fail(method, Unavailable("rate limit"), times=100)
    await stage.later()
    assert stage.wait(key).code == "forge_limit"
    assert stage.wait(key).until_at == stage.quota.now.until_at


async def test_tokens_and_what_is_wrong_with_them_are_in_the_status(tmp_path):
    stage = Stage(tmp_path)
    good = TokenStanding("github", "variable ONE", Pace.OPEN, projects=1)
    bad = TokenStanding("github", "variable TWO", Pace.CLOSED, words="the forge does not take it")
    stage.quota.told = (good, bad)
    await stage.tick()
    status = await stage.facade.status()
    assert status.tokens == (good, bad)
    assert status.problems == ("github, variable TWO: the forge does not take it",)
