"""What people are told about runs, questions, closed pull requests and the end of a project's work: each once, also
after a restart, and when nothing new happens."""

from dataclasses import replace

from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.reaction import ReactionAction, ReactionRule, ReactionSettings
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, Settings
from tests.engine.approved import in_review
from tests.engine.part import PROJECT, done, fails, says
from tests.engine.stage import Stage

DAY_S = 86_400


def told(stage: Stage, kind: str) -> list[str]:
    return [notice.words for notice in stage.store.notices if notice.kind == kind]


async def test_a_run_that_prints_nothing_is_told_once_and_goes_on(tmp_path):
    patient = {name: AgentSettings(name, "fake", silence_s=0) for name in ("ann", "bob")}
    stage = Stage(tmp_path, agents=("ann", "bob"), settings=Settings(agents=patient))
    key = stage.file()
    await stage.settle(play=False)
    await stage.awake(540)
    assert told(stage, "agent_stuck") == []
    await stage.awake(600)
    await stage.restart()
    await stage.awake(1200)
    (words,) = told(stage, "agent_stuck")
    assert "printed nothing" in words
    (notice,) = stage.store.notices
    assert (notice.priority, notice.task) == (Priority.URGENT, key)
    assert len(stage.runs(key)) == 1


async def test_a_run_that_ends_without_a_word_is_told_and_tried_again(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    await stage.settle(play=False)
    first = stage.runs(key)[0].agent
    stage.order(first, fails(FailureKind.CRASH, "segmentation fault"))
    await stage.settle()
    (words,) = told(stage, "agent_exited")
    assert first in words
    assert "segmentation fault" in words
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_limit_of_a_vendor_is_no_news(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    stage.order(stage.runs(key)[0].agent, fails(FailureKind.RATE_LIMIT))
    await stage.settle()
    assert told(stage, "agent_exited") == []


async def test_a_question_is_told_and_once_more_when_nobody_answers_for_a_day(tmp_path):
    stage = Stage(tmp_path)
    for agent in stage.agents:
        stage.order(agent, says(ReportedOutcome.NEEDS_INPUT, question="left or right?"))
    key = stage.file()
    await stage.settle()
    assert len(told(stage, "agent_needs_input")) == 1
    await stage.later(DAY_S - 60)
    assert len(told(stage, "agent_needs_input")) == 1
    await stage.restart()
    await stage.later(120)
    await stage.later(3 * DAY_S)
    first, again = told(stage, "agent_needs_input")
    assert "left or right?" in first
    assert again.startswith("It still waits")
    assert stage.task(key).status is Status.BLOCKED


async def test_a_pull_request_that_somebody_closes_is_told_in_the_owners_words(tmp_path):
    closed = ReactionRule(ReactionAction.NOTIFY, message="{pull} of {task} was shut: {nobody} {why}")
    rules = ReactionSettings(pr_closed=closed)
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, merge = await in_review(stage)
    stage.forge.set_open(PROJECT, merge.pull, is_open=False)
    await stage.later()
    assert stage.block(key).code == "pull_closed"
    (words,) = told(stage, "pr_closed")
    assert words.startswith(f"#{merge.pull} of {key} was shut: {{nobody}} pull request")


async def test_that_all_work_is_done_is_told_once_until_there_is_more(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    await stage.later()
    await stage.later()
    assert len(told(stage, "all_complete")) == 1
    # What becomes known of a task that is done is no work.
    event = Event("task.changed", "something came late", stage.clock.now())
    await stage.store.update_task(key, lambda task: replace(task, told="late"), event=event)
    await stage.restart()
    await stage.later(4000)
    assert len(told(stage, "all_complete")) == 1
    assert [notice.task for notice in stage.store.notices if notice.kind == "all_complete"] == [None]
    stage.file("One more")
    await stage.later()
    await stage.later()
    await stage.later()
    assert len(told(stage, "all_complete")) == 2


async def test_what_is_turned_off_is_not_told(tmp_path):
    off = ReactionRule(ReactionAction.NOTHING)
    rules = ReactionSettings(agent_exited=off, agent_needs_input=off, all_complete=off)
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"), projects=(ProjectSettings(PROJECT, reactions=rules),))
    key = stage.file()
    await stage.settle(play=False)
    stage.order(stage.runs(key)[0].agent, fails(FailureKind.CRASH, "x"), done())
    await stage.settle()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 2
    assert {notice.kind for notice in stage.store.notices} == {"merged"}


async def test_a_conflict_that_nobody_resolves_is_told_while_it_stands(tmp_path):
    rules = ReactionSettings(merge_conflict=ReactionRule(ReactionAction.NOTIFY, message="Please rebase {pull}."))
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, merge = await in_review(stage)
    stage.forge.thread(PROJECT, merge.pull).conflicts = True
    stage.ci()
    await stage.later()
    await stage.later(4000)
    (words,) = told(stage, "merge_conflict")
    assert f"Please rebase #{merge.pull}." in words
    comments = [one.body for one in stage.forge.thread(PROJECT, merge.pull).comments]
    assert sum("Please rebase" in body for body in comments) == 1
    assert "conflicts" in stage.wait(key).words
    assert len(stage.runs(key, Role.AUTHOR)) == 1
