"""What every store promises of tasks, their status, values, writes, effects and events: run over the one in memory and
the one on SQLite."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Edge, Evidence, Status, transition
from nightcrew.core.model.event import Event
from nightcrew.core.model.run import RunState
from nightcrew.core.model.task import Block, Task
from nightcrew.ports.store import Store, Validator
from tests.adapters.store.sample import (
    KEY,
    LATER,
    NOW,
    OTHER,
    ROUTE,
    SHA,
    a_run,
    a_task,
    an_event,
    to,
)
from tests.contract.conftest import kinds


class TestTasks:
    async def test_is_recorded_once_with_its_event(self, opened):
        async with opened() as store:
            assert await store.record_task(a_task(), event=an_event("first"))
            assert not await store.record_task(replace(a_task(), title="other"), event=an_event("second"))
            assert await store.find_task(KEY) == a_task()
            assert await kinds(store) == ["first"]

    async def test_is_still_there_when_opened_again(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
        async with opened() as store:
            assert await store.find_task(KEY) == a_task()

    @pytest.mark.case("C211")
    async def test_the_same_number_of_two_projects_is_two_tasks(self, opened):
        async with opened() as store:
            await store.record_task(replace(a_task(), title="parrot"), event=an_event())
            await store.record_task(replace(a_task(OTHER), title="heron"), event=an_event())
            assert [task.title for task in await store.load_tasks(project="octo/heron")] == ["heron"]
            assert [task.key for task in await store.load_tasks()] == [OTHER, KEY]

    async def test_done_ones_are_left_out_once_their_labels_are_right(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            done = transition(Status.NEW, Status.DONE, Evidence.FINISHED)
            await store.change_status(KEY, done, event=an_event())
            assert len(await store.load_tasks()) == 1
            await store.settle_status(KEY)
            assert await store.load_tasks() == ()
            assert len(await store.load_tasks(include_done=True)) == 1

    async def test_save_replaces_everything_but_the_status(self, opened):
        async with opened() as store:
            await store.record_task(replace(a_task(), moving_to=Status.NEW), event=an_event())
            wanted = Task(
                key=KEY,
                title="New title",
                status=Status.BLOCKED,
                moving_to=Status.DONE,
                created_at=NOW - timedelta(days=1),
                updated_at=LATER,
                priority=3,
                route=ROUTE,
                block=Block("question", "which wing?", answerable=True, at=NOW),
                branch="nightcrew/42-wings",
                base_ref="main",
                started_from=SHA,
                pull=7,
                attempts=2,
                cycles=1,
                tried=("codex", "claude"),
                approved_sha=SHA,
                merge_sha=SHA,
                comment_id=2**53,
                told="said",
                reset_at=NOW,
            )
            await store.update_task(KEY, to(wanted))
            assert await store.find_task(KEY) == replace(wanted, status=Status.NEW, moving_to=Status.NEW)
            await store.update_task(KEY, to(a_task()))
            assert await store.find_task(KEY) == replace(a_task(), moving_to=Status.NEW, updated_at=LATER)

    async def test_save_of_none_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing, match="octo/parrot#42"):
                await store.update_task(KEY, to(a_task()), event=an_event())
            assert await kinds(store) == []

    @pytest.mark.case("C212")
    async def test_a_sweep_that_changes_nothing_leaves_updated_at(self, opened):
        async with opened() as store:
            keys = [TaskKey("octo/parrot", n) for n in range(1, 41)]
            for key in keys:
                await store.record_task(a_task(key, Status.BLOCKED), event=an_event())
            for task in await store.load_tasks():
                await store.update_task(
                    task.key, to(replace(task, updated_at=LATER)), event=an_event("swept", at=LATER)
                )
            assert {task.updated_at for task in await store.load_tasks()} == {NOW}

    async def test_updated_at_follows_a_change_and_never_goes_back(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.update_task(KEY, to(replace(a_task(), pull=1)), event=an_event(at=LATER))
            await store.update_task(KEY, to(replace(a_task(), pull=2)), event=an_event(at=NOW))
            task = await store.find_task(KEY)
            assert task is not None
            assert (task.pull, task.updated_at) == (2, LATER)


class TestStatus:
    ROUTED = transition(Status.NEW, Status.ROUTED, Evidence.ROUTE)

    async def test_moves_with_event_and_fields(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("first"))
            fields = replace(a_task(status=Status.BLOCKED), route=ROUTE)
            await store.change_status(KEY, self.ROUTED, event=an_event("moved", at=LATER), change=to(fields))
            expected = replace(a_task(status=Status.ROUTED), moving_to=Status.ROUTED, route=ROUTE, updated_at=LATER)
            expected = replace(expected, moving_over=(Status.NEW,))
            assert await store.find_task(KEY) == expected
            assert await kinds(store) == ["first", "moved"]
            await store.settle_status(KEY)
            assert await store.find_task(KEY) == replace(expected, moving_to=None, moving_over=())

    async def test_remembers_what_unfinished_moves_went_over(self, opened):
        on = transition(Status.ROUTED, Status.BLOCKED, Evidence.NEEDS_PERSON)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.change_status(KEY, self.ROUTED, event=an_event())
            await store.change_status(KEY, on, event=an_event(), change=to(replace(a_task(), moving_over=())))
        async with opened() as store:
            found = await store.find_task(KEY)
            assert found is not None
            assert found.moving_over == (Status.NEW, Status.ROUTED)
            by_hand = transition(Status.BLOCKED, Status.NEW, Evidence.PERSON)
            await store.change_status(KEY, by_hand, event=an_event(), labels_follow=False)
            found = await store.find_task(KEY)
            assert found is not None
            assert found.moving_over == ()

    async def test_a_persons_move_needs_no_labels(self, opened):
        async with opened() as store:
            await store.record_task(replace(a_task(), moving_to=Status.NEW), event=an_event())
            edge = transition(Status.NEW, Status.BLOCKED, Evidence.PERSON)
            await store.change_status(KEY, edge, event=an_event(), labels_follow=False)
            task = await store.find_task(KEY)
            assert task is not None
            assert (task.status, task.moving_to) == (Status.BLOCKED, None)

    async def test_of_another_source_is_a_conflict_that_says_what_is_and_changes_nothing(self, opened):
        async with opened() as store:
            stored = a_task(status=Status.IN_REVIEW)
            await store.record_task(stored, event=an_event("first"))
            with pytest.raises(Conflict, match="is in_review, not new"):
                await store.change_status(KEY, self.ROUTED, event=an_event("moved"), change=to(replace(stored, pull=9)))
            assert await store.find_task(KEY) == stored
            assert await kinds(store) == ["first"]

    async def test_of_no_task_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.change_status(KEY, self.ROUTED, event=an_event())
            with pytest.raises(Missing):
                await store.settle_status(KEY)

    async def test_along_no_edge_of_the_table_is_a_bug(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            with pytest.raises(Bug):
                await store.change_status(KEY, Edge(Status.NEW, Status.DONE, Evidence.ROUTE), event=an_event())

    async def test_with_another_tasks_fields_is_a_bug(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            with pytest.raises(Bug):
                await store.change_status(KEY, self.ROUTED, event=an_event(), change=to(a_task(OTHER)))

    async def test_a_move_and_its_event_are_one(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("first"))
            unspeakable = replace(an_event("moved"), data={"x": object()})
            with pytest.raises(Bug):
                await store.change_status(KEY, self.ROUTED, event=unspeakable, change=to(replace(a_task(), pull=3)))
            assert await store.find_task(KEY) == a_task()
            assert await kinds(store) == ["first"]


class TestEvents:
    async def test_ids_grow_and_data_comes_back(self, opened):
        async with opened() as store:
            first = await store.record_event(an_event("a"))
            bare = Event("b", "", LATER, run=RunId("01R"))
            second = await store.record_event(bare)
            assert 0 < first < second
            assert await store.load_events() == (replace(an_event("a"), id=first), replace(bare, id=second))

    async def test_pages(self, opened):
        async with opened() as store:
            ids = [await store.record_event(an_event(f"e{n}", task=KEY if n % 2 else OTHER)) for n in range(6)]
            assert [event.kind for event in await store.load_events(after=ids[1], limit=2)] == ["e2", "e3"]
            assert [event.kind for event in await store.load_events(limit=2, newest=True)] == ["e4", "e5"]
            assert [event.kind for event in await store.load_events(task=KEY)] == ["e1", "e3", "e5"]
            assert [event.kind for event in await store.load_events(task=KEY, after=ids[1], newest=True, limit=1)] == [
                "e5"
            ]
            assert await store.load_events(limit=0) == ()
            assert await store.load_events(after=ids[-1]) == ()

    async def test_what_is_not_json_is_a_bug(self, opened):
        async with opened() as store:
            for data in ({"at": NOW}, {"cost": float("nan")}):
                with pytest.raises(Bug):
                    await store.record_event(replace(an_event(), data=data))
            assert await kinds(store) == []


class TestJournal:
    async def intend(self, store: Store, *, key: str = "merge:1", task: TaskKey | None = KEY) -> int:
        return await store.record_intent(key=key, kind="merge", task=task, run=None, detail="pr 1", at=NOW)

    async def test_intent_then_end(self, opened):
        async with opened() as store:
            first = await self.intend(store)
            second = await self.intend(store, key="push:2", task=None)
            assert [one.id for one in await store.load_effects(open_only=True)] == [first, second]
            await store.settle_effect(first, state="done", detail="merged", at=LATER)
            assert [one.id for one in await store.load_effects(open_only=True)] == [second]
            (effect,) = await store.load_effects(task=KEY)
            assert (effect.id, effect.key, effect.kind, effect.state) == (first, "merge:1", "merge", "done")
            assert (effect.task, effect.run, effect.detail, effect.at) == (KEY, None, "merged", LATER)

    async def test_the_same_effect_may_be_intended_again(self, opened):
        async with opened() as store:
            first = await self.intend(store)
            await store.settle_effect(first, state="refused", detail="moved", at=LATER)
            assert await self.intend(store) > first

    async def test_unknown_may_become_known_and_what_is_known_stays(self, opened):
        async with opened() as store:
            effect = await self.intend(store)
            await store.settle_effect(effect, state="unknown", detail="timed out", at=NOW)
            assert await store.load_effects(open_only=True) == ()
            await store.settle_effect(effect, state="done", detail="seen", at=LATER)
            await store.settle_effect(effect, state="done", detail="seen twice", at=LATER)
            with pytest.raises(Conflict, match="done already"):
                await store.settle_effect(effect, state="refused", detail="", at=LATER)
            assert [(one.state, one.detail) for one in await store.load_effects()] == [("done", "seen")]

    async def test_lost_ones_are_told_by_task_with_the_newest(self, opened):
        async with opened() as store:
            for task, state, at in (
                (KEY, "unknown", NOW),
                (KEY, "unknown", LATER),
                (OTHER, "done", LATER),
                (None, "unknown", NOW),
                (OTHER, "", NOW),
            ):
                effect = await self.intend(store, task=task)
                if state:
                    await store.settle_effect(effect, state=state, detail="", at=at)
            assert await store.load_lost_effects("merge", "push") == {KEY: LATER}
            assert await store.load_lost_effects("push") == await store.load_lost_effects() == {}

    async def test_settling_nothing_is_missing_and_a_wrong_word_a_bug(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.settle_effect(99, state="done", detail="", at=NOW)
            effect = await self.intend(store)
            with pytest.raises(Bug):
                await store.settle_effect(effect, state="intent", detail="", at=NOW)


class TestValues:
    async def test_the_last_one_saved_counts(self, opened):
        async with opened() as store:
            assert await store.find_value("cursor") is None
            await store.save_value("cursor", "1")
            await store.save_value("cursor", "2")
            assert await store.find_value("cursor") == "2"

    async def test_are_found_by_prefix_literally(self, opened):
        async with opened() as store:
            for name in ("pause:b", "pause:a", "Pause:c", "pause_d", "pausé"):
                await store.save_value(name, name)
            assert list((await store.load_values("pause:")).items()) == [("pause:a", "pause:a"), ("pause:b", "pause:b")]
            assert list(await store.load_values("pause_")) == ["pause_d"]
            assert list(await store.load_values("pause%")) == []
            assert len(await store.load_values("")) == 5


class TestValidators:
    ONE = Validator("https://forge/issues", "me", 'W/"1"', "<next>", b'[{"id": 1}]' * 500, NOW)

    async def test_are_kept_for_one_principal_across_restarts(self, opened):
        async with opened() as store:
            await store.save_validators([self.ONE, replace(self.ONE, principal="you", body=b"")])
        async with opened() as store:
            assert await store.find_validator(url=self.ONE.url, principal="me") == self.ONE
            assert await store.find_validator(url=self.ONE.url, principal="you") == replace(
                self.ONE, principal="you", body=b""
            )
            assert await store.find_validator(url=self.ONE.url, principal="them") is None

    async def test_are_replaced(self, opened):
        newer = replace(self.ONE, etag='"2"', body=bytes(range(256)), at=LATER)
        async with opened() as store:
            await store.save_validators([self.ONE])
            await store.save_validators([newer])
            assert await store.find_validator(url=self.ONE.url, principal="me") == newer

    async def test_saving_none_is_nothing(self, opened):
        async with opened() as store:
            await store.save_validators([])


class TestWrites:
    async def test_counts_what_was_committed_and_changed_something(self, opened):
        async with opened() as store:
            counts = [store.writes]
            await store.record_task(a_task(), event=an_event())
            counts.append(store.writes)
            await store.record_event(an_event())
            counts.append(store.writes)
            await store.save_value("cursor", "1")
            counts.append(store.writes)
            await store.update_task(KEY, to(replace(a_task(), pull=3)))
            counts.append(store.writes)
            effect = await store.record_intent(key="k", kind="k", task=None, run=None, detail="", at=NOW)
            counts.append(store.writes)
            await store.settle_effect(effect, state="done", detail="", at=NOW)
            counts.append(store.writes)
            await store.record_route(KEY, ROUTE, at=NOW)
            counts.append(store.writes)
            await store.record_run(a_run(), event=an_event())
            counts.append(store.writes)
            await store.save_run(replace(a_run(), state=RunState.RUNNING))
            counts.append(store.writes)
            assert [after - before for before, after in pairwise(counts)] == [1] * 9

    async def test_stands_when_nothing_was_changed(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            before = store.writes
            await store.load_tasks()
            await store.record_task(a_task(), event=an_event())
            await store.update_task(KEY, to(replace(a_task(), updated_at=LATER)))
            await store.settle_status(KEY)
            await store.clear_cooldowns(agent="claude", model=None, event=an_event())
            await store.save_validators([])
            with pytest.raises(Missing):
                await store.update_task(OTHER, to(a_task(OTHER)), event=an_event())
            assert store.writes == before


class TestHistory:
    async def test_is_cut_at_its_old_end_up_to_the_first_event_that_stays(self, opened):
        async with opened() as store:
            for kind, at in (("old", NOW), ("older", NOW - timedelta(days=1)), ("new", LATER), ("back", NOW)):
                await store.record_event(an_event(kind, at=at))
            assert await store.cut_history(before=LATER, only_count=True) == 2
            assert await kinds(store) == ["old", "older", "new", "back"]
            assert await store.cut_history(before=LATER) == 2
            assert await kinds(store) == ["new", "back"]
            assert await store.cut_history(before=LATER) == 0
            number = await store.record_event(an_event("next"))
            assert number == (await store.load_events())[-1].id > (await store.load_events())[-2].id
            assert await store.cut_history(before=LATER + timedelta(days=9)) == 3
            assert await store.record_event(an_event("first again")) > number

    async def test_settled_lines_of_the_journal_go_with_their_task_and_no_other(self, opened):
        async with opened() as store:
            await store.record_task(a_task(status=Status.DONE), event=an_event(at=LATER))
            await store.record_task(replace(a_task(), key=OTHER), event=an_event(at=LATER))
            for key, state in (
                (KEY, "done"),
                (KEY, "refused"),
                (KEY, "unknown"),
                (KEY, ""),
                (OTHER, "done"),
                (None, "done"),
            ):
                line = await store.record_intent(key=f"x:{state}", kind="x", task=key, run=None, detail="", at=NOW)
                if state:
                    await store.settle_effect(line, state=state, detail="", at=NOW)
            assert await store.cut_history(before=NOW) == 0
            assert await store.cut_history(before=LATER, only_count=True) == 2
            assert await store.cut_history(before=LATER) == 2
            assert [effect.state for effect in await store.load_effects(task=KEY)] == ["unknown", "intent"]
            assert len(await store.load_effects(task=OTHER)) == 1
