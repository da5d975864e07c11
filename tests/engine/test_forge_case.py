"""Situations that people met between a pull request and its merge, through the whole engine."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import Done
from nightcrew.core.errors import Unavailable
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import MergeRefused
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.run import Role
from tests.engine.approved import in_review, with_merge
from tests.engine.part import PROJECT
from tests.engine.stage import Stage


def refuse_once(stage: Stage, refused: MergeRefused) -> list[str]:
    """The forge refuses the next merge so; the heads that were asked for."""
    asked: list[str] = []

    async def merge(plain, project, number, **named):
        asked.append(str(named["sha"]))
        return refused if len(asked) == 1 else await plain(project, number, **named)

    stage.forge.instead["merge_pull"] = merge
    return asked


@pytest.mark.case("C165")
@pytest.mark.case("C166")
@pytest.mark.parametrize("kind", [RefusalKind.BEHIND, RefusalKind.RACE, RefusalKind.HEAD_MOVED])
async def test_a_409_about_the_head_that_was_pinned_is_tried_again_and_blocks_nothing(tmp_path, kind):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    asked = refuse_once(stage, MergeRefused("Head branch was modified. Review and try the merge again.", kind))
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.IN_REVIEW
    await stage.later(10)
    assert stage.task(key).status is Status.DONE
    assert asked == [merge.head_sha, merge.head_sha]
    assert "blocked" not in stage.moves(key)
    assert len(stage.runs(key)) == 2


@pytest.mark.case("C166")
@pytest.mark.case("C159")
async def test_a_409_with_another_head_is_reviewed_anew_before_it_is_asked_again(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    asked = refuse_once(stage, MergeRefused("Head branch was modified.", RefusalKind.HEAD_MOVED))
    stage.ci()
    await stage.act(merge)
    pushed = stage.forge.push(PROJECT, stage.task(key).branch)
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert asked == [merge.head_sha, pushed]
    assert [run.head_sha for run in stage.runs(key, Role.REVIEWER)] == [merge.head_sha, pushed]


@pytest.mark.case("C164")
async def test_a_word_of_the_forge_that_nobody_knows_waits(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    stage.forge.thread(PROJECT, merge.pull).trouble[merge.head_sha] = "something_new"
    await stage.awake(1000)
    assert stage.count("merge_pull") == 0
    assert "the forge says 'something_new' about merging it" in stage.wait(key).words
    stage.forge.thread(PROJECT, merge.pull).trouble.clear()
    await stage.later(1000)
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C172")
@pytest.mark.parametrize("allowed", [False, True])
async def test_no_ci_at_all_is_said_on_the_pull_request_or_allowed_by_the_settings(tmp_path, allowed):
    stage = Stage(tmp_path, projects=with_merge(allow_without_ci=allowed))
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    if allowed:
        assert stage.task(key).status is Status.DONE
        return
    assert stage.count("merge_pull") == 0
    notes = stage.comments(replace(key, number=stage.number(key)))
    assert len(notes) == 1
    assert "no CI, or it has not started" in notes[0]


@pytest.mark.case("C183")
async def test_a_branch_that_the_forge_deleted_itself_is_no_error(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    assert isinstance(await stage.act(merge), Done)
    stage.forge.projects[PROJECT].branches.pop(stage.task(key).branch)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.events("action.refused", key) == []
    assert stage.count("delete_branch") == 0


@pytest.mark.case("C046")
@pytest.mark.case("C050")
async def test_a_push_that_fails_for_a_while_runs_no_agent_again_and_cools_nobody(tmp_path):
    stage = Stage(tmp_path)
    stage.workspace.fail("push", Unavailable("Could not resolve host: forge.example"), times=3)
    key = stage.file()
    for _ in range(5):
        await stage.later(60)
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert await stage.store.load_cooldowns() == ()
    assert stage.task(key).tried == ()
