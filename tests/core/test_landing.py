"""Is the base still green after a merge, and if not, was it that merge?"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.actions import SettleLanding
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.landing import Landing, LandingState, LandingView
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.policy.landing import SETTLING_S, judge_landing
from nightcrew.core.render import render_status_comment
from nightcrew.core.revert import describe_landing, is_offer, render_landing
from tests.core.build import (
    NOW,
    PROJECT,
    UNKNOWN,
    a_check,
    a_key,
    a_project,
    a_project_world,
    a_sha,
    a_task,
    a_view,
    a_world,
)
from tests.core.gate import F, K, N, P, S, checks

WATCH_S = MergeSettings().watch_s
NONE = Known(())


def a_landing(ago_s: float = SETTLING_S, **fields: Any) -> Landing:
    at = NOW - timedelta(seconds=ago_s)
    return replace(Landing(70, "main", a_sha(1), a_sha(2), at), **fields)


def judged(seen: Any, before: Any = NONE, now: Any = None, *, ago_s: float = SETTLING_S) -> tuple[str, tuple[str, ...]]:
    view = LandingView(a_key(), a_landing(ago_s), seen, before, seen if now is None else now)
    state, broken = judge_landing(view, a_project(), now=NOW)
    return state.value, broken


GREEN, RED = checks(("build", S)), checks(("build", F))


def test_what_was_green_before_and_fails_with_it_is_its_doing():
    assert judged(RED, GREEN, ago_s=5) == ("red", ("build",))
    assert judged(RED, checks(("build", K)), ago_s=5) == ("red", ("build",))


@pytest.mark.parametrize("before", [RED, NONE, checks(("build", P)), checks(("other", S))])
def test_what_was_not_green_before_is_not(before):
    assert judged(RED, before) == ("watched", ())


@pytest.mark.parametrize(("before", "now"), [(UNKNOWN, RED), (GREEN, UNKNOWN)])
def test_it_is_not_guessed(before, now):
    assert judged(RED, before, now) == ("watched", ())


def test_what_came_later_may_have_mended_it():
    assert judged(RED, GREEN, GREEN) == ("watched", ())
    assert judged(RED, GREEN, checks(("build", P))) == ("red", ("build",))


def test_the_same_name_in_both_systems_has_to_have_been_green_in_both():
    assert judged(RED, checks(("build", S), ("build", F, "status"))) == ("watched", ())


def test_one_that_was_not_paid_for_says_nothing():
    words = "The job was not started because recent account payments have failed or your spending limit ..."
    assert judged(Known((replace(a_check("build", F), annotations=(words,)),)), GREEN) == ("watched", ())


def test_green_takes_a_success_and_time_for_others_to_begin():
    assert judged(GREEN) == ("green", ())
    assert judged(GREEN, ago_s=SETTLING_S - 1) == ("watched", ())
    for seen in (NONE, checks(("build", K)), checks(("build", N)), checks(("build", S), ("lint", P)), UNKNOWN):
        assert judged(seen) == ("watched", ())


def test_it_is_watched_for_so_long_and_no_longer():
    for seen in (NONE, UNKNOWN, checks(("build", P)), RED):
        assert judged(seen, ago_s=WATCH_S - 1) == ("watched", ())
        assert judged(seen, ago_s=WATCH_S) == ("over", ())
    assert judged(RED, GREEN, ago_s=WATCH_S) == ("red", ("build",))


def test_what_is_known_of_it_is_settled_once():
    view = LandingView(a_key(), a_landing(), RED, GREEN, RED)
    world = a_world(a_view(task=a_task(Status.DONE, landing=a_landing())))
    watched = replace(world, projects={PROJECT: a_project_world(landings=(view,))})
    (action,) = [action for action in decide(watched).actions if isinstance(action, SettleLanding)]
    assert (action.state, action.checks) == (LandingState.RED, ("build",))
    assert action.why == "main was green, and is red since #70: build"
    quiet = replace(world, projects={PROJECT: a_project_world(landings=(replace(view, checks=NONE),))})
    assert not [action for action in decide(quiet).actions if isinstance(action, SettleLanding)]


def test_the_offer_is_never_taken_for_the_comment_that_is_kept_up_to_date():
    assert is_offer(render_landing(a_landing(), a_key()))
    assert not is_offer(render_status_comment(a_view(), None))


def test_it_is_told_with_what_can_be_done():
    red = a_landing(state=LandingState.RED, checks=("build", "lint"))
    assert describe_landing(red, a_key()).endswith("build, lint. Take it back with: nightcrew revert acme/widget#7")
    assert describe_landing(replace(red, revert=a_key(8)), a_key()).endswith("; acme/widget#8 takes it back")
