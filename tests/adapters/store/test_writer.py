"""Transactions are whole: whatever is cancelled, killed or locked, and whoever reads in between."""

import asyncio
import random
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiosqlite import Connection

from nightcrew.core.errors import Bug, Invalid, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Evidence, Status, transition
from nightcrew.process import clean_environment, run_process
from nightcrew.store import SqliteStore
from nightcrew.store import event as events
from nightcrew.store.database import connection_for_writing
from nightcrew.store.writer import Writer, writing
from tests.adapters.store.sample import KEY, FixedClock, a_run, a_task, an_event, to
from tests.waiting import eventually

ROUTED = transition(Status.NEW, Status.ROUTED, Evidence.ROUTE)
BACK = transition(Status.ROUTED, Status.NEW, Evidence.PERSON)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "nightcrew.db"


@asynccontextmanager
async def opened(path: Path, *, lock_timeout_s: float = 30.0) -> AsyncIterator[SqliteStore]:
    async with SqliteStore.open(path, clock=FixedClock(), lock_timeout_s=lock_timeout_s) as store:
        yield store


def writer_of(store: SqliteStore) -> Writer:
    assert store._writer is not None
    return store._writer


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program in the middle of a write."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


async def begun(store: SqliteStore) -> None:
    """The writer has taken everything that the tasks made so far ask for."""
    await asyncio.sleep(0)
    await eventually(lambda: writer_of(store)._jobs.empty())


async def test_what_was_queued_and_cancelled_does_not_run_and_what_had_begun_is_finished(path):
    async with opened(path) as store, asyncio.TaskGroup() as group:
        with locked(path):
            first = group.create_task(store.record_event(an_event("first")))
            await begun(store)
            second = group.create_task(store.record_event(an_event("second")))
            third = group.create_task(store.record_event(an_event("third")))
            await eventually(lambda: writer_of(store)._jobs.qsize() == 2)
            first.cancel()
            second.cancel()
        await third
        assert first.cancelled()
        assert second.cancelled()
        assert [event.kind for event in await store.load_events()] == ["first", "third"]


@pytest.mark.parametrize("seed", range(6))
async def test_callers_cancelled_anywhere_leave_no_half_transaction_and_harm_no_other(path, seed):
    dice = random.Random(seed)
    keys = [TaskKey("octo/parrot", n) for n in range(1, 31)]

    async def work(store: SqliteStore, key: TaskKey) -> None:
        await store.record_task(a_task(key), event=replace(an_event("new"), task=key))
        for _ in range(3):
            fields = replace(a_task(key), pull=1)
            await store.change_status(key, ROUTED, event=replace(an_event("routed"), task=key), change=to(fields))
            fields = replace(a_task(key), pull=None)
            await store.change_status(key, BACK, event=replace(an_event("new"), task=key), change=to(fields))

    async with opened(path) as store:
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(work(store, key)) for key in keys]
            while not all(worker.done() for worker in workers):
                for _ in range(dice.randrange(1, 40)):
                    await asyncio.sleep(0)
                dice.choice(workers).cancel()
        assert any(worker.cancelled() for worker in workers)
        assert await store.record_event(an_event("afterwards"))
        tasks = {task.key: task for task in await store.load_tasks()}
        for key in keys:
            kinds = [event.kind for event in await store.load_events(task=key) if event.kind != "afterwards"]
            assert kinds == ["new", "routed"] * (len(kinds) // 2) + ["new"] * (len(kinds) % 2)
            if not kinds:
                assert key not in tasks
            else:
                assert tasks[key].status.value == kinds[-1]
                assert tasks[key].pull == (1 if kinds[-1] == "routed" else None)


async def test_an_error_undoes_all_of_its_transaction_and_none_of_the_next(path):
    async def half(connection: Connection) -> None:
        await events.record_event(connection, an_event("half"))
        raise ZeroDivisionError

    async with opened(path) as store, asyncio.TaskGroup() as group:
        bad = group.create_task(ignore(writer_of(store).transact(half)))
        good = group.create_task(store.record_event(an_event("good")))
        await bad
        await good
        assert [event.kind for event in await store.load_events()] == ["good"]


async def ignore(awaitable) -> None:
    with pytest.raises(ZeroDivisionError):
        await awaitable


async def test_a_reader_sees_only_what_is_committed(path):
    async with opened(path) as store:

        async def body(connection: Connection) -> None:
            await events.record_event(connection, an_event("within"))
            assert await store.load_events() == ()

        await writer_of(store).transact(body)
        assert [event.kind for event in await store.load_events()] == ["within"]


async def test_a_write_that_was_answered_is_seen_by_the_next_read(path):
    async with opened(path) as store:
        for n in range(50):
            await store.save_value("n", str(n))
            assert await store.find_value("n") == str(n)


async def test_events_of_many_callers_keep_the_order_of_their_asking(path):
    async with opened(path) as store:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(store.record_event(an_event(f"e{n}"))) for n in range(1000)]
        ids = [one.result() for one in asked]
        assert ids == sorted(set(ids))
        kept = await store.load_events(limit=2000)
        assert [event.kind for event in kept] == [f"e{n}" for n in range(1000)]


@pytest.mark.case("C232")
async def test_a_write_waits_for_anothers_lock_and_is_not_lost(path):
    async with opened(path) as store, opened(path, lock_timeout_s=0.05) as hasty, asyncio.TaskGroup() as group:
        await store.record_task(a_task(), event=an_event("first"))
        with locked(path):
            waiting = group.create_task(store.record_run(a_run(), event=an_event("claimed")))
            await begun(store)
            # The hasty one's limit passes under the lock, so the patient one has waited longer than that.
            with pytest.raises(Unavailable, match="locked by another program"):
                await hasty.record_event(an_event("hasty"))
            assert not waiting.done()
            assert await store.load_runs() == (), "reading goes on meanwhile"
        assert await waiting
        assert await store.load_runs() == (a_run(),)
        await hasty.record_event(an_event("again"))
        assert [event.kind for event in await store.load_events()] == ["first", "claimed", "again"]


@pytest.mark.case("C233")
async def test_transactions_that_read_and_then_write_do_not_refuse_each_other(path):
    async with opened(path) as one, opened(path) as other:
        for n in range(1, 41):
            await one.record_task(a_task(TaskKey("o/r", n)), event=an_event())
        async with asyncio.TaskGroup() as group:
            for n in range(1, 41):
                store = one if n % 2 else other
                group.create_task(store.change_status(TaskKey("o/r", n), ROUTED, event=an_event()))
                group.create_task((other if n % 2 else one).save_value(f"v{n}", ""))
        assert {task.status for task in await one.load_tasks()} == {Status.ROUTED}
        assert len(await other.load_values("v")) == 40


async def test_a_full_disk_is_unavailable_and_undoes_the_write(path):
    async with opened(path) as store:
        await store.record_task(a_task(), event=an_event("first"))
        connection = writer_of(store)._connection
        await connection.execute_fetchall("PRAGMA max_page_count = 1")  # not below what there is: no page more
        huge = replace(a_task(), told="x" * 1_000_000)
        with pytest.raises(Unavailable, match="full"):
            await store.change_status(KEY, ROUTED, event=an_event("moved"), change=to(huge))
        assert await store.find_task(KEY) == a_task()
        await connection.execute_fetchall("PRAGMA max_page_count = 1000000")
        await store.change_status(KEY, ROUTED, event=an_event("moved"), change=to(huge))
        assert [event.kind for event in await store.load_events()] == ["first", "moved"]


async def test_a_number_beyond_64_bits_is_invalid(path):
    async with opened(path) as store:
        with pytest.raises(Invalid, match="64 bits"):
            await store.record_task(replace(a_task(), comment_id=2**64), event=an_event())
        assert await store.load_events() == ()


async def test_what_the_schema_forbids_is_a_bug(path):
    async with opened(path) as store:
        with pytest.raises(Bug, match="CHECK"):
            await store.record_task(replace(a_task(), attempts=-1), event=an_event())
        assert await store.load_tasks() == ()


async def test_closing_finishes_what_is_queued(path):
    async with asyncio.TaskGroup() as group, opened(path) as store:
        asked = [group.create_task(store.record_event(an_event(f"e{n}"))) for n in range(20)]
        await asyncio.sleep(0)
        assert writer_of(store)._jobs.qsize() > 0
    assert [one.result() for one in asked] == list(range(1, 21))
    async with opened(path) as store:
        assert len(await store.load_events()) == 20


async def test_cancelling_the_owner_finishes_what_is_queued(path):
    async def own() -> None:
        async with opened(path) as store, asyncio.TaskGroup() as group:
            for n in range(20):
                group.create_task(store.record_event(an_event(f"e{n}")))
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        owner = group.create_task(own())
        await eventually(lambda: path.exists() and events_in(path) >= 20)
        owner.cancel()
    assert events_in(path) == 20


def events_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
        except sqlite3.OperationalError:
            return -1


async def test_cancelled_twice_it_leaves_at_once_and_undoes_what_was_open(path):
    async with opened(path):
        pass
    in_the_middle = asyncio.Event()

    async def endless(connection: Connection) -> None:
        await events.record_event(connection, an_event("half"))
        in_the_middle.set()
        await asyncio.Event().wait()

    async def own() -> None:
        async with (
            connection_for_writing(path, lock_timeout_s=30) as connection,
            writing(connection, path=path) as writer,
            asyncio.TaskGroup() as callers,
        ):
            callers.create_task(writer.transact(endless))
            callers.create_task(writer.transact(endless))
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        owner = group.create_task(own())
        await in_the_middle.wait()
        owner.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not owner.done(), "a transaction that has begun is waited for"
        owner.cancel()
    assert owner.cancelled()
    assert events_in(path) == 0
    async with opened(path) as store:
        assert await store.record_event(an_event())


async def test_an_error_of_the_body_comes_out_as_it_is(path):
    with pytest.raises(ZeroDivisionError):
        async with opened(path) as store:
            await store.record_event(an_event())
            raise ZeroDivisionError
    assert events_in(path) == 1


async def test_closed_is_unavailable(path):
    async with opened(path) as store:
        pass
    with pytest.raises(Unavailable, match="closed"):
        await store.record_event(an_event())
    with pytest.raises(Unavailable, match="closed"):
        await store.load_events()


@pytest.mark.parametrize("steps", [3, 40, 111, 274, 499, 800])
async def test_killed_in_the_middle_of_writing_leaves_whole_transactions(path, steps):
    child = await run_process(
        [sys.executable, "-m", "tests.adapters.store.dying", str(path), str(steps)],
        cwd=ROOT,
        env=clean_environment(),
        timeout_s=60,
    )
    assert child.returncode == -signal.SIGKILL, child.complaint
    answered = int(child.text.split()[-1]) if child.text.strip() else 0
    async with opened(path) as store:
        kept = await store.load_events(limit=100_000)
        tasks = {task.key: task for task in await store.load_tasks()}
        assert len(kept) >= answered, "what was answered is there"
        assert {event.task for event in kept} == set(tasks)
        last = {event.task: event.kind for event in kept}
        assert {key: task.status.value for key, task in tasks.items()} == last
        assert await store.record_event(an_event())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
