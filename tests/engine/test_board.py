"""A board shows where tasks are: cards follow the status, and neither people nor trouble keep it from that."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightcrew.core.errors import Conflict, Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardPlace, BoardSettings, CardHand
from nightcrew.core.model.settings import ProjectSettings
from tests.engine.part import PERSON, PROJECT, STRANGER, Killed
from tests.engine.stage import Stage
from tests.fakes.board import PLACE


def a_stage(home: Path, **board: Any) -> Stage:
    settings = replace(BoardSettings(PLACE), **board)
    return Stage(home, projects=(ProjectSettings(PROJECT, board=settings),))


async def at_work(stage: Stage) -> TaskKey:
    """A task whose author works and is shown so."""
    key = stage.file()
    await stage.settle(play=False)
    assert stage.boards.column(key.number) == "In progress"
    return key


async def test_cards_follow_the_status_to_the_end(tmp_path):
    stage = a_stage(tmp_path)
    key = stage.file()
    seen: list[str | None] = []

    def note() -> bool:
        column = stage.boards.column(key.number)
        if column not in seen[-1:]:
            seen.append(column)
        return stage.store.tasks.get(key) is not None and stage.task(key).status is Status.DONE

    await stage.until(note)
    await stage.settle()
    note()
    assert [column for column in seen if column] == ["Backlog", "Ready", "In progress", "In review", "Done"]
    assert stage.events("board.restored") == []
    (board,) = await stage.facade.list_boards()
    assert (board.cards, board.behind, board.problem, board.title) == (1, 0, "", "Plan")


async def test_an_idle_board_is_asked_only_now_and_then(tmp_path):
    stage = a_stage(tmp_path, look_every_s=300.0)
    await at_work(stage)
    await stage.awake(280)
    before = len(stage.boards.calls)
    await stage.awake(200)
    assert stage.boards.calls[before:] == ["board", "cards"]


async def test_without_a_board_none_is_asked(tmp_path):
    stage = Stage(tmp_path)
    stage.file()
    await stage.settle()
    assert stage.boards.calls == []
    assert await stage.facade.list_boards() == ()
    with pytest.raises(Invalid, match="board link"):
        await stage.facade.sync_board(PROJECT)


async def test_a_card_that_a_person_moved_is_put_back_and_said(tmp_path):
    stage = a_stage(tmp_path)
    key = await at_work(stage)
    stage.boards.put(key.number, "Done")
    await stage.later(301, play=False)
    assert stage.boards.column(key.number) == "In progress"
    assert stage.task(key).status is Status.IN_PROGRESS
    (why,) = stage.events("board.restored", key)
    assert "'Done'" in why
    await stage.later(301, play=False)
    assert len(stage.events("board.restored")) == 1


async def test_a_moved_card_may_be_left_until_the_status_changes(tmp_path):
    stage = a_stage(tmp_path, moved_by_hand=CardHand.LEAVE)
    key = await at_work(stage)
    stage.boards.put(key.number, "Blocked")
    for _ in range(2):
        await stage.later(301, play=False)
        assert stage.boards.column(key.number) == "Blocked"
    assert len(stage.events("board.left", key)) == 1
    await stage.settle()
    assert stage.boards.column(key.number) == "Done"


async def test_a_moved_card_may_be_followed_like_a_label_that_a_person_set(tmp_path):
    stage = a_stage(tmp_path, moved_by_hand=CardHand.FOLLOW)
    key = await at_work(stage)
    await stage.later(301, play=False)  # it was seen where it was put
    stage.boards.put(key.number, "Blocked", by=PERSON)
    await stage.later(301, play=False)
    assert stage.task(key).status is Status.BLOCKED
    assert stage.statuses(key) == ("status:blocked",)
    assert stage.boards.column(key.number) == "Blocked"
    assert len(stage.events("board.followed", key)) == 1
    assert stage.events("board.restored") == []


@pytest.mark.parametrize("by", [STRANGER, ""])
async def test_who_may_not_write_and_what_programs_do_is_not_followed(tmp_path, by):
    stage = a_stage(tmp_path, moved_by_hand=CardHand.FOLLOW)
    key = await at_work(stage)
    await stage.later(301, play=False)
    stage.boards.put(key.number, "Blocked", by=by)
    await stage.later(301, play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    assert stage.boards.column(key.number) == "In progress"


async def test_what_the_boards_own_workflow_does_to_a_new_card_is_no_persons_word(tmp_path):
    stage = a_stage(tmp_path, moved_by_hand=CardHand.FOLLOW)
    key = await at_work(stage)
    stage.boards.put(key.number, "Backlog", by=PERSON)  # before it was ever seen in its place
    await stage.later(301, play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    assert stage.boards.column(key.number) == "In progress"


async def test_a_card_that_was_taken_off_stays_off_until_a_person_asks(tmp_path):
    stage = a_stage(tmp_path)
    key = await at_work(stage)
    del stage.boards.cards[f"I{key.number}"]
    await stage.later(301, play=False)
    await stage.later(301, play=False)
    assert stage.boards.column(key.number) is None
    answer = await stage.facade.sync_board(PROJECT)
    assert "Plan" in answer.words
    assert stage.boards.column(key.number) == "In progress"


async def test_a_missing_column_is_said_with_what_to_do_and_the_rest_goes_on(tmp_path):
    stage = a_stage(tmp_path)
    stage.boards.columns = ["Todo", "In Progress", "Done"]
    key = await at_work_with(stage, "In Progress")
    (problem,) = stage.observer.problems()
    for words in ("needs_review", "in_review", "blocked ('Blocked')", "board.columns", "--create"):
        assert words in problem
    await stage.settle()
    assert stage.boards.column(key.number) == "Done"
    stage.boards.columns += ["In review", "Blocked"]
    await stage.later(301)
    stage.file()
    await stage.settle()
    assert stage.observer.problems() == ()


async def at_work_with(stage: Stage, column: str) -> TaskKey:
    key = stage.file()
    await stage.settle(play=False)
    assert stage.boards.column(key.number) == column
    return key


async def test_a_status_may_have_no_column_on_purpose(tmp_path):
    stage = a_stage(tmp_path, columns={Status.IN_PROGRESS: "", Status.ROUTED: "In Progress"})
    key = await at_work(stage)
    assert stage.observer.problems() == ()
    assert stage.task(key).status is Status.IN_PROGRESS


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Denied("the token may not use boards; a classic token needs the scope `project`"), "scope `project`"),
        (Unavailable("the forge is down"), "the forge is down"),
    ],
)
async def test_a_board_that_cannot_be_used_keeps_no_task_up_and_is_said(tmp_path, trouble, said):
    stage = a_stage(tmp_path)
    stage.boards.trouble = trouble
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    (problem,) = stage.observer.problems()
    assert said in problem
    asked = len(stage.boards.calls)
    assert asked <= 8, "it is tried again with pauses"
    stage.boards.trouble = None
    await stage.later(601)
    assert stage.boards.column(key.number) == "Done"
    assert stage.observer.problems() == ()


async def test_a_task_that_came_and_went_while_the_board_was_away_is_shown_in_the_end(tmp_path):
    stage = a_stage(tmp_path)
    await at_work(stage)
    stage.boards.trouble = Unavailable("down")
    key = stage.file("Another")
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    stage.boards.trouble = None
    await stage.later(601)
    assert stage.boards.column(key.number) == "Done"


async def test_little_budget_is_left_to_pull_requests(tmp_path):
    stage = a_stage(tmp_path)
    stage.boards.board = replace(stage.boards.board, points_left=499)
    key = stage.file()
    await stage.settle(play=False)
    assert stage.boards.column(key.number) is None
    assert "499 points" in stage.observer.problems()[0]
    assert set(stage.boards.calls) == {"board"}


async def test_one_card_that_cannot_be_moved_keeps_no_other(tmp_path):
    stage = a_stage(tmp_path)
    one, two = stage.file(), stage.file("Another")
    stage.boards.stuck = {f"I{one.number}"}
    await stage.settle(play=False)
    assert stage.boards.column(two.number) == "In progress"
    assert stage.boards.column(one.number) == ""
    assert "it is locked" in stage.observer.problems()[0]
    stage.boards.stuck.clear()
    await stage.later(301, play=False)
    assert stage.boards.column(one.number) == "In progress"
    assert stage.events("board.restored") == []


async def test_an_issue_that_cannot_be_put_on_is_tried_again_at_the_next_look(tmp_path):
    stage = a_stage(tmp_path)
    one, two = stage.file(), stage.file("Another")
    stage.boards.refused = {one.number}
    await stage.settle(play=False)
    assert stage.boards.column(two.number) == "In progress"
    assert "could not be put on it" in stage.observer.problems()[0]
    stage.boards.refused.clear()
    await stage.later(301, play=False)
    assert stage.boards.column(one.number) == "In progress"


async def test_killed_at_any_effect_on_the_board_the_cards_end_in_the_same_place(tmp_path):
    rehearsal = a_stage(tmp_path / "rehearsal")
    await at_work(rehearsal)
    places = [at for at, name in enumerate(rehearsal.points.names, 1) if " board." in name]
    assert len(places) >= 8
    for place in places:
        stage = a_stage(tmp_path / str(place))
        key = stage.file()
        stage.points.die_at = place
        with pytest.raises(Killed, match="board"):
            await stage.settle(play=False)
        await stage.restart()
        await stage.settle(play=False)
        assert stage.boards.column(key.number) == "In progress"
        assert len(stage.boards.cards) == 1


async def test_a_lost_answer_to_a_move_is_no_lost_card(tmp_path):
    stage = a_stage(tmp_path)
    key = await at_work(stage)
    stage.boards.trouble = OutcomeUnknown("no answer")
    await stage.settle()
    stage.boards.trouble = None
    await stage.later(601)
    assert stage.boards.column(key.number) == "Done"


async def test_another_board_begins_anew(tmp_path):
    stage = a_stage(tmp_path)
    key = await at_work(stage)
    other = replace(stage.settings.projects[PROJECT], board=BoardSettings(BoardPlace("acme", 9)))
    stage.settings = replace(stage.settings, projects={PROJECT: other})
    stage.start()
    await stage.settle(play=False)
    assert "there is no board acme/9" in stage.observer.problems()[0]
    (board,) = await stage.facade.list_boards()
    assert (board.board, board.cards, board.behind) == ("acme/9", 0, 1)
    assert stage.task(key).status is Status.IN_PROGRESS


async def test_what_is_lacking_is_made_only_where_that_does_no_harm(tmp_path):
    stage = a_stage(tmp_path)
    stage.boards.columns = ["Todo", "In Progress", "Done"]
    answer = await stage.facade.sync_board(PROJECT, create=True)
    assert "added Needs review, In review, Blocked" in answer.words
    assert stage.boards.columns == ["Todo", "In Progress", "Done", "Needs review", "In review", "Blocked"]
    stage.boards.columns.remove("Blocked")
    await at_work_with(stage, "In Progress")
    with pytest.raises(Conflict, match="would empty"):
        await stage.facade.sync_board(PROJECT, create=True)
    assert "set" in stage.boards.calls


async def test_a_field_that_is_not_there_is_made_with_every_column(tmp_path):
    stage = a_stage(tmp_path, field_name="Crew")
    key = stage.file()
    await stage.settle(play=False)
    assert "sync --create" in stage.observer.problems()[0]
    answer = await stage.facade.sync_board(PROJECT, create=True)
    assert "made the field 'Crew'" in answer.words
    assert stage.boards.columns == ["New", "Routed", "In progress", "Needs review", "In review", "Done", "Blocked"]
    assert stage.boards.column(key.number) == "In progress"


async def test_a_task_without_an_issue_has_no_card(tmp_path):
    stage = a_stage(tmp_path)
    await stage.facade.add_internal_task(PROJECT, title="No issue", body="Do it.")
    await stage.settle()
    assert stage.boards.cards == {}
    assert (await stage.facade.list_boards())[0].behind == 0
    assert "0 tasks" in (await stage.facade.sync_board(PROJECT)).words
