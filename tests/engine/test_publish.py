"""Publishing, verdicts and merging: what reaches the forge, once, and what stands in its way."""

import pytest

from nightcrew.core.actions import PostVerdict, Refused
from nightcrew.core.errors import Denied, OutcomeUnknown, Unavailable
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import CheckState, ReviewState
from nightcrew.core.model.reaction import ReactionAction, ReactionRule, ReactionSettings
from nightcrew.core.model.report import Finding
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.ports.scm import NewPull
from tests.engine.approved import in_review
from tests.engine.part import PERSON, PROJECT, outcome_of, wants_changes
from tests.engine.stage import Stage

# Publishing


async def test_a_branch_that_somebody_else_moved_is_not_forced(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    theirs = stage.forge.push(PROJECT, stage.task(key).branch)
    await stage.settle()
    task = stage.task(key)
    assert task.status is Status.BLOCKED
    assert stage.block(key).code == "push_refused"
    assert task.branch in stage.block(key).words
    assert stage.forge.projects[PROJECT].branches[task.branch] == theirs
    assert stage.statuses(key) == ("status:blocked",)


async def test_a_push_that_is_denied_says_so(tmp_path):
    stage = Stage(tmp_path)
    stage.workspace.fail("push", Denied("the token may not push"))
    key = stage.file()
    await stage.settle()
    assert stage.block(key).code == "push_refused"
    assert "the token may not push" in stage.comments(key)[0]


@pytest.mark.parametrize("fault", [Unavailable("502"), OutcomeUnknown("no answer")])
@pytest.mark.parametrize("after", [False, True])
async def test_a_push_without_an_answer_is_looked_for(tmp_path, fault, after):
    stage = Stage(tmp_path)
    stage.workspace.fail("push", fault, after=after)
    key = stage.file()
    await stage.settle()
    await stage.later(60)
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 1


@pytest.mark.case("C028")
async def test_a_pull_request_made_without_an_answer_is_adopted(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.fail("create_pull", OutcomeUnknown("502"), after=True)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 1
    assert stage.count("create_pull") == 1
    assert stage.task(key).tried == ()


async def test_a_pull_request_that_was_not_made_is_made_later(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.fail("create_pull", OutcomeUnknown("502"))
    key = stage.file()
    await stage.settle()
    assert stage.events("action.unknown", key)
    await stage.later(60)
    assert stage.task(key).status is Status.DONE
    assert len(stage.pulls()) == 1


async def test_a_pull_request_that_is_there_is_adopted_as_it_is(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.play()
    await stage.tick()
    run = stage.runs(key)[0]
    remote = await stage.forge.fetch_remote(PROJECT)
    branch, head = stage.task(key).branch, outcome_of(run).head_sha
    assert head is not None
    await stage.workspace.push(PROJECT, remote, branch=branch, sha=head, expected=None)
    theirs = await stage.forge.create_pull(PROJECT, NewPull("By hand", "mine", branch, "main"))
    await stage.settle()
    assert [pull.number for pull in stage.pulls()] == [theirs.number]
    assert stage.pulls()[0].body == "mine"
    assert stage.task(key).status is Status.DONE


async def test_the_base_of_the_first_attempt_is_kept(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, base_ref="develop"),))
    stage.forge.push(PROJECT, "develop")
    key = stage.file()
    await stage.settle()
    assert stage.pulls()[0].base_ref == stage.task(key).base_ref == "develop"
    assert stage.task(key).status is Status.DONE


# Verdicts


async def test_a_verdict_is_posted_as_review_with_findings_and_status(tmp_path):
    stage = Stage(tmp_path)
    stage.order("bob", wants_changes("wrong sign, @team", Finding("work-1.txt", 1, "fixes #3")), role=Role.REVIEWER)
    key = stage.file()
    await stage.until(lambda: any(verdict.posted for verdict in stage.store.verdicts.values()))
    verdict = next(iter(stage.store.verdicts.values()))
    thread = stage.forge.thread(PROJECT, stage.number(key))
    assert len(thread.reviews) == 1
    assert thread.reviews[0].body.startswith(f"<!-- nightcrew:verdict {verdict.run} -->")
    assert "@team" not in thread.reviews[0].body
    assert "fixes #3" not in thread.findings[0].text
    assert stage.checks(verdict.head_sha)["nightcrew/review"].state is CheckState.FAILURE


@pytest.mark.parametrize("method", ["post_review", "post_status"])
@pytest.mark.parametrize("after", [True, False])
async def test_a_verdict_whose_answer_was_lost_is_posted_once(tmp_path, method, after):
    stage = Stage(tmp_path)
    stage.forge.fail(method, OutcomeUnknown("no answer"), after=after)
    key = stage.file()
    await stage.settle()
    await stage.later(60)
    assert stage.task(key).status is Status.DONE
    reviews = stage.forge.thread(PROJECT, stage.pulls()[0].number).reviews
    assert len(reviews) == 1
    assert list(stage.store.review_ids.values()) == [reviews[0].id]


@pytest.mark.case("C158")
async def test_own_reviews_are_known_by_id_even_where_the_account_is_the_persons(tmp_path):
    unsent = ReactionSettings(changes_requested=ReactionRule(ReactionAction.NOTHING))
    stage = Stage(tmp_path, login=PERSON, projects=(ProjectSettings(PROJECT, reactions=unsent),))
    key, merge = await in_review(stage)
    pull = stage.pull(key)
    own = stage.forge.thread(PROJECT, pull.number).reviews[0]
    assert own.author == PERSON
    assert stage.pull_view(await stage.look(), key).reviews == Known(())
    # The person objects with the very same account, and that counts.
    stage.forge.add_review(PROJECT, pull.number, author=PERSON, state=ReviewState.CHANGES_REQUESTED, sha=pull.head_sha)
    stage.ci()
    await stage.later()
    assert stage.wait(key).code == "gate_shut"
    assert f"{PERSON} asked for changes" in stage.wait(key).words
    assert isinstance(await stage.act(merge), Refused)
    assert stage.count("merge_pull") == 0
    stage.forge.add_review(PROJECT, pull.number, author=PERSON, state=ReviewState.DISMISSED, sha=pull.head_sha)
    await stage.later()
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C159")
async def test_a_push_after_the_review_voids_it(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    reviewed = stage.pull(key).head_sha
    stage.forge.push(PROJECT, stage.task(key).branch, paths=("more.txt",))
    stage.ci()
    outcome = await stage.act(merge)
    assert isinstance(outcome, Refused)
    assert "head" in outcome.why
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.REVIEWER)) == 2
    assert stage.runs(key, Role.REVIEWER)[1].head_sha == stage.pulls()[0].head_sha != reviewed


async def test_a_push_during_the_review_ends_the_review(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: any("-reviewer-" in name for name in stage.runtime.sessions))
    # The reviewer is at work.
    stage.forge.push(PROJECT, stage.task(key).branch, paths=("more.txt",))
    stage.observer.expire()
    await stage.tick()
    await stage.settle()
    reviews = stage.runs(key, Role.REVIEWER)
    assert len(reviews) == 2
    assert stage.pulls()[0].head_sha == reviews[1].head_sha
    assert stage.task(key).status is Status.DONE


async def test_a_verdict_for_a_head_that_moved_is_not_posted(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.store.verdicts)
    verdict = next(iter(stage.store.verdicts.values()))
    stage.forge.push(PROJECT, stage.task(key).branch)
    post = PostVerdict(key, verdict.run, stage.number(key), verdict.head_sha, "not posted yet")
    outcome = await stage.act(post)
    assert isinstance(outcome, Refused)
    assert "void" in outcome.why
    assert stage.count("post_review") == 0
