"""Merging, and the checks that the engine runs itself."""

import asyncio
from dataclasses import replace

import pytest

from nightcrew.core.actions import Done, OutcomeOpen, Refused, RunChecks
from nightcrew.core.errors import Conflict, OutcomeUnknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMethod, MergeMode
from nightcrew.core.model.pull import CheckState, MergeAnswer, MergeRefused, Required, ReviewState
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import CheckCommand, ProjectSettings
from nightcrew.engine.act import UNKNOWN_PAUSE_S
from tests.engine.approved import in_review, with_merge
from tests.engine.part import PERSON, PROJECT, STRANGER
from tests.engine.stage import Stage

# Merging


async def test_a_hold_label_between_decision_and_act_keeps_it_from_merging(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    stage.forge.label(PROJECT, key.number, "HOLD")
    outcome = await stage.act(merge)
    assert isinstance(outcome, Refused)
    assert "HOLD" in outcome.why
    assert stage.count("merge_pull") == 0


@pytest.mark.parametrize("hand", ["closed", "status", "base", "draft", "objection", "remark", "red"])
async def test_what_a_person_does_between_decision_and_act_counts(tmp_path, hand):
    stage = Stage(tmp_path, projects=with_merge(hold_labels=()))
    key, merge = await in_review(stage)
    stage.ci()
    match hand:
        case "closed":
            stage.forge.set_open(PROJECT, key.number, is_open=False)
        case "status":
            stage.set_label(key, "status:blocked")
        case "base":
            stage.forge.push(PROJECT, "develop")
            stage.change_pull(key, base_ref="develop")
        case "draft":
            stage.change_pull(key, is_draft=True)
        case "objection":
            state = ReviewState.CHANGES_REQUESTED
            stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=state, sha=merge.head_sha)
        case "remark":
            stage.forge.remark(PROJECT, merge.pull, path="work-1.txt", line=1, body="wait", author=PERSON)
        case _:
            stage.forge.add_check(PROJECT, merge.head_sha, "build", CheckState.FAILURE)
    outcome = await stage.act(merge)
    assert isinstance(outcome, Refused)
    assert stage.count("merge_pull") == 0


async def test_a_strangers_review_neither_approves_nor_objects(tmp_path):
    stage = Stage(tmp_path, projects=with_merge(protected_paths=("**",)))
    key, merge = await in_review(stage)
    stage.ci()

    def say(author: str, state: ReviewState) -> None:
        stage.forge.add_review(PROJECT, merge.pull, author=author, state=state, sha=merge.head_sha)

    say(STRANGER, ReviewState.APPROVED)
    outcome = await stage.act(merge)
    assert isinstance(outcome, Refused)
    assert "protected files" in outcome.why
    say(STRANGER, ReviewState.CHANGES_REQUESTED)
    say(PERSON, ReviewState.APPROVED)
    assert isinstance(await stage.act(merge), Done)
    assert stage.pull(key).is_merged


class StubbornMerges:
    """The forge's merge call, answering what a test ordered first."""

    def __init__(self, stage: Stage, *answers: MergeAnswer) -> None:
        self.answers = list(answers)
        self.stage = stage
        stage.forge.instead["merge_pull"] = self.merge

    async def merge(self, plain, project, number, **named) -> MergeAnswer:
        if len(self.answers) == 1:
            del self.stage.forge.instead["merge_pull"]
        return self.answers.pop(0)


async def test_a_base_that_was_modified_is_tried_again(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    words = "Base branch was modified. Review and try the merge again."
    StubbornMerges(stage, MergeRefused(words, RefusalKind.RACE))
    stage.ci()
    await stage.later()
    assert stage.wait(key).code == "retrying"
    assert words in stage.wait(key).words
    merges = [effect for effect in await stage.store.load_effects() if effect.kind == "pull.merge"]
    assert [effect.state for effect in merges] == ["refused"]
    await stage.later(10)
    assert stage.task(key).status is Status.DONE


async def test_a_head_that_moved_at_the_forge_is_refused_and_reviewed_anew(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    StubbornMerges(stage, MergeRefused("Head branch was modified.", RefusalKind.HEAD_MOVED))
    stage.ci()
    outcome = await stage.act(merge)
    assert isinstance(outcome, Refused)
    assert stage.task(key).status is Status.IN_REVIEW


async def test_a_merge_without_an_answer_that_took_effect_is_found(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    stage.forge.fail("merge_pull", OutcomeUnknown("no answer"), after=True)
    outcome = await stage.act(merge)
    assert isinstance(outcome, OutcomeOpen)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.count("merge_pull") == 1
    assert stage.task(key).merge_sha == stage.pulls()[0].merge_commit_sha


async def test_a_merge_without_an_answer_that_took_no_effect_is_made_again(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    stage.forge.fail("merge_pull", OutcomeUnknown("no answer"))
    await stage.act(merge)
    await stage.settle()
    assert stage.count("merge_pull") == 1
    await stage.later(UNKNOWN_PAUSE_S)
    assert stage.task(key).status is Status.DONE
    assert stage.count("merge_pull") == 2


async def test_the_issue_is_not_closed_before_the_merge_is_on_the_fetched_base(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.ci()
    await stage.until(lambda: stage.task(key).merge_sha)
    merged = stage.merge_sha(key)
    project = stage.forge.projects[PROJECT]
    before = project.commits[merged].parents[0]
    project.branches["main"] = before
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    assert stage.issue(key).is_open
    assert "is not on main" in stage.wait(key).words
    project.branches["main"] = merged
    await stage.later(60)
    assert stage.task(key).status is Status.DONE
    assert not stage.issue(key).is_open


async def test_merge_ask_waits_for_a_word_for_this_very_head(tmp_path):
    stage = Stage(tmp_path, projects=with_merge(mode=MergeMode.ASK))
    key = stage.file()
    await stage.settle()
    assert stage.wait(key).code == "gate_shut"
    assert "nightcrew task approve" in stage.wait(key).words
    pull = stage.number(key)
    assert any("does not merge this yet" in body for body in stage.comments(replace(key, number=pull)))
    answer = await stage.facade.approve_task(key)
    assert answer.changed
    seen = stage.pull(key).head_sha
    stage.forge.push(PROJECT, stage.task(key).branch)
    with pytest.raises(Conflict, match="has another head by now"):  # whoever looked at the one before
        await stage.facade.approve_task(key, head=seen[:8])
    stage.observer.expire()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    assert stage.count("merge_pull") == 0
    await stage.facade.approve_task(key)
    assert not (await stage.facade.approve_task(key)).changed
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    notes = stage.comments(replace(key, number=pull))
    assert len(notes) == 1


async def test_the_merge_message_and_method(tmp_path):
    stage = Stage(tmp_path, projects=with_merge(method=MergeMethod.MERGE))
    key = stage.file("Turn it round")
    await stage.settle()
    commit = stage.forge.projects[PROJECT].commits[stage.merge_sha(key)]
    assert len(commit.parents) == 2
    assert commit.message.startswith(f"Turn it round (#{stage.pulls()[0].number})")
    for line in ("Nightcrew-Agent: ann", "Nightcrew-Reviewer: bob", f"Nightcrew-Head: {commit.parents[1]}"):
        assert line in commit.message.splitlines()


async def test_failed_checks_go_back_to_the_author_with_their_log(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    head = stage.pull(key).head_sha
    stage.forge.add_check(PROJECT, head, "build", CheckState.FAILURE, summary="2 tests failed: test_left")
    stage.auto_ci = True
    await stage.later()
    runs = stage.runs(key, Role.AUTHOR)
    assert len(runs) == 2
    prompt = (tmp_path / runs[1].folder / "prompt.md").read_text()
    assert "2 tests failed: test_left" in prompt
    assert stage.task(key).status is Status.DONE


async def test_what_the_branch_demands_is_waited_for(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(contexts=("lint",))
    key = stage.file()
    await stage.settle()
    assert "lint" in stage.wait(key).words
    stage.forge.add_check(PROJECT, stage.pull(key).head_sha, "lint", CheckState.SUCCESS)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_two_merges_into_one_base_go_one_after_the_other(tmp_path):
    stage = Stage(tmp_path)
    first, _ = await in_review(stage)
    stage.observer.expire()
    second, _ = await in_review(stage, title="another")
    stage.ci()
    stage.observer.expire()
    await stage.tick()
    assert [action.key.split(":")[0] for action in stage.loop.state.decision.actions].count("merge") == 1
    assert stage.wait(second).code == "merge_turn"
    await stage.settle()
    assert {stage.task(key).status for key in (first, second)} == {Status.DONE}


# Checks that the engine runs itself


def with_checks(*argv: tuple[str, ...], timeout_s: float = 60.0) -> tuple[ProjectSettings, ...]:
    checks = tuple(CheckCommand(f"check{place}", command, timeout_s) for place, command in enumerate(argv))
    return (ProjectSettings(PROJECT, checks=checks),)


async def test_own_checks_that_pass_open_the_gate(tmp_path):
    stage = Stage(tmp_path, projects=with_checks(("sh", "-c", "echo all is well"), ("true",)))
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    head = stage.pulls()[0].head_sha
    assert {name: check.state for name, check in stage.checks(head).items()} == {
        "nightcrew/check0": CheckState.SUCCESS,
        "nightcrew/check1": CheckState.SUCCESS,
        "nightcrew/review": CheckState.SUCCESS,
    }
    logs = list((tmp_path / "checks").rglob("check0*.log"))
    assert [log.read_text() for log in logs] == ["all is well\n"]
    assert logs[0].stat().st_mode & 0o777 == 0o600
    assert stage.workspace.repository(PROJECT).checkouts == {}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("sh", "-c", "echo it broke; exit 3"), "exit code 3"),
        (("no-such-program-anywhere",), "no-such-program-anywhere"),
    ],
)
async def test_own_checks_that_fail_go_back_to_the_author_with_their_log(tmp_path, argv, words):
    stage = Stage(tmp_path, projects=with_checks(argv))
    stage.auto_ci = False
    key = stage.file()
    await stage.until(lambda: len(stage.runs(key, Role.AUTHOR)) == 2 and len(stage.runtime.started) >= 3)
    prompt = (tmp_path / stage.runs(key, Role.AUTHOR)[1].folder / "prompt.md").read_text()
    assert "nightcrew/check0" in prompt
    assert words in prompt
    if argv[0] == "sh":
        assert "it broke" in prompt


async def test_an_own_check_that_does_not_end_fails(tmp_path):
    stage = Stage(tmp_path, projects=with_checks(("sh", "-c", "echo begun; exec sleep 60"), timeout_s=0.2))
    stage.auto_ci = False
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).pull is not None)
    await stage.tick()
    state = stage.checks(stage.pull(key).head_sha)["nightcrew/check0"]
    assert state.state is CheckState.FAILURE
    assert "did not end" in state.summary


async def test_own_checks_do_not_wait_for_a_base_that_moved_since_the_last_fetch(tmp_path):
    stage = Stage(tmp_path, projects=with_checks(("true",)))
    stage.auto_ci = False
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).pull is not None)
    pull, moved = stage.pull(key), stage.forge.push(PROJECT, "main")
    assert (
        await stage.act(RunChecks(key, pull.number, pull.head_sha, moved, ("check0",), "the base has moved")) == Done()
    )
    check = stage.checks(pull.head_sha)["nightcrew/check0"]
    assert check.state is CheckState.SUCCESS
    assert moved[:10] in check.summary


async def test_own_checks_of_a_pull_request_that_conflicts_fail(tmp_path):
    stage = Stage(tmp_path, projects=with_checks(("true",)))
    stage.auto_ci = False
    key = stage.file()
    await stage.settle(play=False)
    stage.workspace.publish(PROJECT, {"work-1.txt": "something else"})
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).pull is not None)
    await stage.tick()
    check = stage.checks(stage.pull(key).head_sha)["nightcrew/check0"]
    assert check.state is CheckState.FAILURE
    assert "conflicts with main" in check.summary


async def test_a_merge_action_asked_for_twice_at_once_merges_once(tmp_path):
    stage = Stage(tmp_path)
    _, merge = await in_review(stage)
    stage.ci()
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(stage.act(merge)) for _ in range(5)]
    outcomes = [task.result() for task in asked]
    assert isinstance(outcomes[0], Done)
    assert stage.count("merge_pull") == 1
