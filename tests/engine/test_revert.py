"""After a merge: the base is watched, a revert offered where it turns red, and made where that is asked for."""

from dataclasses import replace

import pytest

from nightcrew.core.errors import Conflict, Missing, OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.landing import Landing, LandingState
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.run import Role
from nightcrew.core.policy.landing import SETTLING_S
from tests.engine.approved import with_merge
from tests.engine.part import PROJECT, Killed
from tests.engine.stage import Stage


async def merged(stage: Stage, **fields) -> TaskKey:
    """A task whose pull request is merged, onto a base that was green."""
    main = stage.forge.projects[PROJECT].branches["main"]
    stage.forge.add_check(PROJECT, main, "build", CheckState.SUCCESS)
    key = stage.file(**fields)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    return key


def landing(stage: Stage, key: TaskKey) -> Landing:
    found = stage.task(key).landing
    assert found is not None
    return found


def break_base(stage: Stage, key: TaskKey) -> None:
    stage.forge.add_check(PROJECT, landing(stage, key).merge_sha, "build", CheckState.FAILURE)
    stage.observer.expire()


async def test_a_merge_is_kept_with_where_the_base_was(tmp_path):
    stage = Stage(tmp_path)
    main = stage.forge.projects[PROJECT].branches["main"]
    key = await merged(stage)
    kept = landing(stage, key)
    assert (kept.before_sha, kept.merge_sha, kept.base_ref) == (main, stage.merge_sha(key), "main")
    assert kept.state is LandingState.WATCHED


async def test_a_base_that_turns_red_by_it_is_said_once_everywhere_and_a_revert_offered(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    pull = replace(key, number=stage.number(key))
    before = len(stage.comments(pull))
    break_base(stage, key)
    await stage.later()
    await stage.later()
    assert landing(stage, key).state is LandingState.RED
    said = stage.comments(pull)[before:]
    assert len(said) == 1
    assert f"nightcrew revert {key}" in said[0]
    (notice,) = [notice for notice in await stage.store.load_notices() if notice.kind == "base_broken"]
    assert (notice.task, notice.priority) == (key, Priority.ACTION)
    shown = await stage.facade.get_task(key)
    assert shown.landing == landing(stage, key)
    assert landing(stage, key).checks == ("build",)
    assert stage.issue(key).is_open is False, "nothing is done by itself"


@pytest.mark.parametrize("fault", ["lost", "killed"])
async def test_a_word_that_was_cut_short_is_said_once(tmp_path, fault):
    stage = Stage(tmp_path)
    key = await merged(stage)
    pull = replace(key, number=stage.number(key))
    before = len(stage.comments(pull))
    break_base(stage, key)
    if fault == "lost":
        stage.forge.fail("create_comment", OutcomeUnknown("no answer"), after=True)
        await stage.later()
    else:
        stage.points.die_at = None
        seen = len(stage.points.names)
        for step in range(1, 12):
            stage.points.die_at = seen + step
            try:
                await stage.later()
            except Killed as killed:
                await stage.restart()
                if "comment.create" in str(killed) and "after" in str(killed):
                    break
            seen = len(stage.points.names)
    await stage.later(60)
    assert landing(stage, key).state is LandingState.RED
    assert len(stage.comments(pull)) == before + 1


async def test_a_base_that_stays_green_is_watched_no_longer(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    stage.forge.add_check(PROJECT, landing(stage, key).merge_sha, "build", CheckState.SUCCESS)
    await stage.later(SETTLING_S)
    assert landing(stage, key).state is LandingState.GREEN
    break_base(stage, key)
    await stage.later()
    assert landing(stage, key).state is LandingState.GREEN


async def test_a_base_that_says_nothing_is_watched_for_so_long_and_no_longer(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    await stage.awake(7100)
    assert landing(stage, key).state is LandingState.WATCHED
    await stage.awake(200)
    assert landing(stage, key).state is LandingState.OVER


async def test_it_is_not_watched_where_the_settings_say_so(tmp_path):
    stage = Stage(tmp_path, projects=with_merge(watch_s=0))
    key = await merged(stage)
    assert stage.task(key).landing is None


# Taking it back


async def test_a_revert_is_a_pull_request_that_goes_the_usual_way(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    break_base(stage, key)
    await stage.later()
    answer = await stage.facade.revert(str(key))
    assert answer.changed
    revert = landing(stage, key).revert
    assert revert is not None
    assert revert.is_internal
    assert answer.data == {"task": str(revert), "pull": stage.task(revert).pull}
    await stage.settle()
    task = stage.task(revert)
    assert task.status is Status.DONE
    assert len(stage.runs(revert, Role.REVIEWER)) == 1, "another agent looks at it"
    assert stage.runs(revert, Role.AUTHOR) == [], "and none had to write it"
    pull = next(pull for pull in stage.pulls() if pull.number == task.pull)
    commits = stage.workspace.repository(PROJECT).commits
    kept = landing(stage, key)
    assert commits[pull.head_sha].files == commits[kept.before_sha].files, "the change is gone"
    assert commits[pull.head_sha].files != commits[kept.merge_sha].files
    assert (pull.head_ref, pull.is_merged) == (f"nightcrew/revert-{stage.number(key)}", True)
    assert pull.title == f"Revert #{stage.number(key)}: Turn it round"
    assert pull.head_ref not in stage.forge.projects[PROJECT].branches, "its branch is cleaned away"


async def test_asked_for_twice_it_is_the_same(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    stage.auto_ci = False
    first = await stage.facade.revert(str(key))
    again = await stage.facade.revert(f"widget#{stage.number(key)}")
    assert (first.changed, again.changed) == (True, False)
    assert first.data == again.data
    assert len(stage.pulls()) == 2
    stage.auto_ci = True
    await stage.settle()
    with pytest.raises(Conflict, match="was reverted by"):
        await stage.facade.revert(str(key))


async def test_a_revert_that_was_cut_short_anywhere_comes_to_one(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    stage.auto_ci = False
    step = 0
    while True:
        step += 1
        stage.points.die_at = len(stage.points.names) + step
        try:
            await stage.facade.revert(str(key))
            stage.points.die_at = None
            break
        except Killed:
            await stage.restart()
    assert step > 4, "there were places to die at"
    assert len(stage.pulls()) == 2
    tasks = [task for task in stage.store.tasks.values() if task.key.is_internal]
    assert [(task.pull, task.status) for task in tasks] == [(stage.pulls()[1].number, Status.NEEDS_REVIEW)]
    assert landing(stage, key).revert == tasks[0].key


async def test_a_lost_answer_is_looked_for(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    stage.forge.fail("create_pull", OutcomeUnknown("no answer"), after=True)
    await stage.facade.revert(str(key))
    assert len(stage.pulls()) == 2


async def test_what_was_never_merged_cannot_be_taken_back(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    with pytest.raises(Conflict, match="is not merged"):
        await stage.facade.revert(str(key))
    with pytest.raises(Conflict, match="no pull request"):
        await stage.facade.revert(str(await new_task(stage)))
    for text in ("acme/widget#0", "what", "999", "other/widget#3"):
        with pytest.raises((Missing, Conflict)):
            await stage.facade.revert(text)


async def new_task(stage: Stage) -> TaskKey:
    key = stage.file("another")
    stage.observer.expire()
    await stage.tick()
    return key


async def test_what_landed_since_may_stand_in_the_way(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    stage.workspace.publish(PROJECT, {f"work-{key.number}.txt": "changed again"})
    with pytest.raises(Conflict, match=r"stands in the way \(work-1.txt\)"):
        await stage.facade.revert(str(key))
    assert len(stage.pulls()) == 1


async def test_a_pull_request_of_no_task_can_be_taken_back_as_well(tmp_path):
    stage = Stage(tmp_path)
    key = await merged(stage)
    del stage.store.tasks[key]
    answer = await stage.facade.revert(f"{PROJECT}#{stage.pulls()[0].number}")
    assert answer.changed
    await stage.settle()
    assert [pull.is_merged for pull in stage.pulls()] == [True, True]
