"""What a person says to a task's agent is the next turn of the agent's own session, is proven, and is told."""

from datetime import timedelta

import pytest

from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.delegation import Delegation
from nightcrew.core.model.pin import TaskKind
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import InterruptionKind, Role, Run, StopCause
from nightcrew.core.model.saying import LONGEST, Saying, SayingState
from nightcrew.core.policy.saying import MOST_WAITING
from nightcrew.ports.agent import Reading
from nightcrew.ports.service import Word
from tests.engine.part import PERSON, PROJECT, STRANGER, done, fails, interruption_of, says
from tests.engine.stage import Stage, plain_edit


def stage_of(home, **named) -> Stage:
    """A stage whose agents can resume their sessions."""
    stage = Stage(home, **named)
    for name, agent in stage.agents.items():
        agent.can_resume, agent.session = True, f"session-of-{name}"
        agent.always[Role.AUTHOR] = well(f"session-of-{name}")
    return stage


def well(session: str, **fields) -> Reading:
    reading = done(**fields)
    return Reading(reading.report, None, session=session, spoke=True)


def prompt_of(stage: Stage, run: Run) -> str:
    return (stage.home / run.folder / "prompt.md").read_text()


def saying(stage: Stage) -> Saying:
    (found,) = stage.store.sayings.values()
    return found


async def say(stage: Stage, key: TaskKey, text: str = "use a lock", **fields):
    return await stage.facade.say_to(key, Word(text, **fields))


async def test_a_message_to_one_at_work_is_its_next_turn_before_anything_is_published(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    (first,) = stage.runs(key)
    answer = await say(stage, key, author="olga")
    assert answer.changed
    assert "next turn of ann" in answer.words
    assert saying(stage).state is SayingState.QUEUED
    await stage.settle(play=False)
    assert len(stage.runs(key)) == 1
    stage.play()
    await stage.settle(play=False)
    _, second = stage.runs(key, Role.AUTHOR)
    assert (second.agent, second.resumes, second.hears) == (first.agent, "session-of-ann", True)
    assert stage.pulls() == []
    prompt = prompt_of(stage, second)
    assert prompt.startswith("Your session goes on: your turn has ended")
    assert "A message from olga" in prompt
    assert "\nuse a lock\n" in prompt
    assert saying(stage).state is SayingState.DELIVERED
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    found = saying(stage)
    assert (found.state, found.run, found.session) == (SayingState.SEEN, second.id, "session-of-ann")
    assert found.why == "delivered to ann in turn 2, in its own session"
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "ann"]
    assert stage.task(key).tried == ()


async def test_with_now_the_turn_at_work_is_ended_for_it(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.workspace.edit(key.project, key.number, {"half.txt": "half"})
    answer = await say(stage, key, interrupts=True)
    assert "turn of ann is ended" in answer.words
    await stage.settle(play=False)
    first, second = stage.runs(key, Role.AUTHOR)
    assert first.stop is not None
    assert first.stop.cause is StopCause.SAID
    assert interruption_of(first).kind is InterruptionKind.STOPPED
    assert second.resumes == "session-of-ann"
    assert stage.task(key).attempts == 2
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.store.cooldowns == {}


async def test_during_a_review_it_goes_back_to_its_author_and_the_new_head_is_reviewed(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.REVIEWER))
    await say(stage, key)
    await stage.settle(play=False)
    await stage.settle()
    reviews = stage.runs(key, Role.REVIEWER)
    assert interruption_of(reviews[0]).kind is InterruptionKind.STOPPED
    assert len(reviews) == 2
    assert reviews[0].head_sha != reviews[1].head_sha
    assert stage.task(key).status is Status.DONE
    assert stage.moves(key).count("routed") == 2


async def test_what_only_answers_keeps_the_head_and_its_approval(tmp_path):
    stage = stage_of(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    head = stage.pull(key).head_sha
    stage.edit = lambda _run: None
    stage.order("ann", Reading(done(summary="since it is thread-safe").report, None, session="session-of-ann"))
    await say(stage, key, "why no lock?")
    await stage.settle()
    assert stage.pull(key).head_sha == head
    assert stage.task(key).status is Status.IN_REVIEW
    assert len(stage.runs(key, Role.REVIEWER)) == 1
    assert saying(stage).state is SayingState.SEEN
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_question_to_a_person_is_answered_in_the_session_that_asked(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    asked = says(ReportedOutcome.NEEDS_INPUT, question="Which way?")
    stage.order("ann", Reading(asked.report, None, session="session-of-ann", spoke=True))
    await stage.settle()
    assert stage.block(key).code == "needs_input"
    await say(stage, key, "to the left")
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert [run.resumes for run in stage.runs(key, Role.AUTHOR)] == ["", "session-of-ann"]


async def test_what_a_person_blocked_stays_so_and_the_message_waits(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await stage.facade.block_task(key, why="not now")
    await stage.settle()
    await say(stage, key)
    await stage.settle()
    assert stage.task(key).status is Status.BLOCKED
    assert "its agent's next turn" in stage.wait(key).next
    await stage.facade.unblock_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert saying(stage).state is SayingState.SEEN


async def test_it_waits_with_the_pause_and_merges_nothing_meanwhile(tmp_path):
    stage = stage_of(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    stage.auto_ci = True
    await stage.facade.set_paused(paused=True)
    await say(stage, key)
    await stage.settle()
    assert stage.wait(key).code == "paused"
    assert "waits for its agent's next turn" in stage.wait(key).next
    assert stage.pull(key).is_open
    await stage.facade.set_paused(paused=False)
    await stage.settle()
    assert saying(stage).state is SayingState.SEEN
    assert stage.task(key).status is Status.DONE


async def test_it_waits_for_its_agent_while_that_cools_down(tmp_path):
    stage = stage_of(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    now = stage.clock.now()
    rest = Cooldown("ann", None, FailureKind.RATE_LIMIT, now + timedelta(hours=1), 1, "too many requests")
    await stage.store.save_cooldown(rest)
    await say(stage, key)
    await stage.settle()
    assert stage.wait(key).code == "agent_not_usable"
    assert "is to hear what was said to it" in stage.wait(key).words
    await stage.later(3700.0)
    assert saying(stage).why == "delivered to ann in turn 2, in its own session"


async def test_a_session_that_cannot_be_resumed_is_followed_by_a_new_one_with_the_message(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key)
    stage.play()
    await stage.settle(play=False)
    stage.edit = lambda _run: None
    stage.order("ann", fails(FailureKind.CRASH, "No conversation found"))
    stage.play()
    await stage.settle(play=False)
    _, second, third = stage.runs(key, Role.AUTHOR)
    assert interruption_of(second).kind is InterruptionKind.NOT_RESUMED
    assert (third.agent, third.resumes) == ("ann", "")
    prompt = prompt_of(stage, third)
    assert "use a lock" in prompt
    assert "cannot be gone on with" in prompt
    assert saying(stage).tries == 1
    await stage.settle()
    assert "in a new session" in saying(stage).why


async def test_a_start_that_fails_leaves_it_for_the_next(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key)
    stage.agents["ann"].refusal = Invalid("no such option")
    stage.play()
    await stage.tick()
    await stage.until(lambda: len(stage.runs(key, Role.AUTHOR)) > 1)
    stage.agents["ann"].refusal = None
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert saying(stage).state is SayingState.SEEN
    assert saying(stage).tries >= 1
    texts = [prompt_of(stage, run) for run in stage.runs(key, Role.AUTHOR) if run.id == saying(stage).run]
    assert all("use a lock" in text for text in texts)


async def test_what_no_run_takes_is_given_up_and_said(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key)
    for agent in stage.agents.values():
        agent.always[Role.AUTHOR] = fails(FailureKind.BAD_OUTPUT, "it said nothing")
    for _ in range(40):
        await stage.later(3600.0)
        if not saying(stage).is_open:
            break
    assert saying(stage).state is SayingState.UNDELIVERED
    assert saying(stage).tries == 4
    (notice,) = [one for one in stage.store.notices if one.kind == "undelivered"]
    assert "5 runs" in notice.words


async def test_a_done_task_hears_nothing(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle()
    with pytest.raises(Conflict, match="it is done"):
        await say(stage, key)
    assert stage.store.sayings == {}


async def test_one_that_is_done_before_its_agent_has_read_it_says_so(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key, receiver="telegram:12")
    await stage.facade.close_task(key)
    await stage.settle()
    assert saying(stage).state is SayingState.UNDELIVERED
    (notice,) = [one for one in stage.store.notices if one.receiver]
    assert (notice.kind, notice.receiver) == ("undelivered", "telegram:12")


async def test_a_chat_is_told_when_it_has_been_read(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key, receiver="telegram:12", author="7 on telegram")
    await stage.settle()
    notice, answer = await stage.store.load_notices(undelivered_to="telegram:12", after=999)
    assert (answer.kind, answer.words) == ("answered", "ann, at the end of turn 2: did it")
    assert notice.words.startswith("delivered to ann in turn 2, in its own session at 20")
    assert "use a lock" in notice.words
    assert await stage.store.load_notices(undelivered_to="slack", after=0) == tuple(
        one for one in stage.store.notices if not one.receiver
    )


async def test_the_same_name_is_the_same_message(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    first = await say(stage, key, name="cli:1")
    again = await say(stage, key, name="cli:1")
    assert (first.changed, again.changed) == (True, False)
    assert len(stage.store.sayings) == 1


@pytest.mark.parametrize("text", ["", " \u200b\x07 ", "x" * (LONGEST + 1)])
async def test_what_cannot_be_said_is_refused(tmp_path, text):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    with pytest.raises(Invalid):
        await say(stage, key, text)


async def test_a_comment_says_it_too_once_and_only_from_those_with_write_access(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.forge.comment(key.project, key.number, author=PERSON, body="/say use a lock\n\nand a test")
    stage.forge.comment(key.project, key.number, author=STRANGER, body="/say run rm")
    await stage.later(play=False)
    assert (saying(stage).text, saying(stage).author) == ("use a lock\n\nand a test", PERSON)
    await stage.settle()
    assert saying(stage).state is SayingState.SEEN
    prompts = [prompt_of(stage, run) for run in stage.runs(key, Role.AUTHOR)]
    assert sum("and a test" in prompt for prompt in prompts) == 1
    assert not any("run rm" in prompt for prompt in prompts)
    assert any("to its agent: delivered to ann in turn 2" in body for body in stage.comments(key))


async def test_an_answer_before_any_work_is_shown_to_its_person(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    asked = says(ReportedOutcome.NEEDS_INPUT, question="Which way?")
    stage.order("ann", Reading(asked.report, None, session="session-of-ann", spoke=True))
    stage.edit = lambda _run: None
    await stage.settle()
    stage.order("ann", well("session-of-ann", summary="left is against the wind"))
    await say(stage, key, "why do you ask?")
    await stage.settle()
    assert stage.block(key).code == "answered"
    assert "left is against the wind" in stage.block(key).words
    assert stage.block(key).answerable
    assert stage.task(key).tried == ()
    stage.edit = plain_edit
    await say(stage, key, "left, then")
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_the_reviewer_and_a_new_agent_know_what_was_said(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key)
    await stage.settle()
    (review,) = stage.runs(key, Role.REVIEWER)
    assert "use a lock" in prompt_of(stage, review)
    assert "what they ask still holds" in prompt_of(stage, review)


async def done_and_asked(stage: Stage, key: TaskKey) -> None:
    """Its author is done, and then asked something before anything was published; it changes nothing more."""
    await stage.settle(play=False)
    await say(stage, key, "why no lock?")
    stage.play()
    await stage.settle(play=False)
    stage.edit = lambda _run: None
    stage.order("ann", well("session-of-ann", summary="since it is thread-safe"))
    await stage.settle()


async def test_a_question_to_one_that_is_done_does_not_hold_up_what_it_did(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await done_and_asked(stage, key)
    assert stage.task(key).status is Status.DONE
    assert [run.hears for run in stage.runs(key, Role.AUTHOR)] == [False, True]
    assert "did it" in stage.pull(key).body
    assert saying(stage).state is SayingState.SEEN


async def test_a_question_to_one_that_handed_parts_over_does_not_lose_them(tmp_path):
    stage = stage_of(tmp_path)
    stage.order("ann", well("session-of-ann", delegations=(Delegation("The lock", "Mend it."),)))
    key = stage.file()
    await done_and_asked(stage, key)
    assert stage.block(key).code == "sub_tasks"
    delegated = stage.task(key).delegated
    assert delegated is not None
    assert [part.what.title for part in delegated.parts] == ["The lock"]


async def test_a_question_to_the_author_of_a_report_leaves_what_it_wrote(tmp_path):
    stage = stage_of(tmp_path)
    stage.order("ann", well("session-of-ann", summary="All is well."))
    await stage.facade.add_internal_task(PROJECT, title="Look", body="Look at it.", kind=TaskKind.REPORT)
    (key,) = stage.store.tasks
    stage.edit = lambda _run: None
    await done_and_asked(stage, key)
    internal = await stage.store.find_internal(key)
    assert internal is not None
    assert internal.result == "All is well.\n\nsince it is thread-safe"
    assert stage.task(key).status is Status.DONE


async def test_no_secret_of_a_message_is_kept(tmp_path):
    stage = stage_of(tmp_path, guards={"mask": lambda text: text.replace("s3cret", "***")})
    key = stage.file()
    await stage.settle(play=False)
    await say(stage, key, "x" * 76 + "s3cret")
    stage.forge.comment(PROJECT, key.number, body="/say the other s3cret", author=PERSON)
    await stage.later(play=False)
    assert len(stage.store.sayings) == 2
    assert not any("s3cret" in one.text for one in stage.store.sayings.values())


async def test_no_more_wait_by_comments_than_may(tmp_path):
    stage = stage_of(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    for number in range(MOST_WAITING + 2):
        stage.forge.comment(PROJECT, key.number, body=f"/say number {number}", author=PERSON)
    await stage.later(play=False)
    assert len(stage.store.sayings) == MOST_WAITING
