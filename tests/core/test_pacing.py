"""How often is looked."""

from dataclasses import replace

import pytest

from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import Check, CheckState, Required
from nightcrew.core.model.quota import Pace
from nightcrew.core.model.settings import Settings
from nightcrew.core.policy.pacing import (
    IDLE_AFTER_S,
    TOLD_IDLE_AFTER_S,
    flight_interval_s,
    has_open_checks,
    is_in_flight,
    project_interval_s,
)
from tests.core.build import a_pull, a_pull_view, a_task

DEFAULTS = Settings()


@pytest.mark.parametrize(
    ("idle_s", "pace", "is_told", "expected_s"),
    [
        (0, Pace.OPEN, False, 45),
        (IDLE_AFTER_S - 1, Pace.OPEN, False, 45),
        (IDLE_AFTER_S, Pace.OPEN, False, 90),
        (0, Pace.OPEN, True, 45),
        (TOLD_IDLE_AFTER_S, Pace.OPEN, True, 180),
        (0, Pace.SLOW, False, 180),
        (IDLE_AFTER_S, Pace.SLOW, True, 180),
        (0, Pace.STOPPED, False, 45),
    ],
)
def test_a_project_is_looked_at_less_often_when_idle_or_short(idle_s, pace, is_told, expected_s):
    assert project_interval_s(DEFAULTS, idle_s=idle_s, pace=pace, is_told=is_told) == expected_s


def test_the_longest_interval_never_shortens_the_ordinary_one():
    settings = Settings(interval_s=600, interval_max_s=180)
    assert project_interval_s(settings, idle_s=1e6, pace=Pace.OPEN, is_told=True) == 600
    low = Settings(interval_s=45, interval_max_s=60)
    assert project_interval_s(low, idle_s=1e6, pace=Pace.OPEN, is_told=False) == 60


@pytest.mark.parametrize(
    ("waited_s", "pace", "expected_s"),
    [(0, Pace.OPEN, 10), (200, Pace.OPEN, 10), (400, Pace.OPEN, 20), (7200, Pace.OPEN, 45), (0, Pace.SLOW, 45)],
)
def test_checks_are_looked_at_the_less_often_the_longer_they_take(waited_s, pace, expected_s):
    assert flight_interval_s(DEFAULTS, waited_s=waited_s, pace=pace) == expected_s


def test_the_shortest_interval_never_lengthens_the_ordinary_one():
    assert flight_interval_s(Settings(interval_s=2), waited_s=0, pace=Pace.OPEN) == 2


PENDING, GREEN = Check("unit", CheckState.PENDING, "check_run"), Check("unit", CheckState.SUCCESS, "check_run")
OWN = Check("nightcrew/lint", CheckState.PENDING, "status")


@pytest.mark.parametrize(
    ("checks", "required", "is_open"),
    [
        (Known((PENDING,)), (), True),
        (Known((GREEN,)), (), False),
        (Known(()), (), True),
        (Known((OWN,)), (), True),
        (Known((GREEN, OWN)), (), False),
        (Known((GREEN,)), ("build",), True),
        (Known((GREEN,)), ("unit",), False),
        (Unknown("down"), (), True),
    ],
)
def test_checks_of_others_that_have_not_ended_are_open(checks, required, is_open):
    view = replace(a_pull_view(), checks=checks, required=Known(Required(required)))
    assert has_open_checks(view) is is_open


def test_only_an_open_pull_request_that_waits_for_the_forge_is_in_flight():
    waiting = replace(a_pull_view(), checks=Known((PENDING,)), required=Known(Required()))
    settled = replace(waiting, checks=Known((GREEN,)))
    in_review, in_progress = a_task(status=Status.IN_REVIEW), a_task(status=Status.IN_PROGRESS)
    assert is_in_flight(in_review, waiting)
    assert not is_in_flight(in_progress, waiting)
    assert not is_in_flight(in_review, settled)
    assert is_in_flight(in_review, replace(settled, pull=a_pull(mergeable=None)))
    assert not is_in_flight(in_review, replace(waiting, pull=a_pull(is_open=False)))
