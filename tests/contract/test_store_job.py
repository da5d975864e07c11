"""What every store promises of jobs, and of tasks that no issue stands for."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.ids import TaskKey, parse_task_key
from nightcrew.core.lifecycle import Evidence, Status, transition
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask, Pins, TaskKind
from nightcrew.core.model.job import JobRecord, JobRun, JobState
from nightcrew.core.model.run import RunState
from nightcrew.core.model.task import Task
from tests.adapters.store.sample import (
    KEY,
    LATER,
    NOW,
    OTHER,
    a_run,
    a_task,
    an_event,
)
from tests.contract.conftest import kinds


def a_draft(key: TaskKey) -> tuple[Task, InternalTask, Event]:
    internal = InternalTask(key, TaskKind.REPORT, f"mark {key}", "look; --", Pins("claude", "", "simple"), "nightly")
    return a_task(key), internal, an_event("added", task=key)


def a_job_run(hours: float = 0, **fields: Any) -> JobRun:
    at = NOW + timedelta(hours=hours)
    return replace(JobRun(KEY.project, "nightly", at, at, JobState.BEGUN), **fields)


class TestInternalTasks:
    async def test_each_gets_the_next_number_of_its_project(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            keys = [await store.record_internal(slug, a_draft) for slug in (KEY.project, OTHER.project, KEY.project)]
        async with opened() as store:
            assert [str(key) for key in keys] == ["octo/parrot#i1", "octo/heron#i1", "octo/parrot#i2"]
            assert await store.find_task(keys[2]) == a_task(keys[2])
            assert await store.find_internal(keys[2]) == a_draft(keys[2])[1]
            assert await store.find_internal(KEY) is None
            assert (await kinds(store)).count("added") == 3
            assert await store.record_internal(KEY.project, a_draft) == parse_task_key("octo/parrot#i3")

    async def test_a_mark_is_there_once(self, opened):
        async with opened() as store:
            key = await store.record_internal(KEY.project, a_draft)
            mark = a_draft(key)[1].mark

            def same(own: TaskKey):
                task, internal, event = a_draft(own)
                return task, replace(internal, mark=mark), event

            with pytest.raises(Conflict):
                await store.record_internal(KEY.project, same)
            assert await store.find_task(replace(key, number=key.number + 1)) is None

    async def test_another_task_is_changed_with_it_or_neither(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            key = await store.record_internal(
                KEY.project, a_draft, beside=lambda own: (KEY, lambda task: replace(task, cycles=own.number % 10))
            )
            assert (await store.find_task(KEY)).cycles == key.number % 10
            nowhere = TaskKey(KEY.project, 4711)
            with pytest.raises(Missing):
                await store.record_internal(KEY.project, a_draft, beside=lambda _: (nowhere, lambda task: task))
            assert len(await store.load_internals()) == 1

    async def test_a_change_is_kept_with_its_event_and_counts_as_a_write(self, opened):
        async with opened() as store:
            key = await store.record_internal(KEY.project, a_draft)
            before = store.writes
            await store.change_internal(key, lambda one: one)
            assert store.writes == before
            await store.change_internal(key, lambda one: replace(one, result="r", is_closed=True, issue=7))
            assert store.writes > before
            await store.change_internal(key, lambda one: replace(one, pins=Pins()), event=an_event("pinned", task=key))
            with pytest.raises(Missing):
                await store.change_internal(KEY, lambda one: one)
        async with opened() as store:
            changed = replace(a_draft(key)[1], result="r", is_closed=True, issue=7, pins=Pins())
            assert await store.find_internal(key) == changed
            assert "pinned" in await kinds(store)

    async def test_those_that_are_over_are_left_out_unless_something_runs(self, opened):
        end = transition(Status.NEW, Status.DONE, Evidence.FINISHED)
        async with opened() as store:
            key = await store.record_internal(KEY.project, a_draft)
            run = a_run(key=key)
            await store.record_run(run, event=an_event("run", task=key))
            await store.change_status(key, end, event=an_event("done", task=key))
            assert set(await store.load_internals()) == {key}
            await store.settle_status(key)
            assert set(await store.load_internals()) == {key}
            await store.save_run(replace(run, state=RunState.ENDED))
            assert not await store.load_internals()


class TestJobs:
    async def test_a_due_time_is_recorded_once_whatever_is_said_of_it(self, opened):
        async with opened() as store:
            before = store.writes
            assert await store.record_job_run(a_job_run(), event=an_event("due")) == a_job_run()
            assert store.writes > before
            again = a_job_run(state=JobState.SKIPPED, began_at=LATER)
            assert await store.record_job_run(again, event=an_event("again"), draft=a_draft) is None
            assert await store.load_internals() == {}
        async with opened() as store:
            assert await store.load_job_runs() == (a_job_run(),)
            assert await kinds(store) == ["due"]

    async def test_its_task_is_recorded_with_it(self, opened):
        async with opened() as store:
            run = await store.record_job_run(a_job_run(), event=an_event("due"), draft=a_draft)
            assert run is not None
            assert run.task == parse_task_key("octo/parrot#i1")
            assert await store.find_task(run.task) == a_task(run.task)
            assert await store.find_job_run(KEY.project, "nightly", NOW) == run
            assert await store.find_job_run(KEY.project, "nightly", LATER) is None

    async def test_what_came_of_it_is_kept(self, opened):
        ended = a_job_run(
            state=JobState.FAILED,
            is_late=True,
            by_hand=True,
            task=KEY,
            words="oh",
            exit_code=-9,
            log="l",
            ended_at=LATER,
        )
        async with opened() as store:
            await store.record_job_run(a_job_run(), event=an_event("due"))
            await store.save_job_run(ended, event=an_event("ended"))
            with pytest.raises(Missing):
                await store.save_job_run(replace(ended, due_at=LATER), event=an_event("ended"))
        async with opened() as store:
            assert await store.load_job_runs(project=KEY.project, name="nightly") == (ended,)
            assert await store.load_job_runs(project=OTHER.project) == ()

    async def test_the_last_of_each_are_those_recorded_last_by_due_time(self, opened):
        async with opened() as store:
            for hours in (9_000, 1, 2, 3):  # the first under a clock that ran ahead
                await store.record_job_run(a_job_run(hours), event=an_event("due"))
                await store.record_job_run(a_job_run(hours, job="other"), event=an_event("due"))
            found = await store.load_job_runs(each=2)
            assert [(run.job, run.due_at) for run in found] == [
                (name, NOW + timedelta(hours=hours)) for hours in (3, 2) for name in ("nightly", "other")
            ]
            first, *_ = await store.load_job_runs(name="other", each=9)
            assert first.due_at == NOW + timedelta(hours=9_000)

    async def test_the_last_that_was_not_skipped_is_found_behind_many_that_were(self, opened):
        async with opened() as store:
            for hours in (1, 2):
                await store.record_job_run(a_job_run(hours), event=an_event("due"))
            for hours in range(3, 40):
                await store.record_job_run(a_job_run(hours, state=JobState.SKIPPED), event=an_event("due"))
            (last,) = await store.load_job_runs(started=True, each=1)
            assert last == a_job_run(2)
            assert len(await store.load_job_runs(started=True)) == 2

    async def test_a_schedule_and_a_switch_do_not_touch_each_other(self, opened):
        async with opened() as store:
            await store.note_job("a/b", "nightly", mark="0 0 * * * UTC", at=NOW)
            await store.switch_job("a/b", "nightly", enabled=False, event=an_event("off"))
            await store.note_job("a/b", "nightly", mark="1 0 * * * UTC", at=LATER)
            await store.switch_job("a/b", "new", enabled=True, event=an_event("on"))
        async with opened() as store:
            assert await store.load_job_records() == (
                JobRecord("a/b", "new", "", NOW, enabled=True),
                JobRecord("a/b", "nightly", "1 0 * * * UTC", LATER, enabled=False),
            )
