"""What people are to be told is in the outbox once, written with the change that it tells of."""

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.reaction import ReactionAction, ReactionRule, ReactionSettings
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.settings import ProjectSettings
from tests.engine.approved import in_review
from tests.engine.part import PROJECT, says
from tests.engine.stage import Stage


def told(stage: Stage) -> list[tuple[str, Priority]]:
    return [(notice.kind, notice.priority) for notice in stage.store.notices]


async def test_what_waits_for_an_answer_is_urgent(tmp_path):
    stage = Stage(tmp_path)
    for agent in stage.agents:
        stage.order(agent, says(ReportedOutcome.NEEDS_INPUT, question="left\x1b[2J or right?"))
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.BLOCKED
    (notice,) = stage.store.notices
    assert (notice.task, notice.project, notice.priority) == (key, PROJECT, Priority.URGENT)
    assert "or right?" in notice.words
    assert "\x1b" not in notice.words


async def test_a_merge_is_good_to_know(tmp_path):
    stage = Stage(tmp_path)
    stage.file()
    await stage.settle()
    await stage.later()
    assert told(stage)[0] == ("merged", Priority.INFO)


async def test_a_reaction_is_told_once_with_the_priority_of_its_rule(tmp_path):
    rule = ReactionRule(ReactionAction.NOTIFY, priority=Priority.WARNING)
    rules = ReactionSettings(approved_and_green=rule)
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, reactions=rules),))
    key, merge = await in_review(stage)
    stage.ci()
    await stage.later()
    await stage.restart()
    await stage.later(4000)
    assert told(stage) == [("approved_and_green", Priority.WARNING)]
    (notice,) = stage.store.notices
    assert notice.task == key
    assert f"#{merge.pull}" in notice.words


async def test_what_a_person_did_is_no_news_to_them(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await stage.facade.block_task(key, why="not now")
    assert stage.task(key).status is Status.BLOCKED
    assert told(stage) == []
