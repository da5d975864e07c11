"""The file: who may read it, opening it for reading only, what damage says, and how the cache is kept small."""

import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from nightcrew.core.errors import ConfigError, Denied, Missing, NightcrewError, Unavailable
from nightcrew.ports.store import Validator
from nightcrew.store import SqliteStore, validator
from nightcrew.store.error import translate
from nightcrew.store.migrate import upgrade
from nightcrew.store.migration import Migration, load_migrations
from tests.adapters.store.sample import KEY, NOW, FixedClock, a_task, an_event, to


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home with space?&%20#" / "nightcrew.db"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_only_the_owner_may_read_what_is_made(path):
    async with SqliteStore.open(path, clock=FixedClock()) as store:
        await store.record_event(an_event())
        assert mode(path.parent) == 0o700
        names = {file.name: mode(file) for file in path.parent.iterdir()}
        assert names == {"nightcrew.db": 0o600, "nightcrew.db-wal": 0o600, "nightcrew.db-shm": 0o600}
    assert [file.name for file in path.parent.iterdir()] == ["nightcrew.db"]


async def test_a_file_that_others_could_read_is_closed_to_them(path):
    upgrade(path, now=NOW)
    path.chmod(0o644)
    async with SqliteStore.open(path, clock=FixedClock()) as store:
        await store.record_event(an_event())
        assert {mode(file) for file in path.parent.iterdir()} == {0o600}


async def test_a_failed_opening_leaves_no_thread_and_says_why(path):
    path.mkdir(parents=True)
    with pytest.raises(Unavailable, match="folder's permissions"):
        async with SqliteStore.open(path, clock=FixedClock()):
            raise AssertionError("opened a folder")


class TestReadOnly:
    async def test_reads_while_the_service_is_down(self, path):
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            await store.record_task(a_task(), event=an_event())
        before = path.read_bytes()
        async with SqliteStore.open_read_only(path) as reading:
            assert await reading.find_task(KEY) == a_task()
            assert reading.writes == 0
        assert path.read_bytes() == before

    async def test_reads_while_the_service_runs_and_after_it_was_killed(self, path):
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            await store.record_task(a_task(), event=an_event())
            async with SqliteStore.open_read_only(path) as reading:
                assert await reading.load_tasks() == (a_task(),)
                await store.update_task(KEY, to(replace(a_task(), pull=3)))
                assert await reading.load_tasks() == (replace(a_task(), pull=3),)
            copy = path.with_name("killed.db")
            for suffix in ("", "-wal"):
                copy.with_name(copy.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())
        async with SqliteStore.open_read_only(copy) as reading:
            assert await reading.load_tasks() == (replace(a_task(), pull=3),)

    async def test_refuses_to_write(self, path):
        upgrade(path, now=NOW)
        async with SqliteStore.open_read_only(path) as store:
            with pytest.raises(Denied, match="reading only"):
                await store.record_event(an_event())
            with pytest.raises(Denied):
                await store.save_validators([])

    async def test_is_kept_from_writing_by_sqlite_itself(self, path):
        upgrade(path, now=NOW)
        async with SqliteStore.open_read_only(path) as store:
            with pytest.raises(Denied, match="may not be written"):
                await store._reader.read(lambda db: db.execute_fetchall("DELETE FROM events"))

    async def test_makes_nothing_where_there_is_nothing(self, path):
        with pytest.raises(Missing, match="nightcrew serve"):
            async with SqliteStore.open_read_only(path):
                raise AssertionError("opened nothing")
        assert not path.parent.exists()

    async def test_does_not_upgrade(self, path):
        upgrade(path, now=NOW)
        known = load_migrations()
        later = Migration(len(known) + 1, "later", "CREATE TABLE later (x);\n")
        with pytest.raises(ConfigError, match="older schema"):
            async with SqliteStore.open_read_only(path, migrations=[*known, later]):
                raise AssertionError("opened an older schema")
        assert [file.name for file in path.parent.glob("*backup*")] == []


class TestDamage:
    async def test_a_page_that_is_no_page_is_explained(self, path):
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            for n in range(200):
                await store.record_event(replace(an_event(), why=f"{n} " * 50))
        with closing(sqlite3.connect(path)) as other:
            (root,) = other.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").fetchone()
            (size,) = other.execute("PRAGMA page_size").fetchone()
        with path.open("r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"\xff" * 200)
        async with SqliteStore.open_read_only(path) as store:
            with pytest.raises(NightcrewError, match=r"not a sound Nightcrew database.*stop Nightcrew"):
                await store.load_events()

    @pytest.mark.parametrize(
        ("code", "kind"),
        [
            (sqlite3.SQLITE_BUSY, Unavailable),
            (sqlite3.SQLITE_BUSY_SNAPSHOT, Unavailable),
            (sqlite3.SQLITE_LOCKED, Unavailable),
            (sqlite3.SQLITE_FULL, Unavailable),
            (sqlite3.SQLITE_IOERR_FSYNC, Unavailable),
            (sqlite3.SQLITE_CANTOPEN, Unavailable),
            (sqlite3.SQLITE_READONLY_DBMOVED, Denied),
            (sqlite3.SQLITE_CORRUPT, ConfigError),
            (sqlite3.SQLITE_NOTADB, ConfigError),
        ],
    )
    def test_each_complaint_of_sqlite_is_an_error_of_the_port(self, tmp_path, code, kind):
        complaint = sqlite3.OperationalError("as SQLite says it")
        complaint.sqlite_errorcode = code
        error = translate(complaint, path=tmp_path / "nightcrew.db")
        assert type(error) is kind
        assert "nightcrew.db" in str(error)

    async def test_a_stored_answer_that_cannot_be_read_is_explained(self, path):
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            await store.save_validators([Validator("https://forge/x", "p", "e", "", b"body", NOW)])
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("UPDATE validators SET body = x'00'")
            with pytest.raises(NightcrewError, match="https://forge/x"):
                await store.find_validator(url="https://forge/x", principal="p")


class TestValidatorLimits:
    def made(self, n: int, *, size: int = 10) -> Validator:
        # Each body differs, so that compressing makes none of them small.
        body = b"".join((n * 7919 + i * i).to_bytes(5, "big") for i in range(size))
        return Validator(f"u{n}", "p", "e", "", body, NOW + timedelta(seconds=n))

    async def keep(self, store: SqliteStore, made: list[Validator], **limits: int) -> list[str]:
        assert store._writer is not None
        packed = validator.pack(made)
        await store._writer.transact(lambda db: validator.save_validators(db, packed, **limits))
        return [one.url for one in made if await store.find_validator(url=one.url, principal="p")]

    async def test_the_oldest_go_first_when_there_are_too_many(self, path):
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            made = [self.made(n) for n in (3, 1, 5, 2, 4)]
            assert await self.keep(store, made, max_count=3) == ["u3", "u5", "u4"]

    async def test_and_when_they_take_too_much_room(self, path):
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            made = [self.made(n, size=200) for n in range(1, 6)]
            sizes = [len(one.body) for one in validator.pack(made)]
            assert await self.keep(store, made, max_bytes=sum(sizes[-2:])) == ["u4", "u5"]
