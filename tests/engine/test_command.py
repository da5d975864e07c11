"""Commands in comments, from the comment to the effect: whose, where, once each, whatever dies in between."""

import pytest

from nightcrew.core.errors import Invalid, Unavailable
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.issue import Permission
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Probe, Role
from nightcrew.core.render import MARK
from tests.engine.part import PERSON, PROJECT, STRANGER, Killed, fails, says
from tests.engine.stage import Stage


def say(stage: Stage, key: TaskKey, body: str, *, author: str = PERSON, number: int = 0, is_bot: bool = False) -> int:
    stage.clock.advance(2)
    return stage.forge.comment(PROJECT, number or key.number, body=body, author=author, is_bot=is_bot).id


async def parked(stage: Stage) -> TaskKey:
    """A routed task that no agent takes."""
    key = stage.file(labels=("nightcrew", "no-agent"))
    await stage.settle()
    return key


async def at_work(stage: Stage) -> TaskKey:
    key = stage.file()
    await stage.settle(play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    return key


def answers(stage: Stage) -> list[tuple[str, str, str]]:
    found = stage.store.commands.values()
    return [(str(command.given), command.author, command.settlement.value) for command in found]


def told(stage: Stage, key: TaskKey) -> str:
    (text,) = [said.body for said in stage.forge.thread(PROJECT, key.number).comments if said.body.startswith(MARK)]
    return text


async def test_stop_ends_the_session_keeps_the_work_and_waits_for_a_person(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    (run,) = stage.runs(key)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half"})
    say(stage, key, "/stop")
    await stage.later(play=False)
    assert run.session in stage.runtime.stopped
    assert stage.task(key).status is Status.BLOCKED
    assert stage.block(key).words == f"{PERSON} stopped it"
    assert "`/stop`, as ada asked: done" in told(stage, key)
    outcome = stage.runs(key)[0].outcome
    assert outcome is not None
    assert outcome.has_commits, "what it had written is kept"
    assert stage.store.cooldowns == {}, "the agent is not to blame"
    say(stage, key, "carry on please")
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED, "only a word to go on counts"
    say(stage, key, "/unblock")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(answers(stage)) == 2


async def test_retry_starts_anew_what_was_declined(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    for agent in stage.agents:
        stage.order(agent, says(ReportedOutcome.DECLINED))
    await stage.settle()
    assert stage.task(key).status is Status.BLOCKED
    for adapter in stage.agents.values():
        adapter.orders[Role.AUTHOR].clear()
    say(stage, key, "Sorry, it is wanted after all.\n\n/retry")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert answers(stage) == [("/retry", PERSON, "done")]


async def test_block_says_why_and_unblock_goes_on(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    say(stage, key, "/block the design \x1b[31mis `open` @bob")
    await stage.later(play=False)
    assert stage.block(key).words == "the design [31mis `open` @bob"
    assert "\x1b" not in told(stage, key)
    assert "@bob" not in told(stage, key), "nobody is notified"
    say(stage, key, "/unblock")
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_close_ends_the_task_and_keeps_its_work(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    (run,) = stage.runs(key)
    say(stage, key, "/close")
    await stage.later(play=False)
    assert stage.task(key).status is Status.DONE
    assert not stage.issue(key).is_open
    assert run.session in stage.runtime.stopped
    assert stage.statuses(key) == ("status:done",)
    say(stage, key, "/retry")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert "refused: the task is done; reopen the issue" in told(stage, key)


async def test_agent_and_model_are_labels_and_hold_from_the_next_run_on(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    first = stage.runs(key)[0].agent
    other = next(name for name in stage.agents if name != first)
    stage.forge.label(PROJECT, key.number, f"agent:{first}")
    say(stage, key, f"/agent {other.upper()}\n/model big-1")
    await stage.later(play=False)
    assert stage.runs(key)[0].is_open, "the run at work is left alone"
    assert {label for label in stage.issue(key).labels if label.startswith(("agent:", "model:"))} == {
        f"agent:{other}", "model:big-1",
    }  # fmt: skip
    assert answers(stage) == [(f"/agent {other.upper()}", PERSON, "done"), ("/model big-1", PERSON, "done")]
    stage.order(first, says(ReportedOutcome.NEEDS_INPUT, question="which?"))
    await stage.settle()
    say(stage, key, "The left one.")
    await stage.later()
    last = stage.runs(key, Role.AUTHOR)[-1]
    assert (last.agent, last.model) == (other, "big-1")


async def test_an_unknown_agent_is_refused_with_the_known_ones(tmp_path):
    stage = Stage(tmp_path)
    key = await parked(stage)
    labels = stage.issue(key).labels
    say(stage, key, "/agent gpt")
    await stage.later()
    assert "`/agent gpt`, as ada asked: refused: there is no agent gpt (there are: ann, bob)" in told(stage, key)
    assert stage.issue(key).labels == labels


async def test_a_label_that_the_forge_does_not_take_is_refused(tmp_path):
    stage = Stage(tmp_path)
    key = await parked(stage)
    stage.forge.fail("add_label", Invalid("an issue holds at most 100 labels"))
    say(stage, key, "/agent bob")
    await stage.later()
    assert answers(stage) == [("/agent bob", PERSON, "refused")]
    assert "cannot be set" in told(stage, key)


@pytest.mark.case("C226")
@pytest.mark.parametrize("author", [STRANGER, "never-heard-of", "ghost"])
async def test_a_stranger_is_neither_obeyed_nor_answered(tmp_path, author):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    for body in ("/close", "/stop", "/agent bob", "/retry", "/block x", "/model x", "/unblock"):
        say(stage, key, body, author=author)
    before = told(stage, key)
    await stage.later(play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    assert stage.issue(key).is_open
    assert len(answers(stage)) == 7
    assert {answer for _, _, answer in answers(stage)} == {"ignored"}
    assert len(stage.events("command.ignored", key)) == 7, "seen by those who look"
    assert told(stage, key) == before
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_a_bot_is_not_obeyed_even_with_write_access(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    say(stage, key, "/close", is_bot=True)
    await stage.later(play=False)
    assert stage.issue(key).is_open
    assert [answer for _, _, answer in answers(stage)] == ["ignored"]


async def test_nightcrew_does_not_obey_itself(tmp_path):
    stage = Stage(tmp_path, login=PERSON)
    key = stage.file()
    question = says(ReportedOutcome.NEEDS_INPUT, question="What now?\n/close\n\n/retry")
    stage.order("ann", question)
    stage.order("bob", question)
    await stage.settle()
    number = stage.task(key).comment_id
    assert number is not None
    stage.forge.edit_comment(PROJECT, number, body=f"{told(stage, key)}\n/close")
    await stage.later()
    await stage.restart()
    await stage.later()
    assert answers(stage) == []
    assert stage.task(key).status is Status.BLOCKED
    say(stage, key, "/close", author=PERSON)
    await stage.later()
    assert stage.task(key).status is Status.DONE, "its person, with the same login, is obeyed"


async def test_quotes_and_code_are_text(tmp_path):
    stage = Stage(tmp_path)
    key = await parked(stage)
    say(stage, key, "> /close\n\n```\n/close\n```\n<!-- /close -->\nnever /close this\n\n    /close")
    await stage.later()
    assert answers(stage) == []
    assert stage.task(key).status is not Status.DONE


async def test_what_was_said_before_the_task_was_there_is_not_about_it(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file(labels=())
    say(stage, key, "/block not yet")
    await stage.later()
    stage.clock.advance(60)
    stage.set_label(key, "nightcrew")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert answers(stage) == []


async def test_a_command_on_the_pull_request_counts_for_its_task_and_one_elsewhere_for_none(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.IN_REVIEW)
    other = stage.file("not a task", labels=())
    say(stage, key, "/close", number=other.number)
    say(stage, key, "/block let me look first", number=stage.number(key))
    await stage.later(play=False)
    assert stage.task(key).status is Status.BLOCKED
    assert stage.issue(other).is_open
    assert answers(stage) == [("/block let me look first", PERSON, "done")]


async def test_given_while_the_service_was_down_they_are_obeyed_at_start(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    stage.clock.advance(7 * 86_400)
    say(stage, key, "/stop")
    stage.clock.advance(7 * 86_400)
    await stage.restart()
    await stage.settle(play=False)
    assert stage.task(key).status is Status.BLOCKED
    assert answers(stage) == [("/stop", PERSON, "done")]


async def test_they_are_settled_once_over_many_looks_and_restarts(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    say(stage, key, "/retry")
    for _ in range(4):
        await stage.later(play=False)
        await stage.later(3600, play=False)
        await stage.restart()
    assert answers(stage) == [("/retry", PERSON, "done")]
    resets = [why for why in stage.events("status.changed", key) if "asked to start anew" in why]
    assert len(resets) == 1


@pytest.mark.case("C001")
async def test_a_comment_that_the_list_shows_late_is_obeyed_all_the_same(tmp_path):
    stage = Stage(tmp_path)
    key = await parked(stage)
    thread = stage.forge.thread(PROJECT, key.number)
    number = say(stage, key, "/block late")
    late = thread.comments.pop()
    assert late.id == number
    say(stage, key, "a later one that is shown first")
    await stage.later()
    thread.comments.append(late)
    await stage.later()
    assert answers(stage) == [("/block late", PERSON, "done")]


async def test_an_edit_neither_repeats_nor_adds_a_command(tmp_path):
    stage = Stage(tmp_path)
    key = await parked(stage)
    plain, command = say(stage, key, "hello"), say(stage, key, "/block one")
    await stage.later()
    stage.clock.advance(30)
    stage.forge.edit_comment(PROJECT, plain, body="/close")
    stage.forge.edit_comment(PROJECT, command, body="/block one\n/close")
    for _ in range(2):
        await stage.later()
        stage.clock.advance(3600)
        await stage.later()
        await stage.restart()
    assert answers(stage) == [("/block one", PERSON, "done")]
    assert stage.issue(key).is_open


async def test_one_edited_before_it_was_read_counts_as_it_stands(tmp_path):
    stage = Stage(tmp_path)
    key = await parked(stage)
    number = say(stage, key, "/blok")
    stage.clock.advance(5)
    stage.forge.edit_comment(PROJECT, number, body="/block")
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED


async def test_unreadable_comments_and_permissions_hold_up_only_the_commands(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    stage.forge.projects[PROJECT].permissions["grace"] = Permission.WRITE
    say(stage, key, "/stop", author="grace")
    stage.forge.fail("list_updated_comments", Unavailable("503"))
    await stage.later(play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    assert any("commands in them wait" in problem for problem in stage.observer.problems())
    stage.forge.fail("fetch_permission", Unavailable("503"))
    await stage.later(play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    await stage.later(play=False)
    assert stage.task(key).status is Status.BLOCKED
    assert not stage.observer.problems()


async def test_a_command_alone_answers_no_question_and_is_not_shown_to_agents(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    ask = says(ReportedOutcome.NEEDS_INPUT, question="41 or 42?")
    stage.order("ann", ask)
    stage.order("bob", ask)
    await stage.settle()
    asker = stage.runs(key)[0].agent
    say(stage, key, f"/agent {asker}")
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    stage.agents[asker].orders[Role.AUTHOR].clear()
    say(stage, key, "Take 42.\n/model big-1")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    prompt = stage.agents[asker].jobs[-1].prompt
    assert "Take 42." in prompt
    assert f"/agent {asker}" not in prompt


async def test_a_question_is_answered_from_the_command_line_by_the_shared_account(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    ask = says(ReportedOutcome.NEEDS_INPUT, question="41 or 42?")
    stage.order("ann", ask)
    stage.order("bob", ask)
    await stage.settle()
    for agent in stage.agents.values():
        agent.orders[Role.AUTHOR].clear()
    with pytest.raises(Invalid):
        await stage.facade.comment_task(key, text=f"{MARK} 42")
    with pytest.raises(Invalid):
        await stage.facade.comment_task(key, text=" ")
    stage.clock.advance(5)
    await stage.facade.comment_task(key, text="/model big-1\nTake 42.")
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert answers(stage) == [("/model big-1", stage.forge.login, "done")]


BODIES = ("/stop", "/retry", "/block why", "/close", "/agent bob", "/stop\n/unblock\n/agent ann\n/block again")


@pytest.mark.parametrize("body", BODIES)
async def test_a_death_anywhere_neither_loses_nor_repeats_a_command(tmp_path, body):
    """The service dies at each of its writes and effects in turn, once."""

    async def story(stage: Stage) -> tuple[int, int]:
        key = await at_work(stage)
        first = len(stage.points.names)
        say(stage, key, body)
        return first, key.number

    async def end(stage: Stage) -> tuple[object, ...]:
        for _ in range(6):
            try:
                await stage.later(100, play=False)
            except Killed:
                await stage.restart()
        (key,) = stage.store.tasks
        task = stage.task(key)
        alive = [name for name, session in stage.runtime.sessions.items() if session.probe is Probe.ALIVE]
        choices = sorted(label for label in stage.issue(key).labels if label.startswith("agent:"))
        asked = [why for why in stage.events("status.changed", key) if PERSON in why and body != "/close"]
        return task.status, stage.issue(key).is_open, answers(stage), len(alive), choices, asked

    plain = Stage(tmp_path / "plain")
    first, _ = await story(plain)
    expected = await end(plain)
    last = len(plain.points.names)
    assert last > first
    for number in range(first + 1, last + 1, 3 if last - first > 60 else 1):
        stage = Stage(tmp_path / f"die-{number}")
        await story(stage)
        stage.points.die_at = number
        assert await end(stage) == expected, f"died at {plain.points.names[number - 1]}"


async def test_a_failing_agent_is_not_asked_again_after_stop(tmp_path):
    stage = Stage(tmp_path)
    key = await at_work(stage)
    stage.order("ann", *[fails(FailureKind.CRASH) for _ in range(3)])
    say(stage, key, "/stop")
    await stage.later(play=False)
    for _ in range(3):
        await stage.later(3600)
    assert len(stage.runs(key)) == 1


async def test_an_idle_look_costs_one_list(tmp_path):
    stage = Stage(tmp_path)
    await parked(stage)
    before = stage.count("list_updated_comments")
    await stage.later()
    assert stage.count("list_updated_comments") == before + 1
    await stage.tick()
    assert stage.count("list_updated_comments") == before + 1, "nothing is read between the intervals"
