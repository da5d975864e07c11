"""What people say on a pull request reaches its author once, and is on record; deadlines run without new events."""

from nightcrew.core.errors import Denied
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.model.reaction import ReactionAction, ReactionRule, ReactionSettings
from nightcrew.core.model.report import ThreadAnswer
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings
from tests.engine.approved import in_review
from tests.engine.part import PERSON, PROJECT, STRANGER, done
from tests.engine.stage import Stage

ASKS = ReviewState.CHANGES_REQUESTED


async def test_a_persons_request_reaches_the_same_author_once_and_holds_the_merge_until_they_approve(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ASKS, sha=merge.head_sha, body="turn slower")
    stage.forge.remark(PROJECT, merge.pull, path="work-1.txt", line=1, body="this line", author=PERSON)
    stage.forge.remark(PROJECT, merge.pull, path="work-1.txt", line=1, body="a stranger's", author=STRANGER)
    stage.forge.comment(PROJECT, merge.pull, body="and mind the docs", author=PERSON)
    await stage.later()
    first, second = stage.runs(key, Role.AUTHOR)
    assert first.agent == second.agent
    assert stage.pull(key).number == merge.pull
    prompt = stage.agents[second.agent].jobs[-1].prompt
    for words in ("asks for changes: turn slower", "this line", "and mind the docs"):
        assert words in prompt
    assert "a stranger's" not in prompt
    given = {thing for task, thing, run in stage.store.deliveries if run == second.id}
    assert {thing.split(":")[0] for thing in given} == {
        "brief", "review", "remark", "given", "answered",
    }  # fmt: skip
    assert stage.task(key).status is Status.IN_REVIEW
    stage.ci()
    await stage.later()
    assert len(stage.runs(key, Role.AUTHOR)) == 2
    assert "asked for changes" in stage.wait(key).words
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ReviewState.APPROVED, sha=stage.pull(key).head_sha)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_bots_request_reaches_the_author_where_bots_count_and_does_not_hold_the_merge(tmp_path):
    rules = ReactionSettings(review_comments=ReactionRule(retries=5, bots=True))
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, merge = await in_review(stage)
    stage.forge.add_review(
        PROJECT, merge.pull, author="lint[bot]", state=ASKS, sha=merge.head_sha, body="line too long", is_bot=True
    )
    await stage.later()
    _, second = stage.runs(key, Role.AUTHOR)
    assert "line too long" in stage.agents[second.agent].jobs[-1].prompt
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 2


async def test_threads_are_answered_resolved_where_fixed_and_the_reviewer_is_asked_again(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ASKS, sha=merge.head_sha)
    one, two = (
        stage.forge.remark(PROJECT, merge.pull, path="work-1.txt", line=1, body=text, author=PERSON)
        for text in ("off by one", "why?")
    )
    answers = (ThreadAnswer(one.id, "By one less.", is_fixed=True), ThreadAnswer(two.id, "<!-- x -->@olga It is so."))
    author = stage.runs(key, Role.AUTHOR)[0].agent
    stage.order(author, done(answers=answers))
    await stage.later()
    thread = stage.forge.thread(PROJECT, merge.pull)
    first, second = await stage.forge.list_threads(PROJECT, merge.pull)
    assert [len(first.remarks), len(second.remarks)] == [2, 2]
    assert "By one less." in first.remarks[-1].body
    assert [first.is_resolved, second.is_resolved] == [True, False]
    assert thread.requested == {PERSON}
    assert len(stage.events("feedback.answered", key)) == 1
    stage.ci()
    await stage.later()
    assert len(stage.runs(key, Role.AUTHOR)) == 2, "our own answers are no feedback"
    stage.forge.remark(PROJECT, merge.pull, path="work-1.txt", line=2, body="one thing more", author=PERSON)
    await stage.later()
    prompt = stage.agents[author].jobs[-1].prompt
    assert "one thing more" in prompt
    assert "off by one" not in prompt, "that thread is resolved"
    assert len(stage.runs(key, Role.AUTHOR)) == 3


async def test_a_forge_without_threads_holds_nothing_up(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.forge.remark(PROJECT, merge.pull, path="work-1.txt", line=1, body="why?", author=PERSON)
    for _ in range(2):
        stage.forge.fail("list_threads", Denied("this forge has no GraphQL"))
    await stage.later()
    (why,) = stage.events("feedback.answered", key)
    assert "could not be answered" in why
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_person_is_told_once_when_it_is_unresolved_for_long(tmp_path):
    rules = ReactionSettings(changes_requested=ReactionRule(retries=5, escalate_after_s=600))
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, merge = await in_review(stage)
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ASKS, sha=merge.head_sha)
    await stage.later()
    stage.ci()
    await stage.later()

    def told() -> list[str]:
        return [one.body for one in stage.forge.thread(PROJECT, merge.pull).comments if "needs a person" in one.body]

    assert told() == []
    await stage.later(700)
    assert len(told()) == 1
    await stage.restart()
    await stage.later(4000)
    assert len(told()) == 1
    assert stage.task(key).status is Status.IN_REVIEW
    assert len(stage.runs(key, Role.AUTHOR)) == 2


async def test_where_a_person_is_only_told_nothing_is_sent(tmp_path):
    rules = ReactionSettings(changes_requested=ReactionRule(ReactionAction.NOTIFY))
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, merge = await in_review(stage)
    stage.ci()
    stage.forge.add_review(PROJECT, merge.pull, author=PERSON, state=ASKS, sha=merge.head_sha)
    await stage.later()
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert stage.events("reaction.told", key)
    assert stage.task(key).status is Status.IN_REVIEW
