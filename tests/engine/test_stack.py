"""Tasks that stand on others: they begin at the other's branch, follow its merge, and never come before it."""

import pytest

from nightcrew.core.errors import Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMethod, MergeSettings
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.task import Stack
from tests.engine.part import PERSON, PROJECT, STRANGER, Killed
from tests.engine.stage import Stage


async def stacked(
    tmp_path, *, method: MergeMethod = MergeMethod.SQUASH, **stage_fields
) -> tuple[Stage, TaskKey, TaskKey]:
    """A task held at its merge, and another whose pull request stands on it and is approved."""
    settings = ProjectSettings(PROJECT, merge=MergeSettings(method=method))
    stage = Stage(tmp_path, projects=(settings,), **stage_fields)
    below = stage.file("Below", labels=("nightcrew", "hold"))
    await stage.settle()
    above = stage.file("Above", body=f"Stack on #{below.number}, please.")
    await stage.later()
    assert stage.task(above).status is Status.IN_REVIEW
    return stage, below, above


async def test_it_begins_at_the_others_branch_and_goes_there(tmp_path):
    stage, below, above = await stacked(tmp_path)
    task, pull = stage.task(above), stage.pull(above)
    assert task.stack == Stack(stage.number(below), stage.task(below).branch)
    assert pull.base_ref == task.base_ref == stage.task(below).branch
    assert task.started_from == stage.pull(below).head_sha
    assert stage.wait(above).code == "gate_waits"
    assert stage.wait(above).words == f"it stands on pull request #{stage.number(below)}, which is merged first"
    assert stage.count("merge_pull") == 0


@pytest.mark.parametrize("method", [MergeMethod.SQUASH, MergeMethod.MERGE])
async def test_it_follows_the_merge_and_is_not_reviewed_again_if_it_is_the_same_change(tmp_path, method):
    stage, below, above = await stacked(tmp_path, method=method)
    stage.forge.unlabel(PROJECT, below.number, "hold")
    await stage.later()
    await stage.later()
    assert stage.task(below).status is stage.task(above).status is Status.DONE
    assert (stage.task(above).base_ref, stage.task(above).stack) == ("main", None)
    assert stage.pulls()[-1].base_ref == "main"
    assert len(stage.runs(above, Role.REVIEWER)) == 1
    assert stage.events("verdict.carried", above)


async def test_it_is_reviewed_again_if_it_is_another_change(tmp_path):
    stage, below, above = await stacked(tmp_path)
    stage.workspace.patch_ids[stage.pull(above).head_sha] = "another one"
    stage.forge.unlabel(PROJECT, below.number, "hold")
    await stage.later()
    await stage.later()
    assert stage.task(above).status is Status.DONE
    assert len(stage.runs(above, Role.REVIEWER)) == 2
    assert not stage.events("verdict.carried", above)


async def test_it_waits_for_a_pull_request_to_stand_on(tmp_path):
    stage = Stage(tmp_path)
    below = stage.file("Below", labels=("nightcrew", "no-agent", "hold"))
    above = stage.file("Above", labels=("nightcrew", f"stack:{below.number}"))
    await stage.settle()
    assert stage.wait(above).code == "depends"
    assert "to have a pull request to stand on" in stage.wait(above).words
    stage.forge.unlabel(PROJECT, below.number, "no-agent")
    await stage.later()
    await stage.later()
    assert stage.task(above).base_ref == stage.task(below).branch


async def test_it_may_name_the_pull_request(tmp_path):
    stage = Stage(tmp_path)
    below = stage.file("Below", labels=("nightcrew", "hold"))
    await stage.settle()
    above = stage.file("Above", body=f"stacked on #{stage.number(below)}")
    await stage.later()
    assert stage.task(above).base_ref == stage.task(below).branch


async def test_words_of_strangers_stack_nothing(tmp_path):
    stage = Stage(tmp_path)
    below = stage.file("Below", labels=("nightcrew", "hold"))
    await stage.settle()
    above = stage.file("Above")
    stage.forge.comment(PROJECT, above.number, body=f"stack on #{below.number}", author=STRANGER)
    await stage.later()
    await stage.later()
    assert stage.task(above).status is Status.DONE


async def test_once_the_other_is_merged_it_begins_at_the_base(tmp_path):
    stage = Stage(tmp_path)
    below = stage.file("Below")
    await stage.settle()
    above = stage.file("Above", body=f"stack on #{below.number}")
    await stage.later()
    assert (stage.task(above).status, stage.task(above).base_ref) == (Status.DONE, "main")


async def test_the_other_is_merged_while_the_author_is_at_work(tmp_path):
    stage = Stage(tmp_path)
    below = stage.file("Below", labels=("nightcrew", "hold"))
    await stage.settle()
    above = stage.file("Above", body=f"stack on #{below.number}")
    await stage.later(play=False)
    assert stage.task(above).status is Status.IN_PROGRESS
    stage.forge.unlabel(PROJECT, below.number, "hold")
    await stage.later(play=False)
    assert stage.task(below).status is Status.DONE
    await stage.later()
    await stage.later()
    assert (stage.task(above).status, stage.task(above).base_ref) == (Status.DONE, "main")
    assert stage.pulls()[-1].base_ref == "main"


async def test_the_other_is_closed_and_a_person_sends_it_elsewhere(tmp_path):
    stage, below, above = await stacked(tmp_path, agents=("ann", "bob", "cat"))
    stage.forge.set_open(PROJECT, stage.number(below), is_open=False)
    await stage.later()
    assert stage.block(above).code == "parent_closed"
    await stage.forge.set_pull_base(PROJECT, stage.number(above), base_ref="main")
    stage.clock.advance(2)
    stage.forge.comment(PROJECT, above.number, body="/unblock", author=PERSON)
    await stage.later()
    await stage.later()
    assert (stage.task(above).status, stage.task(above).stack) == (Status.DONE, None)


async def test_the_one_below_cannot_be_read(tmp_path):
    stage, below, above = await stacked(tmp_path)
    plain = stage.forge.fetch_pull

    async def broken(project, number):
        if number == stage.number(below):
            raise Unavailable("a bad gateway")
        return await plain(project, number)

    stage.forge.fetch_pull = broken  # type: ignore[method-assign]  # a fault of one pull request alone
    await stage.later()
    assert stage.wait(above).code == "parent_unknown"


async def test_a_crash_anywhere_while_it_follows(tmp_path):
    """Wherever it dies between the merge below and its own, the end is the same, and nothing is done twice."""
    place = 0
    while True:
        place += 3
        folder = tmp_path / str(place)
        folder.mkdir()
        stage, below, above = await stacked(folder)
        stage.forge.unlabel(PROJECT, below.number, "hold")
        stage.points.names.clear()
        stage.points.die_at = place
        try:
            await stage.later()
            await stage.later()
        except Killed:
            await stage.restart()
            await stage.later()
            await stage.later()
            await stage.later()
        else:
            break
        assert stage.task(above).status is Status.DONE, stage.points.names
        assert len(stage.runs(above, Role.REVIEWER)) <= 2
        assert stage.pulls()[-1].base_ref == "main"
    assert place > 20
