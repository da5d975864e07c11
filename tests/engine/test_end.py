"""How a task ends, by the hand of whoever ends it, and begins again."""

import asyncio

import pytest

from nightcrew.core.actions import FinishTask, MoveStatus, Refused
from nightcrew.core.errors import Missing, OutcomeUnknown, Unavailable
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Required
from nightcrew.core.model.run import Role
from tests.engine.part import PROJECT, wants_changes
from tests.engine.stage import Stage


async def blocked(stage: Stage):
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    await stage.facade.block_task(key, why="wait")
    await stage.settle()
    return key


# Ends


@pytest.mark.case("C031")
async def test_a_blocked_issue_that_a_person_closes_is_done(tmp_path):
    stage = Stage(tmp_path)
    key = await blocked(stage)
    stage.forge.set_open(PROJECT, key.number, is_open=False)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).block is None
    assert key not in [summary.task.key for summary in await stage.facade.list_tasks()]
    assert stage.statuses(key) == ("status:done",)


@pytest.mark.parametrize("gone", [True, False])
async def test_a_deleted_issue_ends_its_task_and_its_run(tmp_path, gone):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    if gone:
        stage.forge.fail("fetch_issue", Missing("410", gone=True), times=50)
    else:
        stage.forge.delete_issue(PROJECT, key.number)
    await stage.later(play=False)
    await stage.later(play=False)
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).moving_to is None
    assert stage.runtime.sessions == {}
    assert stage.events("workspace.salvaged", key)
    salvage = stage.workspace.repository(PROJECT).salvage
    assert {"half.txt"} <= {
        path for sha in salvage.values() for path in stage.workspace.repository(PROJECT).commits[sha].files
    }


@pytest.mark.case("C021")
async def test_one_not_found_touches_no_run(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.forge.fail("fetch_issue", Missing("404"))
    await stage.later(play=False)
    assert stage.runtime.stopped == []
    await stage.later(play=False)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1


async def test_one_not_found_of_a_pull_request_blocks_nothing(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    stage.forge.fail("fetch_pull", Missing("404"))
    await stage.later()
    assert stage.task(key).status is Status.IN_REVIEW
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_closed_issue_keeps_the_branch_and_saves_what_is_not_on_the_forge(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    branch = stage.task(key).branch
    stage.workspace.edit(PROJECT, key.number, {"late.txt": "late"})
    stage.forge.set_open(PROJECT, key.number, is_open=False)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert branch in stage.forge.projects[PROJECT].branches
    assert stage.events("workspace.salvaged", key)
    assert stage.pulls()[0].is_open


@pytest.mark.parametrize("hand", ["pushed", "renamed"])
async def test_a_branch_that_is_not_as_it_was_merged_is_left_alone(tmp_path, hand):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).merge_sha)
    branch = stage.task(key).branch
    if hand == "pushed":
        stage.forge.push(PROJECT, branch)
    else:
        stage.change_pull(key, head_ref="theirs")
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert branch in stage.forge.projects[PROJECT].branches


async def test_a_pull_request_merged_by_a_person_finishes_the_task(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    pull = stage.pull(key)
    await stage.forge.merge_pull(
        PROJECT, pull.number, sha=pull.head_sha, method=MergeMethod.SQUASH, title="t", message=""
    )
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).merge_sha == stage.pulls()[0].merge_commit_sha


async def test_a_merge_by_a_person_in_the_middle_of_the_next_round_saves_what_that_round_did(tmp_path):
    stage = Stage(tmp_path)
    stage.order("bob", wants_changes("the sign is wrong"), role=Role.REVIEWER)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and len(stage.runs(key, Role.AUTHOR)) == 2)
    await stage.settle(play=False)
    stage.workspace.edit(PROJECT, key.number, {"second.txt": "round"})
    made = stage.workspace.commit(PROJECT, key.number, agent="ann")
    pull = stage.pull(key)
    await stage.forge.merge_pull(
        PROJECT, pull.number, sha=pull.head_sha, method=MergeMethod.SQUASH, title="t", message=""
    )
    await stage.later(play=False)
    assert stage.task(key).status is Status.DONE
    assert stage.events("workspace.salvaged", key)
    assert made in stage.workspace.repository(PROJECT).salvage.values()


async def test_a_merge_of_all_that_was_done_leaves_nothing_to_save(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.events("workspace.salvaged", key) == []


async def test_a_pull_request_closed_by_a_person_waits_for_them(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    stage.forge.set_open(PROJECT, stage.number(key), is_open=False)
    await stage.later()
    assert stage.block(key).code == "pull_closed"
    stage.auto_ci = True
    await stage.facade.retry_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 2


async def test_a_reopened_issue_is_new_and_gets_a_new_pull_request(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    stage.forge.set_open(PROJECT, key.number, is_open=True)
    stage.edit = lambda run: {"again.txt": f"{run.attempt}"}
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 2
    assert all(pull.is_merged for pull in stage.pulls())
    assert [run.attempt for run in stage.runs(key, Role.AUTHOR)] == [1, 2]
    assert stage.moves(key).count("new") == 1


async def test_an_issue_closed_with_its_pull_request_and_reopened_goes_on_with_its_branch(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    old_head = stage.pull(key).head_sha
    stage.forge.set_open(PROJECT, stage.number(key), is_open=False)
    stage.forge.set_open(PROJECT, key.number, is_open=False)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    stage.auto_ci = True
    stage.edit = lambda run: {"again.txt": "again"}
    stage.forge.set_open(PROJECT, key.number, is_open=True)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 2
    assert stage.workspace.repository(PROJECT).contains(stage.pulls()[1].head_sha, old_head)


async def test_a_task_is_not_reopened_for_a_look_that_came_too_late(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    move = MoveStatus(key, Status.DONE, Status.NEW, Evidence.PERSON, "its issue was opened again", reset=True)
    outcome = await stage.act(move)
    assert isinstance(outcome, Refused)
    assert "closed" in outcome.why
    assert stage.task(key).status is Status.DONE


async def test_a_merge_that_is_not_true_finishes_nothing(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    outcome = await stage.act(FinishTask(key, Status.IN_REVIEW, merged=True, why="merged"))
    assert isinstance(outcome, Refused)
    assert stage.issue(key).is_open
    assert stage.task(key).status is Status.IN_REVIEW


async def test_a_retargeted_pull_request_waits_and_goes_on_once_a_person_says_so(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    stage.forge.push(PROJECT, "develop")
    stage.change_pull(key, base_ref="develop")
    await stage.later()
    assert stage.block(key).code == "base_changed"
    stage.auto_ci = True
    await stage.facade.unblock_task(key)
    await stage.settle()
    task = stage.task(key)
    assert (task.status, task.base_ref) == (Status.DONE, "develop")
    assert len(stage.runs(key, Role.REVIEWER)) == 2
    assert task.merge_sha == stage.forge.projects[PROJECT].branches["develop"]


@pytest.mark.parametrize("method", ["add_label", "remove_label"])
@pytest.mark.parametrize("fault", [Unavailable("503"), OutcomeUnknown("no answer")])
@pytest.mark.parametrize("after", [False, True])
async def test_labels_come_right_after_a_fault_of_the_forge(tmp_path, method, fault, after):
    stage = Stage(tmp_path)
    stage.forge.fail(method, fault, times=2, after=after)
    key = stage.file()
    for _ in range(6):
        await stage.later(30)
    assert stage.task(key).status is Status.DONE
    assert stage.statuses(key) == ("status:done",)
    assert stage.task(key).tried == ()
    assert len(stage.runs(key)) == 2


async def test_a_label_storm_of_a_person_ends_with_one_label(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(contexts=("never",))
    key = stage.file()
    for target in ("blocked", "new", "in_review", "routed", "needs_review", "blocked"):
        await stage.tick(advance_s=20)
        stage.play()
        stage.set_label(key, f"status:{target}")
        async with asyncio.TaskGroup() as group:
            await stage.loop.tick(group)
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    assert stage.statuses(key) == ("status:blocked",)
