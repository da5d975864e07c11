"""Which jobs are due: once for each time, after downtime, under clocks that jump, and while their last task lives."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightcrew.core.action.job import NoteJob, StartJob
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.model.claim import DueNote
from nightcrew.core.model.job import CatchUp, JobRecord, JobRun, JobSettings, JobState, JobView
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.world import ProjectWorld, World
from nightcrew.core.policy.scheduling import COMMANDS_AT_ONCE, TURN, Turn, judge_turn, mark_of
from tests.core.build import PROJECT

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOURLY = JobSettings("sweep", "@hourly", prompt="Sweep.")
DAILY = JobSettings("nightly", "0 3 * * *", prompt="Look.")


class Life:
    """A job over time: what is decided is put on record, as the effects do it."""

    def __init__(self, job: JobSettings, *, at: datetime = START) -> None:
        self.job, self.now = job, at
        self.record: JobRecord | None = None
        self.runs: list[JobRun] = []
        self.held = ""
        self.wanted: datetime | None = None
        self.paused = False

    def world(self) -> World:
        view = JobView(self.job, self.record, tuple(reversed(self.runs)), self.held, self.wanted)
        project = ProjectWorld(ProjectSettings(PROJECT), Known("main"), jobs=(view,), paused=self.paused)
        return World(self.now, Settings(), {PROJECT: project})

    def look(self, at: datetime) -> list[StartJob]:
        """Look until nothing is to be done; the starts."""
        self.now = at
        started: list[StartJob] = []
        for _ in range(10):
            actions = decide(self.world()).actions
            if not actions:
                return started
            (action,) = actions
            if isinstance(action, NoteJob):
                enabled = self.record.enabled if self.record else None
                self.record = JobRecord(PROJECT, self.job.name, action.mark, at, enabled)
            elif isinstance(action, StartJob):
                assert all(run.due_at != action.due_at for run in self.runs), "twice for one time"
                state = JobState.SKIPPED if action.skip else JobState.DONE
                self.runs.append(JobRun(PROJECT, self.job.name, action.due_at, at, state, action.is_late))
                started.append(action)
        raise AssertionError("it never rests")


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def test_a_new_job_is_not_due_for_what_was_before_and_then_fires_at_each_time():
    life = Life(HOURLY)
    assert life.look(START + timedelta(minutes=30)) == []
    assert life.look(START + timedelta(minutes=59)) == []
    (first,) = life.look(START + hours(1))
    assert (first.due_at, first.is_late, first.skip) == (START + hours(1), False, "")
    assert life.look(START + hours(1.5)) == []
    assert [one.due_at for one in life.look(START + hours(2.01))] == [START + hours(2)]


def test_the_loop_wakes_when_a_job_is_due():
    life = Life(replace(HOURLY, schedule="1 12 * * *"))
    life.look(START + timedelta(seconds=30))
    assert decide(life.world()).wake_at == START + timedelta(minutes=1)
    life.paused = True
    assert decide(life.world()).wake_at == life.now + timedelta(seconds=life.world().settings.interval_s)


@pytest.mark.case("C189")
@pytest.mark.parametrize(("catch_up", "skips"), [(CatchUp.ONCE, False), (CatchUp.SKIP, True)])
def test_after_downtime_it_fires_once_and_late_or_not_at_all(catch_up, skips):
    life = Life(replace(DAILY, catch_up=catch_up), at=START)
    life.look(START)
    assert life.look(START + hours(15))[0].due_at == datetime(2026, 3, 2, 3, tzinfo=UTC)
    (made_up,) = life.look(START + hours(15 + 24 * 4 + 13))  # down over four nights
    assert made_up.due_at == datetime(2026, 3, 6, 3, tzinfo=UTC)
    assert (made_up.is_late, bool(made_up.skip)) == (True, skips)
    assert life.look(START + hours(15 + 24 * 4 + 14)) == []
    (next_one,) = life.look(datetime(2026, 3, 7, 3, 0, 2, tzinfo=UTC))
    assert (next_one.is_late, next_one.skip) == (False, "")


def test_a_short_delay_is_not_late():
    life = Life(replace(DAILY, catch_up=CatchUp.SKIP))
    life.look(START)
    (one,) = life.look(datetime(2026, 3, 2, 3, 4, 59, tzinfo=UTC))
    assert (one.is_late, one.skip) == (False, "")


def test_while_its_last_task_lives_a_time_is_only_written_down():
    life = Life(HOURLY)
    life.look(START)
    life.held = "its last task, a/b#i1, is in_progress"
    (one,) = life.look(START + hours(1))
    assert one.skip == life.held
    life.held = ""
    assert [run.skip for run in life.look(START + hours(2))] == [""]


def test_a_person_who_asked_while_it_was_starting_is_told_why_not():
    life = Life(HOURLY)
    life.look(START)
    life.wanted, life.held = START + timedelta(minutes=1), "its last task, a/b#i1, is in_progress"
    (one,) = life.look(START + timedelta(minutes=2))
    assert (one.by_hand, one.skip) == (True, life.held)
    assert life.look(START + timedelta(minutes=3)) == []


def test_switched_off_paused_or_draining_nothing_starts():
    life = Life(replace(HOURLY, enabled=False))
    assert life.look(START) == []
    life.record = JobRecord(PROJECT, "sweep", "", START, enabled=True)  # by hand
    assert life.look(START) == []
    assert len(life.look(START + hours(1))) == 1
    life.paused = True
    assert life.look(START + hours(5)) == []
    life.paused = False
    assert [one.due_at for one in life.look(START + hours(5.5))] == [START + hours(5)]


def test_another_schedule_counts_from_when_it_is_seen():
    life = Life(DAILY)
    life.look(START)
    life.job = replace(DAILY, schedule="0 11 * * *")
    assert life.look(START + hours(1)) == []
    assert [one.due_at for one in life.look(START + hours(23))] == [START + hours(23)]
    assert life.record is not None
    assert life.record.mark == mark_of(JobView(life.job))


def test_a_clock_that_is_set_back_fires_nothing_twice_and_one_that_ran_ahead_stops_nothing():
    life = Life(HOURLY)
    life.look(START)
    assert len(life.look(START + hours(1))) == 1
    assert life.look(START + timedelta(minutes=50)) == []  # ten minutes back
    assert life.look(START + hours(1)) == []
    ahead = START + timedelta(days=400)
    assert [one.due_at for one in life.look(ahead)] == [ahead]  # a year ahead, and back again
    assert life.look(START + hours(1.5)) == []
    assert [one.due_at for one in life.look(START + hours(2))] == [START + hours(2)]
    fresh = Life(HOURLY)
    fresh.look(ahead)  # first seen under the wrong clock
    fresh.look(START)
    assert [one.due_at for one in fresh.look(START + hours(1))] == [START + hours(1)]


def test_what_was_cut_short_is_taken_up_again_whatever_the_switch_says():
    life = Life(replace(HOURLY, enabled=False))
    life.runs.append(JobRun(PROJECT, "sweep", START, START, JobState.BEGUN, is_late=True))
    (action,) = decide(life.world()).actions
    assert isinstance(action, StartJob)
    assert (action.due_at, action.is_late) == (START, True)
    flying = replace(life.world(), in_flight=(action,))
    assert decide(flying).actions == ()


@pytest.mark.case("C192")
def test_a_start_that_is_slow_is_not_asked_for_again():
    life = Life(HOURLY)
    life.look(START)
    life.now = START + hours(1)
    (action,) = decide(life.world()).actions
    for seconds in (45, 90, 135):
        life.now = START + hours(1) + timedelta(seconds=seconds)
        assert decide(replace(life.world(), in_flight=(action,))).actions == ()


def test_commands_beside_each_other_are_few():
    job = replace(HOURLY, prompt="", run=("true",))
    views = tuple(
        JobView(replace(job, name=f"job{n}"), JobRecord(PROJECT, f"job{n}", "0 * * * * UTC", START)) for n in range(9)
    )
    project = ProjectWorld(ProjectSettings(PROJECT), Known("main"), jobs=views)
    world = World(START + hours(1), Settings(), {PROJECT: project})
    started = decide(world).actions
    assert len(started) == COMMANDS_AT_ONCE
    assert decide(replace(world, in_flight=started)).actions == ()
    assert len(decide(replace(world, in_flight=started[1:])).actions) == 1


JUMPS = st.lists(st.tuples(st.sampled_from(["on", "on", "on", "back", "ahead"]), st.integers(1, 40_000)), max_size=40)


@settings(max_examples=60, deadline=None)
@given(JUMPS, st.sampled_from(["@hourly", "*/20 * * * *", "0 3 * * *", "30 2 * * 0"]), st.sampled_from(list(CatchUp)))
def test_no_time_is_ever_started_twice_whatever_the_clock_does(steps, schedule, catch_up):
    life = Life(JobSettings("any", schedule, "Europe/Berlin", prompt="x", catch_up=catch_up))
    now = START
    for kind, seconds in steps:
        now += timedelta(seconds=-seconds if kind == "back" else seconds)
        for action in life.look(now):  # look itself fails on a second one
            assert action.due_at <= now
    life.look(now + timedelta(days=8))
    later = life.look(now + timedelta(days=16))
    assert later, "it never fires again"


def test_a_year_of_looks_starts_each_time_that_the_almanac_knows():
    """The policy with its looks, not the schedule alone, a quarter of an hour apart."""
    life = Life(JobSettings("any", "30 2 * * *", "Europe/Berlin", prompt="x"), at=datetime(2026, 1, 1, tzinfo=UTC))
    at, seen = life.now, []
    while at < datetime(2027, 1, 1, tzinfo=UTC):
        seen += life.look(at)
        at += timedelta(minutes=15)
    assert len(seen) == 365
    assert not [one for one in seen if one.is_late]


@pytest.mark.parametrize(
    ("last", "by_hand", "turn"),
    [
        (None, False, Turn.TAKE),
        (DueNote("me", "here", START), False, Turn.OURS),
        (DueNote("me", "here", START - hours(1)), False, Turn.TAKE),
        (DueNote("other", "there", START), False, Turn.THEIRS),
        (DueNote("other", "there", START - hours(1)), False, Turn.LATER),
        (DueNote("other", "there", START - hours(1)), True, Turn.TAKE),
        (DueNote("other", "there", START), True, Turn.TAKE),
        (DueNote("me", "here", START), True, Turn.OURS),
        (DueNote("other", "there", START + hours(9)), False, Turn.TAKE),  # by a clock that ran ahead
    ],
)
def test_whose_turn_a_due_time_is(last, by_hand, turn):
    now = START + timedelta(minutes=2)
    assert judge_turn(last, due_at=START, me="me", now=now, by_hand=by_hand) is turn
    if turn is Turn.LATER:
        assert judge_turn(last, due_at=START, me="me", now=START + TURN, by_hand=by_hand) is Turn.TAKE
