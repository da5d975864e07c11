"""What must be true of every merge, as far as effects keep it; the rest is in tests/core/test_invariants.py."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import Done, Refused
from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.ids import Sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import CheckState, MergeRefused
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.run import Role
from nightcrew.core.policy.refusing import MOST_TRIES, PAUSES_S
from nightcrew.core.render import MARK
from tests.engine.approved import in_review
from tests.engine.part import PROJECT
from tests.engine.stage import Stage


async def test_m2_the_merge_call_is_pinned_to_the_head_that_was_decided_on(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    pinned: list[Sha] = []

    async def note(plain, project, number, **named):
        pinned.append(named["sha"])
        return await plain(project, number, **named)

    stage.forge.instead["merge_pull"] = note
    assert isinstance(await stage.act(replace(merge, head_sha=Sha("d" * 40))), Refused)
    assert pinned == []
    assert isinstance(await stage.act(merge), Done)
    assert pinned == [merge.head_sha]
    assert stage.pull(key).is_merged


async def test_m7_the_intent_stands_before_the_call_and_a_lost_answer_is_never_repeated_blindly(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.ci()
    calls: list[list[str]] = []

    async def lose(plain, project, number, **named):
        effects = await stage.store.load_effects(open_only=True)
        calls.append([effect.kind for effect in effects])
        await plain(project, number, **named)
        raise OutcomeUnknown("no answer")

    stage.forge.instead["merge_pull"] = lose
    await stage.later()
    assert calls == [["pull.merge"]], "one call, and its intent was written before it"
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C170")
async def test_m4_a_head_that_ci_has_not_said_a_word_about_is_not_green(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    await stage.awake(300)
    assert stage.count("merge_pull") == 0
    assert "it has not started" in stage.wait(key).words
    stage.forge.add_check(PROJECT, merge.head_sha, "build", CheckState.PENDING)
    await stage.awake(100)
    assert "not finished" in stage.wait(key).words
    stage.forge.add_check(PROJECT, merge.head_sha, "build", CheckState.FAILURE)
    await stage.later(play=False)
    assert stage.count("merge_pull") == 0
    assert len(stage.runs(key, Role.AUTHOR)) == 2


REFUSALS = {
    "a branch that changed meanwhile": MergeRefused("Base branch was modified.", RefusalKind.RACE),
    "a rule that wants a person": MergeRefused(
        "At least 1 approving review is required by reviewers.", RefusalKind.REVIEW
    ),
    "a method that is off": MergeRefused("Merge commits are not allowed on this repository.", RefusalKind.METHOD),
    "a queue": MergeRefused("Changes must be made through the merge queue", RefusalKind.QUEUE),
    "a conflict": MergeRefused("Pull Request is not mergeable", RefusalKind.CONFLICT),
    "a moved head": MergeRefused("Head branch was modified. Review and try the merge again.", RefusalKind.HEAD_MOVED),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_m8_a_refusal_is_said_once_and_tried_again_a_bounded_number_of_times(tmp_path, name):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    count = 0

    async def refuse(plain, project, number, **named):
        nonlocal count
        count += 1
        return REFUSALS[name]

    stage.forge.instead["merge_pull"] = refuse
    await stage.later()
    assert REFUSALS[name].why.rstrip(".") in stage.wait(key).words
    await stage.awake(14 * 3600)
    passes, people = REFUSALS[name].kind.passes, REFUSALS[name].kind.is_for_people
    assert count == (MOST_TRIES if passes else len(PAUSES_S) + 1)
    assert stage.task(key).status is (Status.IN_REVIEW if people else Status.BLOCKED)
    if not people:
        assert stage.block(key).code == "merge_refused"
        assert REFUSALS[name].why.rstrip(".") in stage.block(key).words
    assert len(stage.runs(key, Role.AUTHOR)) == 1, "no agent can mend that"
    notes = [body for body in stage.comments(replace(key, number=merge.pull)) if MARK in body]
    assert len(notes) <= 1, "one note, edited in place"
    assert stage.issue(key).is_open
    del stage.forge.instead["merge_pull"]
    stage.forge.add_check(PROJECT, merge.head_sha, "again", CheckState.SUCCESS)
    if passes:
        await stage.facade.unblock_task(key)
    await stage.later()
    assert stage.task(key).status is Status.DONE, "once what is seen has changed, or a person says so"


async def test_m9_nothing_is_closed_or_removed_before_the_merge_is_on_the_fetched_base(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.ci()
    await stage.until(lambda: stage.task(key).merge_sha)
    merged, project = stage.merge_sha(key), stage.forge.projects[PROJECT]
    project.branches["main"] = project.commits[merged].parents[0]
    await stage.settle()
    assert stage.issue(key).is_open
    assert stage.task(key).branch in project.branches
    assert key.number in stage.workspace.repository(PROJECT).trees
    project.branches["main"] = merged
    await stage.later(60)
    assert not stage.issue(key).is_open
    assert key.number not in stage.workspace.repository(PROJECT).trees
