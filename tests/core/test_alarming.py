"""Which cooldowns a person is told of, what to do about them, and when nothing goes on at all."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import COOLDOWN_RULES, Cooldown
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.settings import AgentSettings
from nightcrew.core.model.task import Task
from nightcrew.core.policy.alarming import (
    WORTH_TELLING,
    find_free_agents,
    find_standstill,
    told_of_cooldown,
    told_of_return,
    told_of_standstill,
)
from nightcrew.core.policy.cooling import NEEDS_PERSON
from tests.core.build import NOW, a_route, a_task

LATER = NOW + timedelta(hours=1)
ANN = AgentSettings("ann", "fake")
BOB = AgentSettings("bob", "fake", models={Complexity.SIMPLE: ("small",), Complexity.COMPLEX: ("large", "small")})


def rests(
    agent: str = "ann",
    model: str | None = None,
    kind: FailureKind = FailureKind.AUTH,
    until_at: datetime = LATER,
    why: str = "401 invalid token.",
) -> Cooldown:
    return Cooldown(agent, model, kind, until_at, 1, why, NOW)


def routed(number: int, agent: str = "ann", status: Status = Status.ROUTED) -> Task:
    return replace(a_task(status, number), route=replace(a_route(), agent=agent, model=""))


@pytest.mark.case("C241")
def test_it_says_who_what_to_do_and_how_many_wait():
    tasks = [routed(1), routed(2), routed(3, "bob"), routed(4, status=Status.DONE), routed(5, status=Status.BLOCKED)]
    told = told_of_cooldown(rests(), ANN, tasks, login="ann /login", others=())
    assert told is not None
    assert told.priority is Priority.ACTION
    assert told.words == (
        "ann is not logged in any more, or its key is not accepted: 401 invalid token. What to do: run `ann /login` on "
        "this machine and log in; then `nightcrew cooldown clear ann`, else it is tried again at 2026-03-01 13:00 UTC. "
        "2 tasks wait for it"
    ).replace("2026-03-01 13:00", f"{LATER:%Y-%m-%d %H:%M}")


def test_others_take_what_waits():
    told = told_of_cooldown(rests(), ANN, [routed(1)], login="", others=("bob", "cleo"))
    assert told is not None
    assert told.words.endswith("One task waits for it; bob, cleo can be used meanwhile")
    assert "What to do: log it in again;" in told.words


@pytest.mark.case("C242")
def test_a_key_of_the_settings_is_named():
    agent = replace(ANN, env={"ANN_BASE_URL": "x", "ANN_API_KEY": "env:KEY"})
    told = told_of_cooldown(rests(), agent, [], login="ann /login", others=())
    assert told is not None
    assert "look at `agents.ann.env.ANN_API_KEY`;" in told.words
    assert "No tasks wait for it" in told.words


@pytest.mark.parametrize("kind", FailureKind)
def test_what_passes_by_itself_is_told_nobody(kind):
    row = rests(kind=kind, model="large")
    told = told_of_cooldown(row, ANN, [], login="", others=())
    back = told_of_return(row)
    assert (told is None) is (back is None) is (kind not in NEEDS_PERSON)
    if told is not None and back is not None:
        assert told.words.startswith("ann (large) ")
        assert back.priority is Priority.INFO
        assert kind in COOLDOWN_RULES


def test_one_free_model_is_enough():
    rows = [rests("bob", "small")]
    assert find_free_agents((ANN, BOB), rows, now=NOW) == ("ann", "bob")
    rows.append(rests("bob", "large"))
    assert find_free_agents((ANN, BOB), rows, now=NOW) == ("ann",)
    assert find_free_agents((ANN, BOB), rows, now=LATER) == ("ann", "bob")
    assert find_free_agents((replace(ANN, enabled=False), replace(BOB, can_author=False)), (), now=NOW) == ()


def test_nothing_goes_on_only_where_all_rest():
    both = [rests(), rests("bob", "small"), rests("bob", "large", until_at=LATER + timedelta(hours=1))]
    assert find_standstill((ANN, BOB), both[:2], now=NOW) is None
    assert find_standstill((), both, now=NOW) is None
    still = find_standstill((ANN, BOB), both, now=NOW)
    assert still is not None
    assert [(row.agent, row.model) for row in still.rests] == [("ann", None), ("bob", "small")]
    told = told_of_standstill(still, [routed(1), routed(2), routed(3, status=Status.BLOCKED)])
    assert told.priority is Priority.URGENT
    assert "and 2 tasks wait for one: ann: auth until" in told.words
    assert "; bob (small): auth until" in told.words
    off = replace(BOB, enabled=False)
    assert find_standstill((ANN, off), both[:1], now=NOW) is not None


def test_a_short_rest_that_passes_by_itself_is_no_news():
    short = rests(kind=FailureKind.RATE_LIMIT, until_at=NOW + WORTH_TELLING - timedelta(seconds=1))
    assert find_standstill((ANN,), [short], now=NOW) is None
    long = rests(kind=FailureKind.USAGE_WINDOW, until_at=NOW + WORTH_TELLING)
    still = find_standstill((ANN,), [long], now=NOW)
    assert still is not None
    assert told_of_standstill(still, []).priority is Priority.ACTION
    soon = rests(until_at=NOW + timedelta(minutes=10))
    assert find_standstill((ANN,), [soon], now=NOW) is not None
