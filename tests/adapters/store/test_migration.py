"""Migrations: which there are, what a database says of them, and what is done about it."""

import os
import re
import shutil
import signal
import sqlite3
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.errors import ConfigError, Missing, NightcrewError, Unavailable
from nightcrew.process import clean_environment, run_process
from nightcrew.store import SqliteStore, migrate
from nightcrew.store.migrate import check, upgrade
from nightcrew.store.migration import Migration, find_migrations, load_migrations
from tests.adapters.store.sample import KEY, NOW, FixedClock, a_run, a_task, an_event

ONE = Migration(1, "birds", "CREATE TABLE birds (name TEXT NOT NULL) STRICT;\n")
TWO = Migration(2, "colour", "ALTER TABLE birds ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';\n")
THREE = Migration(3, "nests", "CREATE TABLE nests (bird TEXT);\nINSERT INTO nests SELECT name FROM birds;\n")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "nightcrew.db"


def ask(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob("nightcrew.db.backup-*"))


@pytest.fixture
def old(path: Path) -> Path:
    """A database of the first schema, with rows."""
    assert upgrade(path, now=NOW, migrations=[ONE]) is None
    execute(path, "INSERT INTO birds VALUES ('parrot'), ('heron')")
    return path


class TestFiles:
    def test_are_found_in_order_without_gaps(self):
        migrations = load_migrations()
        assert [one.number for one in migrations] == list(range(1, len(migrations) + 1))
        assert migrations[0].label == "0001_foundation"
        assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in migrations)

    def test_are_those_of_the_checkout(self):
        names = {file.name for file in find_migrations().iterdir() if file.name.endswith(".sql")}
        assert names == {file.name for file in (ROOT / "migrations").glob("*.sql")}

    async def test_are_those_inside_the_package_once_it_is_installed(self, tmp_path):
        shutil.copytree(ROOT / "src" / "nightcrew", tmp_path / "nightcrew")
        shutil.copytree(ROOT / "migrations", tmp_path / "nightcrew" / "migrations")
        program = "from nightcrew.store.migration import *; print(find_migrations(), len(load_migrations()))"
        child = await run_process(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=clean_environment(extra={"PYTHONPATH": str(tmp_path)}),
            timeout_s=60,
        )
        assert child.text.split() == [str(tmp_path / "nightcrew" / "migrations"), str(len(load_migrations()))]

    def test_line_ends_of_a_checkout_do_not_matter(self, tmp_path):
        (tmp_path / "0001_a.sql").write_bytes(b"SELECT 1;\r\nSELECT 2;\r\n")
        (one,) = load_migrations(tmp_path)
        assert one.sha256 == Migration(1, "a", "SELECT 1;\nSELECT 2;\n").sha256

    @pytest.mark.parametrize(
        ("names", "says"),
        [
            ([], "there are no migrations"),
            (["0001_a.sql", "0003_c.sql"], "0002 is missing or is there twice"),
            (["0001_a.sql", "0001_b.sql"], "0002 is missing or is there twice"),
            (["0002_b.sql"], "0001 is missing"),
            (["0001_a.sql", "2_b.sql", "0002_B.sql"], r"(?s)0002_B.sql: not named.*2_b.sql: not named"),
        ],
    )
    def test_a_folder_that_is_not_whole_is_explained(self, tmp_path, names, says):
        (tmp_path / "README").write_text("not a migration")
        for name in names:
            (tmp_path / name).write_text("SELECT 1;")
        with pytest.raises(ConfigError, match=says):
            load_migrations(tmp_path)

    def test_no_folder_is_explained(self, tmp_path):
        with pytest.raises(ConfigError, match="not there"):
            load_migrations(tmp_path / "none")


class TestUpgrade:
    def test_all_on_a_fresh_database_twice(self, path):
        known = load_migrations()
        assert upgrade(path, now=NOW) is None
        first = dump(path)
        assert upgrade(path, now=NOW) is None
        assert dump(path) == first
        recorded = ask(path, "SELECT number, name, sha256 FROM schema_migrations ORDER BY number")
        assert recorded == [(one.number, one.name, one.sha256) for one in known]
        assert backups(path) == []

    def test_records_when(self, path):
        upgrade(path, now=NOW, migrations=[ONE])
        assert ask(path, "SELECT applied_at FROM schema_migrations") == [(int(NOW.timestamp() * 1_000_000),)]

    def test_an_older_database_keeps_its_rows_and_is_copied_first(self, old):
        backup = upgrade(old, now=NOW, migrations=[ONE, TWO, THREE])
        assert ask(old, "SELECT name, colour FROM birds") == [("parrot", "grey"), ("heron", "grey")]
        assert ask(old, "SELECT bird FROM nests") == [("parrot",), ("heron",)]
        assert backup is not None
        assert backup == old.with_name("nightcrew.db.backup-0001-20260301T020304Z")
        assert backups(old) == [backup]
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600
        assert ask(backup, "SELECT * FROM birds") == [("parrot",), ("heron",)]
        assert ask(backup, "PRAGMA journal_mode") == [("delete",)]

    def test_the_copy_put_back_is_the_old_database(self, old):
        before = dump(old)
        backup = upgrade(old, now=NOW, migrations=[ONE, TWO])
        assert backup is not None
        backup.replace(old)
        for side in ("-wal", "-shm"):
            old.with_name(old.name + side).unlink(missing_ok=True)
        assert dump(old) == before
        upgrade(old, now=NOW, migrations=[ONE])

    def test_two_copies_of_one_second_are_two(self, old):
        upgrade(old, now=NOW, migrations=[ONE, TWO])
        execute(old, "DELETE FROM schema_migrations WHERE number = 2")
        execute(old, "ALTER TABLE birds DROP COLUMN colour")
        upgrade(old, now=NOW, migrations=[ONE, TWO])
        assert [one.name[-2:] for one in backups(old)] == ["4Z", "-2"]

    async def test_todays_rows_live_through_a_later_schema(self, path):
        known = load_migrations()
        later = Migration(len(known) + 1, "note", "ALTER TABLE tasks ADD COLUMN note TEXT NOT NULL DEFAULT '';\n")
        async with SqliteStore.open(path, clock=FixedClock()) as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
        async with SqliteStore.open(path, clock=FixedClock(), migrations=[*known, later]) as store:
            assert await store.find_task(KEY) == a_task()
            assert await store.load_runs() == (a_run(),)
            assert len(await store.load_events()) == 2
        assert len(backups(path)) == 1

    def test_what_another_connection_wrote_a_moment_ago_is_in_the_copy(self, old):
        with closing(sqlite3.connect(old, isolation_level=None)) as other:
            other.execute("INSERT INTO birds VALUES ('wren')")
            backup = upgrade(old, now=NOW, migrations=[ONE, TWO])
        assert backup is not None
        assert ("wren",) in ask(backup, "SELECT * FROM birds")

    def test_a_table_may_be_rebuilt(self, path):
        parents = Migration(
            1,
            "parents",
            "CREATE TABLE a (id INTEGER PRIMARY KEY);\n"
            "CREATE TABLE b (a INTEGER REFERENCES a (id) ON DELETE CASCADE);\n"
            "INSERT INTO a VALUES (1);\nINSERT INTO b VALUES (1);\n",
        )
        rebuilt = Migration(
            2,
            "rebuilt",
            "-- a; b\nCREATE TABLE a2 (id INTEGER PRIMARY KEY, name TEXT);\nINSERT INTO a2 SELECT id, 'x;y' FROM a;\n"
            "DROP TABLE a;\nALTER TABLE a2 RENAME TO a;\n"
            "CREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n    DELETE FROM b;\n    DELETE FROM b;\nEND;\n-- the end",
        )
        upgrade(path, now=NOW, migrations=[parents])
        upgrade(path, now=NOW, migrations=[parents, rebuilt])
        assert ask(path, "SELECT a.name FROM b JOIN a ON a.id = b.a") == [("x;y",)]


class TestRefusal:
    """Each stops the start, says what to do, and changes nothing."""

    def refused(self, path: Path, known: list[Migration]) -> str:
        before = dump(path)
        with pytest.raises(ConfigError) as caught:
            upgrade(path, now=NOW, migrations=known)
        assert dump(path) == before
        assert backups(path) == []
        assert "nothing was changed" in str(caught.value)
        return str(caught.value)

    def test_a_changed_migration(self, old):
        words = self.refused(old, [replace(ONE, sql=ONE.sql + "-- tidied\n"), TWO])
        assert "0001_birds was changed after it was applied" in words
        assert "install Nightcrew again" in words

    def test_a_missing_migration(self, old):
        words = self.refused(old, [replace(ONE, name="fish"), TWO])
        assert "0001_birds was applied and is missing in this program, which has 0001_fish" in words

    def test_a_gap(self, path):
        upgrade(path, now=NOW, migrations=[ONE, TWO, THREE])
        execute(path, "DELETE FROM schema_migrations WHERE number = 2")
        assert "0003_nests was applied, but not 0002 before it" in self.refused(path, [ONE, TWO, THREE])

    def test_a_newer_database(self, path):
        upgrade(path, now=NOW, migrations=[ONE, TWO, THREE])
        words = self.refused(path, [ONE])
        assert "has schema 0003, and this program knows only up to 0001" in words
        assert "newer" in words

    def test_all_that_is_wrong_is_said_at_once(self, path):
        upgrade(path, now=NOW, migrations=[ONE, TWO, THREE])
        words = self.refused(path, [replace(ONE, sql="x"), replace(TWO, name="size")])
        assert len(words.splitlines()) == 3

    def test_another_programs_database(self, path):
        execute(path, "CREATE TABLE songs (title TEXT)")
        assert "not a database of Nightcrew" in self.refused(path, [ONE])

    def test_a_file_that_is_no_database(self, path):
        path.write_bytes(b"All work and no play. " * 100)
        with pytest.raises(ConfigError, match=r"not a sound Nightcrew database.*backup"):
            upgrade(path, now=NOW)
        assert path.read_bytes().startswith(b"All work")

    def test_a_damaged_database_is_not_upgraded(self, old):
        execute(old, "CREATE INDEX birds_by_name ON birds (name)")
        with closing(sqlite3.connect(old, isolation_level=None)) as connection:
            connection.executemany("INSERT INTO birds VALUES (?)", [(f"bird {n}" * 20,) for n in range(500)])
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = bytearray(old.read_bytes())
        for page in range(3, len(content) // 4096):
            content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
        old.write_bytes(content)
        with pytest.raises(ConfigError, match="not a sound Nightcrew database"):
            upgrade(old, now=NOW, migrations=[ONE, TWO])
        assert old.read_bytes() == content
        assert backups(old) == []


class TestFailure:
    def failed(self, path: Path, sql: str) -> str:
        before = dump(path)
        with pytest.raises(NightcrewError) as caught:
            upgrade(path, now=NOW, migrations=[ONE, Migration(2, "bad", sql)])
        assert dump(path) == before
        assert backups(path) == [], "what did not change needs no copy, however often it is tried"
        assert "migration 0002_bad failed and was undone" in str(caught.value)
        assert "at schema 0001 and has lost nothing" in str(caught.value)
        return str(caught.value)

    def test_a_statement_that_fails_undoes_those_before_it(self, old):
        assert "no such table: fish" in self.failed(old, "DELETE FROM birds;\nDELETE FROM fish;\n")

    def test_half_a_statement(self, old):
        self.failed(old, "DELETE FROM birds;\nCREATE TABLE (\n")

    def test_two_statements_in_a_line(self, old):
        self.failed(old, "DELETE FROM birds; DELETE FROM birds;\n")

    def test_one_that_ends_its_own_transaction(self, old):
        assert "begins or ends a transaction" in self.failed(old, "DELETE FROM birds;\nCOMMIT;\n")

    def test_a_row_that_refers_to_nothing(self, old):
        tables = "CREATE TABLE a (id INTEGER PRIMARY KEY);\nCREATE TABLE b (a REFERENCES a (id));\n"
        sql = tables + "INSERT INTO b VALUES (1);\n"
        assert "a row of b that refers to a missing row of a" in self.failed(old, sql)

    def test_those_before_the_failing_one_stay_and_the_copy_too(self, old):
        with pytest.raises(NightcrewError, match=r"schema 0002.*backup-0001"):
            upgrade(old, now=NOW, migrations=[ONE, TWO, Migration(3, "bad", "DROP TABLE fish;\n")])
        assert len(ask(old, "SELECT colour FROM birds")) == 2
        assert len(backups(old)) == 1

    def test_a_locked_database_is_unavailable(self, old):
        with closing(sqlite3.connect(old, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable, match="locked"):
                upgrade(old, now=NOW, migrations=[ONE, TWO], lock_timeout_s=0.01)
        assert backups(old) == []

    def test_one_that_another_program_applied_just_now_is_not_applied_again(self, old):
        upgrade(old, now=NOW, migrations=[ONE, TWO])
        with closing(sqlite3.connect(old, isolation_level=None)) as late:
            with pytest.raises(NightcrewError, match="another program upgraded it to 0002"):
                migrate._apply(late, TWO, now=NOW)
            assert not late.in_transaction

    async def test_killed_in_the_middle_of_a_migration_leaves_the_schema_before_it(self, old):
        before = dump(old)
        child = await run_process(
            [sys.executable, "-m", "tests.adapters.store.test_migration", str(old)],
            cwd=ROOT,
            env=clean_environment(),
            timeout_s=60,
        )
        assert child.returncode == -signal.SIGKILL, child.complaint
        assert dump(old) == before
        upgrade(old, now=NOW, migrations=[ONE, TWO])
        assert len(ask(old, "SELECT colour FROM birds")) == 2


class TestCheck:
    def test_no_database_is_missing_and_none_is_made(self, path):
        with pytest.raises(Missing, match="nightcrew serve"):
            check(path)
        assert not path.exists()

    def test_an_empty_file_is_missing(self, path):
        path.touch()
        with pytest.raises(Missing):
            check(path)

    def test_a_database_without_tables_is_missing(self, path):
        execute(path, "PRAGMA user_version = 1")
        with pytest.raises(Missing, match="empty"):
            check(path)

    def test_the_present_schema_is_fine(self, path):
        upgrade(path, now=NOW)
        check(path)

    def test_an_older_schema_is_explained_and_left(self, old):
        before = dump(old)
        with pytest.raises(ConfigError, match=r"older schema 0001, this program reads 0002.*nightcrew serve"):
            check(old, migrations=[ONE, TWO])
        assert dump(old) == before

    def test_a_newer_schema_is_explained(self, path):
        upgrade(path, now=NOW, migrations=[ONE, TWO])
        with pytest.raises(ConfigError, match="knows only up to 0001"):
            check(path, migrations=[ONE])


class DeadlyScript(str):
    """SQL whose second line is never reached: reading it kills the process."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        return list_that_kills(super().splitlines(keepends))  # type: ignore[return-value]  # a lazy one


def list_that_kills(lines: Iterable[str]) -> Iterator[str]:
    yield next(iter(lines))
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    upgrade(Path(sys.argv[1]), now=NOW, migrations=[ONE, Migration(2, "deadly", DeadlyScript("DELETE FROM birds;\n"))])
