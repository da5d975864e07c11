"""What keeps a pull request from being merged and is no agent's to mend: said in words, tried few times, and over by
itself."""

from dataclasses import replace

import pytest

from nightcrew.core.errors import Denied
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMethod, MergeSettings
from nightcrew.core.model.pull import CheckState, Required, ReviewState
from nightcrew.core.model.run import Role
from nightcrew.core.render import MARK
from tests.engine.approved import in_review, with_merge
from tests.engine.part import PERSON, PROJECT
from tests.engine.stage import Stage

ONLY_REBASE = frozenset({MergeMethod.REBASE})


def allow(stage: Stage, methods: frozenset[MergeMethod]) -> None:
    project = stage.forge.projects[PROJECT]
    project.repository = replace(project.repository, merge_methods=methods)


def notes(stage: Stage, key) -> list[str]:
    return [body for body in stage.comments(replace(key, number=stage.number(key))) if MARK in body]


async def test_a_method_that_the_repository_does_not_allow_is_said_before_it_is_tried(tmp_path):
    stage = Stage(tmp_path)
    allow(stage, ONLY_REBASE)
    key = stage.file()
    await stage.settle()
    assert stage.count("merge_pull") == 0
    assert "merge.method is squash, and main allows only rebase" in stage.wait(key).words
    assert ["allows only rebase" in note for note in notes(stage, key)] == [True]


async def test_one_of_the_rules_does_not_count_for_less(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(methods=frozenset({MergeMethod.MERGE}))
    key = stage.file()
    await stage.settle()
    assert stage.count("merge_pull") == 0
    assert "main allows only merge" in stage.wait(key).words


async def test_the_settings_may_fall_back_on_another(tmp_path):
    stage = Stage(tmp_path, projects=with_merge(fallback=(MergeMethod.MERGE, MergeMethod.REBASE)))
    allow(stage, ONLY_REBASE)
    asked = []

    async def note(plain, project, number, **named):
        asked.append(named["method"])
        return await plain(project, number, **named)

    stage.forge.instead["merge_pull"] = note
    key = stage.file()
    await stage.settle()
    assert asked == [MergeMethod.REBASE]
    assert stage.task(key).status is Status.DONE


async def test_a_method_switched_off_meanwhile_is_read_again(tmp_path):
    stage = Stage(tmp_path, projects=with_merge(fallback=(MergeMethod.REBASE,)))
    key, _ = await in_review(stage)
    allow(stage, ONLY_REBASE)
    stage.ci()
    await stage.later()
    assert stage.events("merge.refused", key) == ["Squash merges are not allowed on this repository."]
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.count("merge_pull") == 2


@pytest.mark.case("C181")
async def test_a_rule_that_wants_a_person_is_waited_for_with_one_comment_and_no_agent(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(approvals=1)
    key, merge = await in_review(stage)
    stage.ci()
    await stage.awake(6 * 3600)
    assert stage.count("merge_pull") == 0
    assert len(stage.runs(key)) == 2
    assert ["approving review" in note for note in notes(stage, key)] == [True]
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ReviewState.APPROVED, sha=merge.head_sha)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_an_approval_that_a_push_dismissed_is_said_and_asked_for_anew(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(approvals=1)
    key, merge = await in_review(stage)
    stage.ci()
    thread = stage.forge.thread(PROJECT, merge.pull)
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ReviewState.APPROVED, sha=merge.head_sha)
    stage.forge.push(PROJECT, stage.task(key).branch)
    thread.reviews[:] = [
        replace(one, state=ReviewState.DISMISSED) if one.author == PERSON else one for one in thread.reviews
    ]
    stage.auto_ci = True
    await stage.later()
    assert stage.count("merge_pull") == 0
    assert f"that of {PERSON} was for an earlier head, or was dismissed" in stage.wait(key).words
    head = stage.pull(key).head_sha
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ReviewState.APPROVED, sha=head)
    await stage.later()
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C180")
async def test_a_draft_waits_with_one_comment_and_without_a_merge_call(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.ci()
    stage.change_pull(key, is_draft=True)
    await stage.awake(3600)
    assert stage.count("merge_pull") == 0
    assert ["it is a draft" in note for note in notes(stage, key)] == [True]
    assert len(stage.runs(key)) == 2
    stage.change_pull(key, is_draft=False)
    await stage.later()
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize("act", [False, True])
async def test_rights_that_the_account_lacks_are_said_and_not_asked_for_again_and_again(tmp_path, act):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.ci()
    stage.forge.fail("merge_pull", Denied("Resource not accessible by integration"), times=99)
    await stage.awake(12 * 3600)
    assert stage.count("merge_pull") == 4
    assert stage.block(key).code == "merge_refused"
    assert "right to merge" in stage.block(key).words
    if act:
        stage.forge._faults.clear()
        await stage.facade.unblock_task(key)
        await stage.settle()
        assert stage.task(key).status is Status.DONE


async def test_the_number_of_tries_outlives_the_service(tmp_path):
    stage = Stage(tmp_path)
    await in_review(stage)
    stage.forge.fail("merge_pull", Denied("no"), times=99)
    stage.ci()
    await stage.later()
    before = stage.count("merge_pull")
    for _ in range(5):
        await stage.restart()
        await stage.settle()
    assert stage.count("merge_pull") == before == 1


async def test_a_default_branch_that_was_renamed_is_followed(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    project = stage.forge.projects[PROJECT]
    project.branches["trunk"] = project.branches.pop("main")
    project.repository = replace(project.repository, default_branch="trunk")
    stage.change_pull(key, base_ref="trunk")
    stage.auto_ci = True
    await stage.later(3700)
    await stage.later()
    assert stage.task(key).base_ref == "trunk"
    assert stage.task(key).status is Status.DONE
    assert stage.events("base.followed", key)
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert project.commits[stage.merge_sha(key)].parents == (project.commits[merge.head_sha].parents[0],)


async def test_a_branch_that_is_deleted_and_restored_goes_on(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    project, branch = stage.forge.projects[PROJECT], stage.task(key).branch
    await stage.forge.delete_branch(PROJECT, branch)
    await stage.later()
    assert stage.block(key).code == "pull_closed"
    assert f"its branch {branch} is deleted" in stage.block(key).words
    project.branches[branch] = merge.head_sha
    stage.forge.set_open(PROJECT, merge.pull, is_open=True)
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1


# Checks that do not end, and a base that is red


@pytest.mark.case("C168")
async def test_checks_that_pend_for_ever_come_to_one_clear_change(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    limit_s = MergeSettings().checks_limit_s
    stage.forge.add_check(PROJECT, merge.head_sha, "build", CheckState.PENDING)
    stage.observer.expire()
    await stage.awake(limit_s / 2)
    await stage.restart()
    await stage.awake(limit_s / 2 - 200)
    assert stage.task(key).status is Status.IN_REVIEW
    await stage.awake(400)
    assert stage.block(key).code == "ci_pending"
    moves = stage.moves(key)
    await stage.awake(2 * limit_s)
    assert stage.moves(key) == moves
    assert stage.moves(key).count("blocked") == 1
    stage.forge.add_check(PROJECT, merge.head_sha, "build", CheckState.SUCCESS)
    await stage.later(1000)
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C184")
async def test_a_red_base_is_no_agents_work(tmp_path):
    stage = Stage(tmp_path)
    keys = []
    for title in ("one", "two", "three"):
        key, _ = await in_review(stage, title=title)
        keys.append(key)
        stage.observer.expire()
    project = stage.forge.projects[PROJECT]
    stage.forge.add_check(PROJECT, project.branches["main"], "build", CheckState.FAILURE)
    for key in keys:
        stage.forge.add_check(PROJECT, stage.pull(key).head_sha, "build", CheckState.FAILURE)
    await stage.awake(4 * 3600)
    for key in keys:
        assert stage.task(key).status is Status.IN_REVIEW
        assert len(stage.runs(key, Role.AUTHOR)) == 1
        assert "build fails on main itself as well" in stage.wait(key).words
        assert len(notes(stage, key)) == 1
    assert len(stage.events("base.red")) == 1
    shown = (await stage.facade.status()).problems
    assert [text for text in shown if "main is red by itself" in text] == list(shown)
    # A tool is repaired by a push to the base, which is green then.
    stage.workspace.publish(PROJECT, {"tool.txt": "new"})
    stage.forge.add_check(PROJECT, project.branches["main"], "build", CheckState.SUCCESS)
    stage.auto_ci = True
    await stage.later()
    await stage.later()
    assert {stage.task(key).status for key in keys} == {Status.DONE}
    assert all(len(stage.runs(key, Role.AUTHOR)) == 1 for key in keys)
    assert len(stage.events("base.green")) == 1
    assert (await stage.facade.status()).problems == ()
