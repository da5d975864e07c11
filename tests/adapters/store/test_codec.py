"""What is kept comes back exactly: any task, run, verdict and event, through a real database."""

import asyncio
import math
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightcrew.core.errors import Bug, NightcrewError
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.report import AuthorReport, Decision, Finding, Report, ReviewReport, RouterReport, Usage
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import TASK_ROLES, Run, RunOutcome, RunState
from nightcrew.core.model.task import Block, Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.ports.store import Validator
from nightcrew.store import SqliteStore, codec
from tests.adapters.store.sample import KEY, NOW, FixedClock, a_run, a_task, an_event

TEXT = st.text(max_size=30)
TIMES = st.datetimes(timezones=st.just(UTC))
SHAS = st.from_regex(r"[0-9a-f]{40}", fullmatch=True).map(Sha)
COUNTS = st.integers(0, 2**40)

ROUTES = st.builds(Route, TEXT, TEXT, st.sampled_from(Complexity), st.sampled_from(RouteSource), TEXT)
FINDINGS = st.lists(st.builds(Finding, TEXT, st.none() | COUNTS, TEXT), max_size=4).map(tuple)
REPORTS: st.SearchStrategy[Report] = st.one_of(
    st.builds(AuthorReport), st.builds(ReviewReport, findings=FINDINGS), st.builds(RouterReport)
)
USAGES = st.builds(
    Usage,
    st.none() | COUNTS,
    st.none() | COUNTS,
    st.none() | st.floats(allow_nan=False),
    st.lists(TEXT, max_size=3).map(tuple),
)
OUTCOMES = st.builds(
    RunOutcome,
    st.none() | REPORTS,
    st.none() | st.builds(Failure, st.sampled_from(FailureKind), TEXT, st.none() | TIMES),
    USAGES,
    st.none() | SHAS,
    st.booleans(),
    TEXT,
)
TASKS = st.builds(
    Task,
    key=st.builds(TaskKey, st.sampled_from(["octo/parrot", "octo/heron"]), st.integers(1, 10**9)),
    title=TEXT,
    created_at=TIMES,
    updated_at=TIMES,
    priority=st.integers(-100, 100),
    route=st.none() | ROUTES,
    block=st.none() | st.builds(Block, TEXT, TEXT, st.booleans(), st.none() | TIMES),
    branch=TEXT,
    base_ref=TEXT,
    started_from=st.none() | SHAS,
    pull=st.none() | COUNTS,
    attempts=COUNTS,
    cycles=COUNTS,
    tried=st.lists(TEXT, max_size=3).map(tuple),
    approved_sha=st.none() | SHAS,
    merge_sha=st.none() | SHAS,
    comment_id=st.none() | COUNTS,
    told=TEXT,
    reset_at=st.none() | TIMES,
)
RUNS = st.builds(
    Run,
    id=st.just(RunId("01RUN")),
    task=st.just(KEY),
    role=st.sampled_from(TASK_ROLES),
    agent=TEXT,
    model=TEXT,
    attempt=st.integers(1, 1000),
    state=st.sampled_from(RunState),
    session=TEXT,
    folder=TEXT,
    created_at=TIMES,
    deadline_s=st.floats(allow_nan=False),
    head_sha=st.none() | SHAS,
    agent_session=TEXT,
    started_at=st.none() | TIMES,
    ended_at=st.none() | TIMES,
    outcome=st.none() | OUTCOMES,
)
VERDICTS = st.builds(
    Verdict,
    run=st.just(RunId("01RUN")),
    task=st.just(KEY),
    decision=st.sampled_from(Decision),
    head_sha=SHAS,
    base_ref=TEXT,
    agent=TEXT,
    model=TEXT,
    summary=TEXT,
    findings=FINDINGS,
    at=TIMES,
    posted=st.booleans(),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.builds(
    Event,
    kind=st.text(min_size=1, max_size=20),
    why=TEXT,
    at=TIMES,
    task=st.none() | st.just(KEY),
    run=st.none() | st.just(RunId("01RUN")),
    data=st.dictionaries(TEXT, JSON, max_size=3),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(task=TASKS, run=RUNS, verdict=VERDICTS, event=EVENTS)
def test_anything_that_is_kept_comes_back(task: Task, run: Run, verdict: Verdict, event: Event):
    async def scenario(folder: Path) -> None:
        async with SqliteStore.open(folder / "nightcrew.db", clock=FixedClock()) as store:
            if task.key != KEY:
                await store.record_task(a_task(), event=an_event())
            assert await store.record_task(task, event=event)
            assert await store.record_run(replace(run, task=KEY), event=event)
            assert await store.record_verdict(verdict, event=event)
            assert await store.find_task(task.key) == task
            assert await store.load_runs() == (run,)
            assert await store.load_verdicts() == (verdict,)
            (last,) = await store.load_events(newest=True, limit=1)
            assert replace(last, id=0) == event

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


def test_a_time_of_another_zone_is_the_same_moment():
    local = NOW.astimezone(timezone(timedelta(hours=-7)))
    assert codec.parse_time(codec.render_time(local)) == NOW
    assert codec.parse_time(codec.render_time(local)).tzinfo is UTC


def test_a_time_without_a_zone_is_a_bug():
    with pytest.raises(Bug, match="zone"):
        codec.render_time(datetime(2026, 1, 1))  # noqa: DTZ001 - that it has none is the point


def test_times_sort_as_they_are():
    assert codec.render_time(NOW) < codec.render_time(NOW + timedelta(microseconds=1))
    assert codec.render_time(datetime(1969, 12, 31, tzinfo=UTC)) < 0


def test_a_cost_that_is_no_number_is_kept_as_such():
    text = codec.render_json(Usage(cost_usd=float("nan")))
    cost = codec.parse_json(Usage, text).cost_usd
    assert cost is not None
    assert math.isnan(cost)


def test_an_older_row_lacks_a_field_and_a_newer_one_has_more():
    assert codec.parse_json(Block, '{"code":"c","words":"w","colour":"red"}') == Block("c", "w")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"code":1', "3", '{"agent":"a","model":"","complexity":"huge","source":"label","why":""}']
)
def test_a_row_that_a_hand_has_broken_is_explained(text):
    with pytest.raises(NightcrewError, match="stored Route"):
        codec.parse_json(Route, text)


@pytest.mark.parametrize("text", ["", "[]", "3"])
def test_data_that_a_hand_has_broken_is_explained(text):
    with pytest.raises(NightcrewError, match="stored data"):
        codec.parse_object(text)


def test_an_unknown_word_of_a_closed_set_is_explained():
    with pytest.raises(NightcrewError, match=r"'weird'.*RunState"):
        codec.parse_enum(RunState, "weird")


async def test_half_a_surrogate_pair_does_not_stop_anything(tmp_path):
    half = "broken \ud83d emoji"
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
        await store.record_task(replace(a_task(), title=half, tried=(half,)), event=replace(an_event(), why=half))
        task = await store.find_task(KEY)
        assert task is not None
        assert task.title == "broken \ufffd emoji"
        assert task.tried == ("broken \ufffd emoji",)
        assert (await store.load_events())[0].why == "broken \ufffd emoji"


async def test_text_with_nul_and_every_plane_comes_back(tmp_path):
    odd = "a\x00b \u202e \U0001f426 '\"; DROP TABLE tasks; --"
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
        await store.record_task(replace(a_task(), title=odd, told=odd), event=an_event())
        await store.save_value(odd, odd)
        assert await store.find_value(odd) == odd
        assert await store.find_task(KEY) == replace(a_task(), title=odd, told=odd)


async def test_a_validators_body_takes_less_room_than_it_has(tmp_path):
    body = b'{"title": "the same again"}' * 40_000
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
        await store.save_validators([Validator("u", "p", "e", "", body, NOW)])
        found = await store.find_validator(url="u", principal="p")
        assert found is not None
        assert found.body == body
    assert (tmp_path / "nightcrew.db").stat().st_size < len(body) / 2


async def test_a_run_keeps_an_endless_deadline(tmp_path):
    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
        await store.record_task(a_task(), event=an_event())
        run = replace(a_run(), deadline_s=math.inf)
        await store.record_run(run, event=an_event())
        assert await store.find_run(run.id) == run
