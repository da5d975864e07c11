"""What the tables themselves forbid, whatever the code above them does."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from enum import Enum
from pathlib import Path

import pytest

from nightcrew.core.command import Settlement, Verb
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Decision
from nightcrew.core.model.route import Complexity, RouteSource
from nightcrew.core.model.run import TASK_ROLES, RunState
from nightcrew.store.migrate import upgrade
from tests.adapters.store.sample import NOW

TASK = (
    "INSERT INTO tasks (project, number, title, status, priority, branch, base_ref, attempts, cycles, tried, told,"
    " created_at, updated_at) VALUES ('o/r', ?, '', ?, 1, '', '', 0, 0, '[]', '', 0, 0)"
)
RUN = (
    "INSERT INTO runs (id, project, number, role, agent, model, attempt, state, session, folder, created_at,"
    " deadline_s, agent_session) VALUES (?, 'o/r', 1, ?, 'a', '', ?, ?, '', '', 0, 1.0, '')"
)
EVENT = "INSERT INTO events (kind, why, at, data) VALUES ('k', '', 0, '{}')"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    upgrade(tmp_path / "nightcrew.db", now=NOW)
    with closing(sqlite3.connect(tmp_path / "nightcrew.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(TASK, (1, "new"))
        yield connection


def insert_status(database: sqlite3.Connection, value: str) -> None:
    database.execute(TASK, (2, value))
    database.execute("DELETE FROM tasks WHERE number = 2")


def insert_moving_to(database: sqlite3.Connection, value: str) -> None:
    database.execute("UPDATE tasks SET moving_to = ?", (value,))


def insert_role(database: sqlite3.Connection, value: str) -> None:
    database.execute(RUN, (f"run-{value}", value, 1, "ended"))


def insert_state(database: sqlite3.Connection, value: str) -> None:
    database.execute(RUN, (f"run-{value}", "router", len(value), value))


def insert_decision(database: sqlite3.Connection, value: str) -> None:
    database.execute(RUN, (f"run-{value}", "reviewer", len(value), "ended"))
    database.execute(
        "INSERT INTO verdicts VALUES (NULL, ?, 'o/r', 1, ?, '', '', '', '', '', '[]', 0, 0, NULL, NULL)",
        (f"run-{value}", value),
    )


def insert_complexity(database: sqlite3.Connection, value: str) -> None:
    database.execute("INSERT INTO routes VALUES (NULL, 'o/r', 1, 'a', '', ?, 'label', '', 0, '[]')", (value,))


def insert_effect(database: sqlite3.Connection, value: str) -> None:
    settled = None if value == "intent" else 0
    database.execute(
        "INSERT INTO effects (key, kind, state, detail, at, settled_at) VALUES ('k', 'k', ?, '', 0, ?)",
        (value, settled),
    )


COMMAND = "INSERT INTO commands VALUES ('o/r', 1, ?, 0, ?, '', '', 0, ?, '', 0)"


def insert_verb(database: sqlite3.Connection, value: str) -> None:
    database.execute(COMMAND, (sum(value.encode()), value, "done"))


def insert_settlement(database: sqlite3.Connection, value: str) -> None:
    database.execute(COMMAND, (sum(value.encode()), "retry", value))


class EffectState(Enum):
    INTENT = "intent"
    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@pytest.mark.parametrize(
    ("insert", "words"),
    [
        (insert_status, Status),
        (insert_moving_to, Status),
        (insert_role, TASK_ROLES),
        (insert_state, RunState),
        (insert_decision, Decision),
        (insert_complexity, Complexity),
        (insert_effect, EffectState),
        (insert_verb, Verb),
        (insert_settlement, Settlement),
    ],
)
def test_a_closed_set_of_words_is_the_models(database, insert, words):
    for word in words:
        insert(database, word.value)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        insert(database, "sideways")


def test_every_source_of_a_route_fits(database):
    for source in RouteSource:
        database.execute(
            "INSERT INTO routes VALUES (NULL, 'o/r', 1, 'a', '', 'simple', ?, '', 0, '[]')", (source.value,)
        )


def test_one_open_author_run_a_task(database):
    database.execute(RUN, ("1", "author", 1, "running"))
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        database.execute(RUN, ("2", "author", 2, "starting"))
    database.execute(RUN, ("3", "author", 3, "ended"))
    database.execute(RUN, ("4", "reviewer", 1, "running"))


def test_one_run_for_a_role_and_attempt(database):
    database.execute(RUN, ("1", "reviewer", 1, "ended"))
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        database.execute(RUN, ("2", "reviewer", 1, "ended"))


def test_a_run_belongs_to_a_task(database):
    database.execute("DELETE FROM tasks")
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        database.execute(RUN, ("1", "author", 1, "running"))


def test_types_are_kept(database):
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in INTEGER column"):
        database.execute("UPDATE tasks SET updated_at = 'yesterday'")


def test_json_is_json(database):
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        database.execute("UPDATE tasks SET route = '{'")


def test_an_event_never_changes(database):
    database.execute(EVENT)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute("UPDATE events SET why = 'another'")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute("DELETE FROM events")


def test_history_is_cut_at_its_old_end_only_and_ids_go_on(database):
    for _ in range(4):
        database.execute(EVENT)
    database.execute("UPDATE event_history SET cut_through = 4")
    database.execute("DELETE FROM events WHERE id <= 4")
    database.execute(EVENT)
    assert database.execute("SELECT id FROM events").fetchall() == [(5,)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute("DELETE FROM events")
    with pytest.raises(sqlite3.IntegrityError, match="never goes back"):
        database.execute("UPDATE event_history SET cut_through = 1")
    with pytest.raises(sqlite3.IntegrityError, match="keeps its row"):
        database.execute("DELETE FROM event_history")


def test_a_review_id_belongs_to_a_posted_verdict(database):
    insert_decision(database, "approve")
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        database.execute("UPDATE verdicts SET review_id = 4")


def test_what_each_pass_asks_uses_an_index(database):
    for query in (
        "SELECT * FROM runs WHERE true AND state <> 'ended' ORDER BY created_at DESC, id DESC LIMIT 1",
        "SELECT * FROM effects WHERE true AND state = 'intent' ORDER BY id",
        "SELECT * FROM events WHERE id > 3 AND project = 'o/r' AND number = 1 ORDER BY id ASC LIMIT 5",
        "SELECT * FROM runs WHERE true AND project = 'o/r' AND number = 1 ORDER BY created_at DESC, id DESC LIMIT 1",
    ):
        plan = " ".join(row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query}"))
        assert "USING INDEX" in plan or "USING COVERING INDEX" in plan, plan
