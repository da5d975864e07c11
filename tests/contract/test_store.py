"""What every store promises: run over the one in memory and the one on SQLite."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nightcrew.core.command import Command, SettledCommand, Settlement, Verb
from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import InquiryId, RunId, Sha, TaskKey, parse_task_key
from nightcrew.core.lifecycle import Edge, Evidence, Status, transition
from nightcrew.core.model.board import Card
from nightcrew.core.model.build import Build, BuildState, Member
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry, InquiryState, Origin, Try
from nightcrew.core.model.internal import InternalTask, Pins, TaskKind
from nightcrew.core.model.job import JobRecord, JobRun, JobState
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.reaction import Reaction, ReactionKey, ReactionKind
from nightcrew.core.model.report import (
    AuthorReport,
    Decision,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
)
from nightcrew.core.model.rerun import Flake, Rerun, RerunState
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Interruption, InterruptionKind, Role, RunOutcome, RunState, Stop, StopCause
from nightcrew.core.model.task import Block, Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.ports.store import Store, Validator
from nightcrew.store import SqliteStore
from tests.adapters.store.sample import (
    KEY,
    LATER,
    NOW,
    OTHER,
    ROUTE,
    SHA,
    FixedClock,
    a_run,
    a_task,
    a_verdict,
    an_event,
    to,
)
from tests.fakes.store import MemoryStore

Opened = Callable[[], AbstractAsyncContextManager[Store]]


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens a store; opened again, it is the same one with what was kept in it."""
    memory = MemoryStore()

    @asynccontextmanager
    async def open_one() -> AsyncIterator[Store]:
        if request.param == "memory":
            yield memory
        else:
            async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
                yield store

    return open_one


async def kinds(store: Store) -> list[str]:
    return [event.kind for event in await store.load_events()]


def a_command(comment: int = 7, place: int = 0, **fields: Any) -> SettledCommand:
    given = Command(Verb.BLOCK, "the 'design'; --")
    plain = SettledCommand(KEY, given, comment, place, "ada", NOW, Settlement.DONE, "done", LATER)
    return replace(plain, **fields)


def a_draft(key: TaskKey) -> tuple[Task, InternalTask, Event]:
    internal = InternalTask(key, TaskKind.REPORT, f"mark {key}", "look; --", Pins("claude", "", "simple"), "nightly")
    return a_task(key), internal, an_event("added", task=key)


class TestMemory:
    async def test_what_author_runs_learned_is_there_until_it_is_forgotten(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            for number, text in enumerate(("tabs matter", "", "use -j 1"), 1):
                run = replace(a_run(), id=RunId(f"r{number}"), attempt=number)
                await store.record_run(run, event=an_event("run"))
                report = AuthorReport(ReportedOutcome.DONE, "did it", learned=text)
                ended = replace(run, state=RunState.ENDED, ended_at=LATER, outcome=RunOutcome(report, None))
                await store.save_run(ended)
        async with opened() as store:
            assert [one.text for one in await store.load_memories(project=KEY.project)] == ["tabs matter", "use -j 1"]
            assert [one.text for one in await store.load_memories(limit=1)] == ["use -j 1"]
            assert await store.load_memories(project=OTHER.project) == ()
            first = (await store.load_memories())[0]
            assert (first.run, first.task, first.title, first.at) == ("r1", KEY, a_task().title, LATER)
            await store.forget_memory(RunId("r1"))
            with pytest.raises(Missing):
                await store.forget_memory(RunId("none"))
        async with opened() as store:
            assert [one.text for one in await store.load_memories()] == ["use -j 1"]


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


def a_job_run(hours: float = 0, **fields: Any) -> JobRun:
    at = NOW + timedelta(hours=hours)
    return replace(JobRun(KEY.project, "nightly", at, at, JobState.BEGUN), **fields)


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


class TestReactions:
    async def test_sending_is_counted_by_head_and_kind_and_anew_after_a_reset(self, opened):
        key = ReactionKey(9, SHA, ReactionKind.CI_FAILED)
        other = replace(key, kind=ReactionKind.CHANGES_REQUESTED)
        edge = transition(Status.NEEDS_REVIEW, Status.ROUTED, Evidence.CHANGES_REQUESTED)
        async with opened() as store:
            await store.record_task(a_task(status=Status.NEEDS_REVIEW), event=an_event("task"))
            before = store.writes
            await store.note_reaction(KEY, key, is_told=False, event=an_event("seen"))
            assert store.writes > before
            await store.change_status(KEY, edge, event=an_event("sent", at=LATER), sent=(key, other))
        async with opened() as store:
            assert (await store.load_reactions())[KEY] == (
                Reaction(key, NOW, sent=1, sent_at=LATER),
                Reaction(other, LATER, sent=1, sent_at=LATER),
            )
            with pytest.raises(Conflict):
                await store.change_status(KEY, edge, event=an_event("again"), sent=(key,))
            assert (await store.load_reactions())[KEY][0].sent == 1

    async def test_a_person_is_told_once_and_the_first_times_stay(self, opened):
        key = ReactionKey(9, SHA, ReactionKind.CHANGES_REQUESTED)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            await store.note_reaction(KEY, key, is_told=False, event=an_event("seen"))
            for at in (LATER, LATER + timedelta(days=1)):
                await store.note_reaction(KEY, key, is_told=True, event=an_event("told", at=at))
            assert (await store.load_reactions())[KEY] == (Reaction(key, NOW, told_at=LATER),)
            with pytest.raises(Missing):
                await store.note_reaction(OTHER, key, is_told=True, event=an_event("told"))

    async def test_what_a_run_was_given_is_recorded_once(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            run = a_run()
            await store.record_run(run, event=an_event("run"))
            assert await store.record_delivery(KEY, run.id, ("remark:1", "review:2"), at=NOW)
            assert not await store.record_delivery(KEY, run.id, ("remark:3",), at=LATER)
        async with opened() as store:
            assert await store.load_deliveries() == {KEY: frozenset({"remark:1", "review:2"})}


class TestCommands:
    async def test_is_kept_once_by_comment_and_place(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            await store.record_command(a_command(), event=an_event("one"))
            with pytest.raises(Conflict):
                await store.record_command(a_command(settlement=Settlement.REFUSED), event=an_event("again"))
            second = a_command(place=1, given=Command(Verb.AGENT, "codex"), settlement=Settlement.IGNORED)
            await store.record_command(second, event=an_event("two"))
        async with opened() as store:
            assert await store.load_commands() == (a_command(), second)
            assert await store.load_commands(limit=1) == (second,)
            assert await kinds(store) == ["task", "one", "two"]

    async def test_is_settled_in_the_transaction_of_its_move_or_neither_is(self, opened):
        move = transition(Status.NEW, Status.BLOCKED, Evidence.PERSON)
        back = transition(Status.BLOCKED, Status.NEW, Evidence.PERSON)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            await store.change_status(KEY, move, event=an_event("moved"), command=a_command())
            assert await store.load_commands() == (a_command(),)
            before = await store.find_task(KEY)
            with pytest.raises(Conflict):
                change = to(replace(a_task(), pull=9))
                await store.change_status(KEY, back, event=an_event("back"), change=change, command=a_command())
            assert await store.find_task(KEY) == before
            with pytest.raises(Conflict):
                await store.change_status(KEY, move, event=an_event("again"), command=a_command(place=1))
            assert await store.load_commands() == (a_command(),)
            assert await kinds(store) == ["task", "moved"]

    async def test_may_be_about_a_pull_request_that_is_no_task(self, opened):
        async with opened() as store:
            await store.record_command(a_command(given=Command(Verb.REVIEW, "again")), event=an_event())
            assert await store.load_commands() == (a_command(given=Command(Verb.REVIEW, "again")),)


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


class TestRuns:
    async def test_is_recorded_once_for_a_role_and_attempt(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            assert await store.record_run(a_run(), event=an_event("run"))
            again = replace(a_run(), id=RunId("01OTHER"), agent="codex")
            assert not await store.record_run(again, event=an_event("again"))
            assert await store.find_run(a_run().id) == a_run()
            assert await store.find_run(RunId("01OTHER")) is None
            assert await kinds(store) == ["task", "run"]

    async def test_one_open_author_a_task(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_task(a_task(OTHER), event=an_event())
            await store.record_run(a_run(1), event=an_event())
            with pytest.raises(Conflict, match=a_run(1).id):
                await store.record_run(a_run(2), event=an_event())
            assert await store.record_run(a_run(1, role=Role.REVIEWER), event=an_event())
            assert await store.record_run(a_run(1, key=OTHER), event=an_event())
            await store.save_run(replace(a_run(1), state=RunState.ENDED))
            assert await store.record_run(a_run(2), event=an_event())

    async def test_of_no_task_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.record_run(a_run(), event=an_event())

    async def test_two_of_one_id_are_a_bug(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
            with pytest.raises(Bug):
                await store.record_run(replace(a_run(2, role=Role.ROUTER), id=a_run().id), event=an_event())

    async def test_save_replaces_how_it_goes_and_nothing_else(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
            failure = Failure(FailureKind.USAGE_WINDOW, "come back", retry_at=LATER)
            ended = replace(
                a_run(),
                state=RunState.ENDED,
                started_at=NOW,
                ended_at=LATER,
                head_sha=SHA,
                agent_session="abc",
                outcome=RunOutcome(report=None, failure=failure),
                began_s=12.5,
                stop=Stop(StopCause.SILENT, "not a word"),
            )
            await store.save_run(replace(ended, agent="codex", folder="elsewhere"), event=an_event("ended"))
            assert await store.find_run(ended.id) == ended
            assert (await kinds(store))[-1] == "ended"

    async def test_what_it_resumes_and_how_it_was_interrupted_is_kept(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            run = replace(a_run(), resumes="cli-session-7")
            await store.record_run(run, event=an_event())
            interruption = Interruption(InterruptionKind.LOST, "the machine was restarted")
            outcome = RunOutcome(None, None, interruption=interruption, can_resume=True)
            ended = replace(run, state=RunState.ENDED, outcome=outcome)
            await store.save_run(ended)
            assert await store.find_run(run.id) == ended

    async def test_they_are_counted_by_how_they_ended(self, opened):
        author = AuthorReport(ReportedOutcome.DONE, "x")
        ends = [
            RunOutcome(author, None),
            RunOutcome(ReviewReport(Decision.APPROVE, "x"), None),
            RunOutcome(author, Failure(FailureKind.HANG, "x")),
            RunOutcome(None, None, interruption=Interruption(InterruptionKind.LOST, "x")),
            RunOutcome(RouterReport(Complexity.SIMPLE), None),
            None,
        ]
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
            for number, outcome in enumerate(ends):
                run = replace(
                    a_run(), id=RunId(f"R{number}"), attempt=number + 10, state=RunState.ENDED, role=Role.REVIEWER
                )
                await store.record_run(replace(run, outcome=outcome), event=an_event())
            counted = await store.count_runs()
        agent = a_run().agent
        ways = {"done": 1, "approve": 1, "hang": 1, "lost": 1, "reported": 2}
        assert counted == {(agent, "reviewer", way): count for way, count in ways.items()}

    async def test_what_ended_does_not_open_again(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            ended = replace(a_run(), state=RunState.ENDED, outcome=RunOutcome(None, Failure(FailureKind.HANG, "")))
            await store.record_run(ended, event=an_event())
            with pytest.raises(Conflict):
                await store.save_run(replace(a_run(), state=RunState.RUNNING), event=an_event("late"))
            assert await store.find_run(ended.id) == ended
            assert "late" not in await kinds(store)

    async def test_save_of_none_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.save_run(a_run())

    async def test_are_loaded_as_recorded_whatever_the_clock_said_and_limited_to_the_last(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_task(a_task(OTHER), event=an_event())
            for n in (3, 1, 2):
                state = RunState.RUNNING if n == 2 else RunState.ENDED
                await store.record_run(a_run(n, state=state), event=an_event())
            await store.record_run(a_run(9, key=OTHER, role=Role.ROUTER), event=an_event())
            assert [run.attempt for run in await store.load_runs()] == [3, 1, 2, 9]
            assert [run.attempt for run in await store.load_runs(limit=2)] == [2, 9]
            assert [run.attempt for run in await store.load_runs(limit=0)] == []
            assert [run.attempt for run in await store.load_runs(task=KEY)] == [3, 1, 2]
            assert [run.attempt for run in await store.load_runs(open_only=True)] == [2, 9]
            assert [run.attempt for run in await store.load_runs(task=KEY, open_only=True)] == [2]


class TestRoutes:
    async def test_the_last_one_recorded_is_the_tasks(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_route(KEY, replace(ROUTE, agent="codex"), at=NOW)
            await store.record_route(KEY, ROUTE, at=LATER)
            assert await store.find_task(KEY) == replace(a_task(), route=ROUTE, updated_at=LATER)

    async def test_of_no_task_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.record_route(KEY, ROUTE, at=NOW)


class TestVerdicts:
    async def test_one_a_run_and_its_review_is_known_by_id(self, opened):
        run = a_run(role=Role.REVIEWER)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(run, event=an_event())
            assert await store.record_verdict(a_verdict(run), event=an_event("verdict"))
            second = a_verdict(run, decision=Decision.REQUEST_CHANGES)
            assert not await store.record_verdict(second, event=an_event("again"))
            assert await store.load_verdicts(task=KEY) == (a_verdict(run),)
            assert await store.load_review_ids(KEY) == frozenset()
            await store.mark_verdict_posted(
                run.id, head_sha=a_verdict(run).head_sha, review_id=77, event=an_event("posted")
            )
            assert await store.load_verdicts() == (replace(a_verdict(run), posted=True),)
            assert await store.load_verdicts(task=OTHER) == ()
            assert await store.load_review_ids(KEY) == frozenset({77})
            assert await store.load_review_ids(OTHER) == frozenset()
            assert (await kinds(store))[-2:] == ["verdict", "posted"]

    async def test_one_that_is_carried_over_stands_beside_the_one_that_was_given(self, opened):
        run = a_run(role=Role.REVIEWER)
        given = a_verdict(run)
        carried = replace(given, head_sha=Sha("c" * 40), carried_from=given.head_sha)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(run, event=an_event())
            for verdict in (given, carried):
                assert await store.record_verdict(verdict, event=an_event())
            await store.mark_verdict_posted(run.id, head_sha=carried.head_sha, review_id=78, event=an_event("posted"))
            assert await store.load_verdicts(task=KEY) == (given, replace(carried, posted=True))
            assert await store.load_review_ids(KEY) == frozenset({78})

    async def test_one_may_come_to_hold_for_another_base(self, opened):
        run = a_run(role=Role.REVIEWER)
        given = a_verdict(run)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(run, event=an_event())
            await store.record_verdict(given, event=an_event())
            await store.retarget_verdict(run.id, head_sha=given.head_sha, base_ref="next", event=an_event("kept"))
            assert await store.load_verdicts() == (replace(given, base_ref="next"),)
            assert (await kinds(store))[-1] == "kept"
            with pytest.raises(Missing):
                await store.retarget_verdict(run.id, head_sha=Sha("c" * 40), base_ref="next", event=an_event())

    async def test_are_loaded_as_recorded_whatever_the_clock_said(self, opened):
        runs = [a_run(n, role=Role.REVIEWER) for n in (2, 1)]
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            for run in runs:
                await store.record_run(run, event=an_event())
                await store.record_verdict(a_verdict(run), event=an_event())
            assert [verdict.run for verdict in await store.load_verdicts(task=KEY)] == [runs[0].id, runs[1].id]

    async def test_of_no_run_is_missing(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            with pytest.raises(Missing):
                await store.record_verdict(a_verdict(a_run()), event=an_event())
            with pytest.raises(Missing):
                await store.mark_verdict_posted(
                    a_run().id, head_sha=a_verdict(a_run()).head_sha, review_id=1, event=an_event("posted")
                )
            assert "posted" not in await kinds(store)


class TestCooldowns:
    WHOLE = Cooldown("claude", None, FailureKind.AUTH, LATER, 1, "log in")
    DEFAULT = Cooldown("claude", "", FailureKind.OVERLOADED, LATER, 1, "busy")
    MODEL = Cooldown("claude", "deep", FailureKind.RATE_LIMIT, LATER, 2, "too many")

    async def test_each_agent_model_and_kind_has_one(self, opened):
        async with opened() as store:
            for one in (self.MODEL, self.WHOLE, self.DEFAULT, replace(self.MODEL, kind=FailureKind.HANG)):
                await store.save_cooldown(one, event=an_event("cooled"))
            again = replace(self.MODEL, count=3, until_at=LATER + timedelta(hours=1), why="still")
            await store.save_cooldown(again, event=an_event("cooled"))
            found = await store.load_cooldowns()
            assert found == (self.WHOLE, self.DEFAULT, replace(self.MODEL, kind=FailureKind.HANG), again)
            assert await kinds(store) == ["cooled"] * 5

    @pytest.mark.case("C123")
    async def test_clearing_the_whole_agent_leaves_its_models(self, opened):
        async with opened() as store:
            for one in (self.WHOLE, self.DEFAULT, self.MODEL):
                await store.save_cooldown(one, event=an_event("cooled"))
            assert await store.clear_cooldowns(agent="claude", model=None, event=an_event("cleared")) == 1
            assert await store.load_cooldowns() == (self.DEFAULT, self.MODEL)
            assert await store.clear_cooldowns(agent="claude", model="deep", event=an_event("cleared")) == 1
            assert await store.load_cooldowns() == (self.DEFAULT,)

    async def test_clearing_nothing_is_no_event(self, opened):
        async with opened() as store:
            assert await store.clear_cooldowns(agent="claude", model=None, event=an_event()) == 0
            assert await kinds(store) == []

    @pytest.mark.case("C137")
    async def test_survive_a_restart_with_their_reasons(self, opened):
        async with opened() as store:
            await store.save_cooldown(self.MODEL, event=an_event())
        async with opened() as store:
            assert await store.load_cooldowns() == (self.MODEL,)

    async def test_its_notice_is_kept_only_where_there_was_no_such_row(self, opened):
        one = Notice("", "agent_needs_person", Priority.ACTION, "It needs you.", NOW)
        async with opened() as store:
            await store.save_cooldown(self.MODEL, event=an_event(), notice=one)
            await store.save_cooldown(self.MODEL, event=an_event(), notice=one)
            assert [notice.words for notice in await store.load_notices()] == ["It needs you."]
            await store.save_cooldown(self.DEFAULT, event=an_event(), notice=one)
            (_, second) = await store.load_notices()
        assert (second.project, second.task) == ("", None)

    async def test_what_it_is_counted_by_comes_back(self, opened):
        counted = replace(self.MODEL, since_at=NOW, successes=2, run=RunId("01R"))
        async with opened() as store:
            await store.save_cooldown(self.MODEL)
            await store.save_cooldown(counted)
            assert await kinds(store) == []
        async with opened() as store:
            assert await store.load_cooldowns() == (counted,)

    async def test_one_kind_is_cleared_by_itself(self, opened):
        other = replace(self.MODEL, kind=FailureKind.HANG)
        async with opened() as store:
            for one in (self.MODEL, other):
                await store.save_cooldown(one, event=an_event("cooled"))
            hang = FailureKind.HANG
            assert await store.clear_cooldowns(agent="claude", model="deep", kind=hang, event=an_event("cleared")) == 1
            assert await store.clear_cooldowns(agent="claude", model="deep", kind=hang, event=an_event("again")) == 0
            assert await store.load_cooldowns() == (self.MODEL,)
            assert await kinds(store) == ["cooled", "cooled", "cleared"]


class TestReruns:
    ROW = Rerun(9, SHA, "build", "check_run:ci", "1 red", NOW, tests=("test_a", "test_b"))

    async def test_a_check_is_on_record_once_a_head_with_what_became_of_it(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("adopted"))
            await store.record_reruns(KEY, [self.ROW], event=an_event("wanted"))
            await store.record_reruns(KEY, [replace(self.ROW, mark="2")], event=an_event("again"))
            assert (await store.load_reruns())[KEY] == (self.ROW,)
            event = replace(an_event("asked"), at=LATER)
            await store.settle_reruns(KEY, [self.ROW], state=RerunState.REFUSED, why="no permission", event=event)
        async with opened() as store:
            refused = replace(self.ROW, state=RerunState.REFUSED, why="no permission", at=LATER)
            assert (await store.load_reruns())[KEY] == (refused,)
            assert await kinds(store) == ["adopted", "wanted", "again", "asked"]
            assert await store.load_flakes() == ()

    async def test_what_passed_is_flaky_by_check_and_test(self, opened):
        other = replace(self.ROW, pull=10, tests=("test_b",))
        bare = replace(self.ROW, check="lint", tests=())
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("adopted"))
            for row, at in ((self.ROW, NOW), (other, LATER), (bare, NOW)):
                await store.record_reruns(KEY, [row], event=an_event("wanted"))
                event = replace(an_event("passed"), at=at)
                await store.settle_reruns(KEY, [row], state=RerunState.PASSED, why="", event=event)
            project = KEY.project
            assert await store.load_flakes(project=project) == (
                Flake(project, "build", "test_b", 2, NOW, LATER),
                Flake(project, "build", "test_a", 1, NOW, NOW),
                Flake(project, "lint", "", 1, NOW, NOW),
            )
            assert len(await store.load_flakes(limit=1)) == 1
            assert await store.load_flakes(project="no/such") == ()


class TestNotices:
    async def test_each_receiver_is_given_each_notice_once(self, opened):
        one = Notice(KEY.project, "blocked", Priority.ACTION, "It waits for you.", NOW, KEY)
        two = Notice(KEY.project, "all_complete", Priority.INFO, "All is done.", LATER)
        async with opened() as store:
            assert await store.record_notice(one)
            assert await store.record_notice(two, event=an_event("told"))
            first, second = await store.load_notices()
            assert (replace(first, id=0), replace(second, id=0)) == (one, two)
            assert 0 < first.id < second.id
            assert await kinds(store) == ["told"]
            await store.record_notices_delivered([first.id, 999], receiver="telegram:12", at=LATER)
            await store.record_notices_delivered([first.id], receiver="telegram:12", at=LATER)
        async with opened() as store:
            assert await store.load_notices(undelivered_to="telegram:12") == (second,)
            assert await store.load_notices(undelivered_to="desktop") == (first, second)
            assert await store.load_notices(after=first.id) == (second,)
            assert await store.load_notices(limit=1) == (first,)
            assert await store.load_notices(limit=1, newest=True) == (second,)
        async with opened() as store:
            await store.record_notice(replace(one, priority=Priority.URGENT))
            left = await store.load_notices(undelivered_to="desktop", limit=2)
            assert [notice.priority for notice in left] == [Priority.ACTION, Priority.URGENT]

    async def test_what_bears_a_mark_is_kept_once(self, opened):
        one = Notice(KEY.project, "ci_failed", Priority.WARNING, "Red.", NOW, KEY, mark="ci_failed:a/b#1:2:abc")
        async with opened() as store:
            assert await store.record_notice(one)
            before = store.writes
            assert not await store.record_notice(replace(one, words="Red again."), event=an_event("told"))
            assert [notice.words for notice in await store.load_notices()] == ["Red."]
            assert await kinds(store) == []
            assert store.writes == before

    async def test_it_is_written_with_the_change_that_it_tells_of_or_not_at_all(self, opened):
        notice = Notice(KEY.project, "blocked", Priority.ACTION, "It waits for you.", NOW, KEY)
        step = transition(Status.NEW, Status.BLOCKED, Evidence.NEEDS_PERSON)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("adopted"))
            await store.change_status(KEY, step, event=an_event("moved"), notice=notice)
            with pytest.raises(Conflict):
                await store.change_status(KEY, step, event=an_event("moved"), notice=notice)
            assert len(await store.load_notices()) == 1


class TestUnknownFailures:
    ONE = UnknownFailure("claude", 1, "Odd thing 17 in /tmp/x1", NOW, NOW, RunId("01A"))

    async def test_texts_of_one_shape_are_one_row(self, opened):
        again = replace(self.ONE, text="Odd thing 18 in /tmp/y2", first_at=LATER, last_at=LATER, run=RunId("01B"))
        async with opened() as store:
            await store.record_unknown_failure(self.ONE)
            await store.record_unknown_failure(self.ONE)
            assert await store.load_unknown_failures() == (self.ONE,)
            await store.record_unknown_failure(again)
        async with opened() as store:
            assert await store.load_unknown_failures() == (replace(again, first_at=NOW, count=2),)

    async def test_agents_and_exit_codes_are_kept_apart(self, opened):
        async with opened() as store:
            for one in (self.ONE, replace(self.ONE, exit_code=2), replace(self.ONE, agent="codex")):
                await store.record_unknown_failure(one)
            found = await store.load_unknown_failures()
            assert [(one.agent, one.exit_code) for one in found] == [("claude", 1), ("claude", 2), ("codex", 1)]

    async def test_the_oldest_go_when_there_are_too_many(self, opened):
        async with opened() as store:
            for number in range(205):
                at = NOW + timedelta(minutes=number)
                words = "".join(chr(ord("a") + int(digit)) for digit in str(number))
                await store.record_unknown_failure(replace(self.ONE, text=words, first_at=at, last_at=at))
            found = await store.load_unknown_failures()
            assert len(found) == 200
            assert (found[0].text, found[-1].text) == ("cae", "f")


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


async def test_cards_are_kept_by_task_and_board_with_what_happened(opened: Opened):
    card = Card(KEY, "ada/7", "I1", Status.NEW, "c1")
    async with opened() as store:
        with pytest.raises(Missing):
            await store.save_cards([card])
        await store.record_task(a_task(), event=an_event())
        await store.save_cards([card, replace(card, board="ada/8")], happened=[an_event(kind="board.moved")])
        moved = replace(card, status=Status.DONE, column="c2", settled=True, left="-", gone=True)
        await store.save_cards([moved])
    async with opened() as store:
        assert await store.load_cards() == (moved, replace(card, board="ada/8"))
        assert (await kinds(store)).count("board.moved") == 1


class TestBuilds:
    def build(self, **fields: Any) -> Build:
        members = (Member(42, 7, SHA, Sha("b" * 40)), Member(43, 8, SHA, Sha("c" * 40)))
        plain = Build(KEY.project, "main", Sha("a" * 40), MergeMethod.SQUASH, members, NOW, left_out=(9,))
        return replace(plain, **fields)

    async def test_are_kept_as_they_are(self, opened):
        async with opened() as store:
            made = await store.record_build(self.build(), event=an_event())
            assert await store.load_builds() == (self.build(id=made),)
        async with opened() as store:
            assert await store.load_builds() == (self.build(id=made),)

    async def test_one_is_open_for_a_base_until_it_ends(self, opened):
        async with opened() as store:
            made = await store.record_build(self.build(), event=an_event())
            with pytest.raises(Conflict):
                await store.record_build(self.build(base_sha=SHA), event=an_event())
            other = await store.record_build(self.build(base_ref="release"), event=an_event())
            assert await store.end_build(made, state=BuildState.RED, why="checks failed", told=(an_event(),))
            again = await store.record_build(self.build(), event=an_event())
            found = await store.load_builds()
            assert [build.id for build in found] == [made, other, again]
            assert (found[0].state, found[0].why, found[0].ended_at) == (BuildState.RED, "checks failed", NOW)
            assert [build.id for build in await store.load_builds(limit=2)] == [other, again]

    async def test_ends_once(self, opened):
        async with opened() as store:
            made = await store.record_build(self.build(), event=an_event())
            assert await store.end_build(made, state=BuildState.LANDED, why="", told=(an_event(), an_event()))
            before = len(await store.load_events())
            assert not await store.end_build(made, state=BuildState.DROPPED, why="no", told=(an_event(),))
            assert len(await store.load_events()) == before == 3
            assert (await store.load_builds())[0].state is BuildState.LANDED
            with pytest.raises(Missing):
                await store.end_build(made + 1, state=BuildState.RED, why="", told=(an_event(),))


def an_inquiry(number: int = 1, **fields: Any) -> Inquiry:
    name = InquiryId(f"01Q{number:04d}")
    asked_at = NOW + timedelta(minutes=number)
    return Inquiry(name, fields.pop("talk", "talk"), "Why?", asked_at, **fields)


class TestInquiries:
    async def test_what_is_asked_is_kept_whole_over_a_restart(self, opened):
        failed = Try(1, "ann", "", "s", NOW, 300.0, NOW, 1.5, LATER, Failure(FailureKind.AUTH, "401", LATER))
        whole = an_inquiry(
            project=KEY.project, task=KEY, agent="ann", origin=Origin("telegram", "7/2", "9"), tries=(failed,),
            answer="So.", orders=("/pause",), kind="auth", failure="401", is_cancelled=True, ended_at=LATER,
            state=InquiryState.FAILED,
        )  # fmt: skip
        async with opened() as store:
            await store.record_inquiry(whole, event=an_event("asked"))
        async with opened() as store:
            assert await store.find_inquiry(whole.id) == whole
            assert await store.find_inquiry(InquiryId("other")) is None
            assert [event.kind for event in await store.load_events()] == ["asked"]

    async def test_a_change_is_made_to_what_is_stored_with_its_event(self, opened):
        async with opened() as store:
            await store.record_inquiry(an_inquiry(), event=an_event("asked"))
            changed = await store.change_inquiry(
                an_inquiry().id, lambda stored: replace(stored, is_cancelled=True), event=an_event("cancelled")
            )
            assert changed == await store.find_inquiry(changed.id) == an_inquiry(is_cancelled=True)
            with pytest.raises(Missing):
                await store.change_inquiry(InquiryId("other"), lambda stored: stored, event=an_event("other"))
            assert [event.kind for event in await store.load_events()] == ["asked", "cancelled"]

    async def test_they_are_found_by_talk_by_being_open_and_by_what_was_not_told(self, opened):
        over = {"state": InquiryState.ANSWERED, "ended_at": LATER}
        async with opened() as store:
            for one in (
                an_inquiry(3, origin=Origin("discord", "1", "2")),
                an_inquiry(1, talk="other"),
                an_inquiry(2, **over, origin=Origin("telegram", "1", "2")),
            ):
                await store.record_inquiry(one, event=an_event("asked"))

            async def names(**fields: Any) -> list[str]:
                return [one.id[-1] for one in await store.load_inquiries(**fields)]

            assert await names() == ["1", "2", "3"]
            assert await names(limit=2) == ["2", "3"]
            assert await names(talk="talk") == ["2", "3"]
            assert await names(open_only=True) == ["1", "3"]
            assert await names(untold_in="telegram") == ["2"]
            assert await names(untold_in="") == []
            await store.note_told(InquiryId("01Q0002"), at=LATER)
            assert await names(untold_in="telegram") == []

    async def test_those_that_are_over_are_forgotten_at_some_time_and_no_open_one_is(self, opened):
        async with opened() as store:
            await store.record_inquiry(an_inquiry(0), event=an_event("asked"))
            for number in range(1, 1003):
                over = an_inquiry(number, state=InquiryState.ANSWERED, ended_at=LATER)
                await store.record_inquiry(over, event=an_event("asked"))
            kept = await store.load_inquiries(limit=2000)
            assert (kept[0].id, kept[1].id, len(kept)) == ("01Q0000", "01Q0003", 1001)
