"""Labels and what people do with them, and how a task ends."""

from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.actions import MoveStatus, RecordRoute, Refused, SettleLabels
from nightcrew.core.errors import Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.route import Complexity, Route, RouteSource
from tests.engine.part import PERSON, PROJECT, Killed
from tests.engine.stage import Stage


async def blocked(stage: Stage):
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    await stage.facade.block_task(key, why="wait")
    await stage.settle()
    return key


async def test_a_move_cut_short_at_each_point_is_finished(tmp_path):
    async def routed(home: Path) -> tuple[Stage, TaskKey, MoveStatus]:
        stage = Stage(home)
        key = stage.file()
        await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
        move = MoveStatus(key, Status.ROUTED, Status.BLOCKED, Evidence.NEEDS_PERSON, "asked")
        stage.points.names.clear()
        return stage, key, move

    stage, _, move = await routed(tmp_path / "count")
    await stage.act(move)
    names = list(stage.points.names)
    assert {"before label.add", "after label.add", "before label.remove", "after label.remove"} <= set(names)
    for place in range(1, len(names) + 1):
        stage, key, move = await routed(tmp_path / str(place))
        stage.points.die_at = place
        with pytest.raises(Killed):
            await stage.act(move)
        moved = stage.task(key).status is Status.BLOCKED
        await stage.restart()
        await stage.settle(play=False)
        await stage.later(100, play=False)  # until then what was under way may still land
        if moved:
            assert stage.statuses(key) == ("status:blocked",), names[place - 1]
            assert stage.task(key).status is Status.BLOCKED
        else:
            assert stage.statuses(key) == ("status:in_progress",), names[place - 1]
        assert stage.task(key).moving_to is None
        assert not stage.events("status.changed", key)[-1].startswith("a person")


@pytest.mark.case("C012")
async def test_an_issue_full_of_labels_changes_its_status_all_the_same(tmp_path):
    stage = Stage(tmp_path)
    full = ("nightcrew", "status:new", *(f"label-{number}" for number in range(98)))
    key = stage.file(labels=full)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.statuses(key) == ("status:done",)
    assert len(stage.issue(key).labels) == 100


@pytest.mark.case("C012")
async def test_an_issue_without_room_for_any_status_goes_on_in_the_store_without_a_hot_loop(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file(labels=("nightcrew", *(f"label-{number}" for number in range(99))))
    for _ in range(120):
        await stage.tick(advance_s=5)
    assert key in stage.store.tasks
    assert stage.count("add_label") <= 12
    assert stage.wait(key).code == "retrying"


@pytest.mark.case("C014")
async def test_a_status_label_in_other_letters_is_the_same_status(tmp_path):
    stage = Stage(tmp_path)
    key = await blocked(stage)
    thread = stage.forge.thread(PROJECT, key.number)
    spelled = tuple(label.replace("status:blocked", "STATUS:Blocked") for label in thread.issue.labels)
    thread.issue = replace(thread.issue, labels=spelled, updated_at=stage.clock.now())
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    assert stage.statuses(key) == ("STATUS:Blocked",)
    assert stage.runtime.started == []


@pytest.mark.parametrize("target", ["new", "routed", "in_progress", "needs_review", "in_review"])
async def test_a_label_that_a_person_sets_wins(tmp_path, target):
    stage = Stage(tmp_path)
    key = await blocked(stage)
    stage.set_label(key, f"status:{target}")
    stage.observer.expire()
    await stage.tick()
    await stage.tick()
    assert target in stage.moves(key)
    assert f"a person set status:{target}" in stage.events("status.changed", key)
    assert stage.task(key).reset_at is not None
    await stage.settle()
    assert len(stage.statuses(key)) == 1
    if target in ("new", "routed", "in_progress"):
        assert stage.task(key).status is Status.DONE
    else:
        assert stage.block(key).code == "no_pull"


@pytest.mark.parametrize(
    "status", [Status.NEW, Status.ROUTED, Status.IN_PROGRESS, Status.NEEDS_REVIEW, Status.IN_REVIEW]
)
async def test_a_person_may_block_from_anywhere(tmp_path, status):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is status)
    stage.set_label(key, "status:blocked")
    stage.observer.expire()
    await stage.settle()
    await stage.later(30)
    assert stage.task(key).status is Status.BLOCKED
    assert stage.statuses(key) == ("status:blocked",)
    assert all(not run.is_open for run in stage.runs(key))
    assert stage.wait(key).words == "a person set it to blocked"


async def test_a_person_who_sets_done_ends_it(tmp_path):
    stage = Stage(tmp_path)
    key = await blocked(stage)
    stage.set_label(key, "status:done")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert not stage.issue(key).is_open


@pytest.mark.parametrize("labels", [(), ("status:new", "status:in_review")])
async def test_none_or_several_status_labels_mean_nothing_and_are_put_right(tmp_path, labels):
    stage = Stage(tmp_path)
    key = await blocked(stage)
    stage.forge.unlabel(PROJECT, key.number, "status:blocked")
    for label in labels:
        stage.forge.label(PROJECT, key.number, label, actor=PERSON)
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    assert stage.statuses(key) == ("status:blocked",)


async def test_a_label_set_between_decision_and_route_is_not_lost(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks)
    stage.set_label(key, "status:blocked")
    route = Route("ann", "", Complexity.MEDIUM, RouteSource.ROUND_ROBIN, "next")
    outcome = await stage.act(RecordRoute(key, Status.NEW, route, "next"))
    assert isinstance(outcome, Refused)
    assert stage.statuses(key) == ("status:blocked",)


async def test_actions_about_a_status_that_has_gone_by_are_refused(tmp_path):
    stage = Stage(tmp_path)
    key = await blocked(stage)
    for action in (
        MoveStatus(key, Status.NEW, Status.ROUTED, Evidence.ROUTE, "late"),
        SettleLabels(key, Status.ROUTED, "late"),
        RecordRoute(key, Status.NEW, stage.route(key), "late"),
    ):
        assert isinstance(await stage.act(action), Refused)
    assert stage.statuses(key) == ("status:blocked",)


async def test_a_stale_list_is_not_taken_for_a_persons_hand(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks)
    old = stage.issue(key)

    async def stale(plain, project, *, known_at):
        return tuple(old if issue.number == old.number else issue for issue in await plain(project, known_at=known_at))

    stage.forge.instead["list_updated_issues"] = stale  # a list that lags behind
    await stage.facade.block_task(key, why="wait")
    for _ in range(4):
        await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    assert "accept" not in str([event.data for event in stage.store.events])
    assert stage.statuses(key) == ("status:blocked",)


@pytest.mark.case("C021")
async def test_one_not_found_while_labels_are_set_is_no_hand_of_a_person(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    move = MoveStatus(key, Status.ROUTED, Status.BLOCKED, Evidence.NEEDS_PERSON, "asked")
    stage.forge.fail("fetch_issue", Missing("404"), times=2)
    await stage.act(move)
    assert stage.statuses(key) == ("status:routed",)
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.BLOCKED
    assert stage.statuses(key) == ("status:blocked",)


async def test_a_label_set_while_its_issue_was_being_closed_makes_no_hot_loop(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    # The labels of the last move were never seen to be right, and a person put another one there meanwhile.
    stage.store.tasks[key] = replace(stage.task(key), moving_to=Status.DONE, moving_over=(Status.IN_REVIEW,))
    stage.store.writes += 1
    stage.set_label(key, "status:needs_review")
    stage.observer.expire()
    await stage.later()
    assert stage.task(key).moving_to is None
    assert stage.statuses(key) == ("status:done",)
