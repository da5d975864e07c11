"""What a token has left: polling stops first, then everything, and a restart forgets neither."""

from datetime import timedelta

import pytest

from nightcrew.core.errors import HeldBack, Unavailable
from nightcrew.core.model.forge import ForgeBudget
from nightcrew.core.model.quota import Pace
from nightcrew.forges.github.budget import KEY, Budget
from nightcrew.ports.purpose import Purpose, serving
from tests.adapters.github.stage import BASE, START, TOKEN, Reply, Script, StillClock, answer_of, forge_over, issue_json
from tests.adapters.github.stage import limited as refused
from tests.fakes.store import MemoryStore

ISSUE, QUERY = f"{BASE}/repos/o/r/issues/1", f"{BASE}/graphql"
HOUR_S = 3600


def left(count: int, *, of: int = 5000, resource: str = "core", reset_s: int = HOUR_S) -> dict[str, str]:
    return {
        "x-ratelimit-limit": str(of),
        "x-ratelimit-remaining": str(count),
        "x-ratelimit-reset": str(int(START.timestamp()) + reset_s),
        "x-ratelimit-resource": resource,
    }


def told(budget: Budget, count: int, **more) -> None:
    budget.observe(answer_of(200, left(count, **more)), is_write=False)


@pytest.mark.parametrize(
    ("count", "pace", "polls", "works"),
    [
        (1251, Pace.OPEN, True, True),
        (1250, Pace.SLOW, True, True),
        (501, Pace.SLOW, True, True),
        (500, Pace.STOPPED, False, True),
        (101, Pace.STOPPED, False, True),
        (100, Pace.CLOSED, False, False),
    ],
)
def test_polling_stops_first_and_a_last_reserve_is_never_used(count, pace, polls, works):
    budget = Budget(StillClock())
    told(budget, count)
    assert budget.pace().pace is pace
    for purpose, may in ((Purpose.POLLING, polls), (Purpose.WORK, works)):
        with serving(purpose):
            if may:
                budget.check(ISSUE)
            else:
                with pytest.raises(Unavailable, match="few of its requests are left until 09:00 UTC") as caught:
                    budget.check(ISSUE)
                assert caught.value.retry_at == START + timedelta(seconds=HOUR_S + 1)
                assert isinstance(caught.value, HeldBack) is works


def test_the_shares_are_as_they_are_set():
    budget = Budget(StillClock(), rules=ForgeBudget(slow=90, stop=50, reserve=20))
    for count, pace in ((4600, Pace.OPEN), (4500, Pace.SLOW), (2500, Pace.STOPPED), (1000, Pace.CLOSED)):
        told(budget, count)
        assert budget.pace().pace is pace


def test_graphql_points_are_apart():
    budget = Budget(StillClock())
    told(budget, 50, resource="graphql")
    budget.check(ISSUE)
    with pytest.raises(Unavailable, match="GraphQL points"):
        budget.check(QUERY)
    assert budget.pace().pace is Pace.OPEN


def test_after_the_reset_everything_is_allowed_again():
    clock = StillClock()
    budget = Budget(clock)
    told(budget, 10)
    clock.advance(HOUR_S)
    with pytest.raises(Unavailable):
        budget.check(ISSUE)
    clock.advance(2)
    budget.check(ISSUE)
    assert budget.pace().pace is Pace.OPEN
    assert budget.purses == ()


def test_an_answer_that_was_overtaken_gives_nothing_back():
    budget = Budget(StillClock())
    told(budget, 400)
    told(budget, 3000, reset_s=HOUR_S + 2)
    assert budget.pace().pace is Pace.STOPPED
    told(budget, 4999, reset_s=2 * HOUR_S)
    assert budget.pace().pace is Pace.OPEN


def test_small_limits_are_used_whole():
    budget = Budget(StillClock())
    told(budget, 1, of=30, resource="search")
    with serving(Purpose.POLLING):
        budget.check(f"{BASE}/search/issues")


def test_nonsense_in_the_headers_is_no_limit():
    budget = Budget(StillClock())
    for headers in ({"x-ratelimit-limit": "0", "x-ratelimit-remaining": "-1"}, {"x-ratelimit-limit": "many"}):
        budget.observe(answer_of(200, headers | {"x-ratelimit-reset": "soon"}), is_write=False)
    assert (budget.purses, budget.pace().pace) == ((), Pace.OPEN)


@pytest.mark.case("C023")
async def test_a_restart_neither_polls_away_what_was_kept_nor_asks_into_a_limit():
    script, clock, store = Script(), StillClock(), MemoryStore()
    script.on("GET", "/repos/o/r/issues/1", Reply(200, issue_json(), left(300)))
    async with forge_over(script, clock=clock, store=store) as forge:
        await forge.fetch_issue("o/r", 1)
    async with forge_over(script, clock=clock, store=store) as forge:
        with serving(Purpose.POLLING), pytest.raises(HeldBack):
            await forge.list_open_issues("o/r")
        assert len(script.asked) == 1
        script.on("GET", "/repos/o/r/issues/1", refused("You have exceeded a secondary rate limit", retry_after="90"))
        with pytest.raises(Unavailable):
            await forge.fetch_issue("o/r", 1)
    async with forge_over(script, clock=clock, store=store) as forge:
        with pytest.raises(Unavailable) as caught:
            await forge.fetch_issue("o/r", 1)
        assert caught.value.retry_at == START + timedelta(seconds=90)
        assert len(script.asked) == 2


async def test_a_token_with_plenty_left_costs_no_write():
    script, store = Script(), MemoryStore()
    script.on("GET", "/repos/o/r/issues/1", *(Reply(200, issue_json(), left(5000 - count)) for count in range(50)))
    async with forge_over(script, store=store) as forge:
        for _ in range(50):
            await forge.fetch_issue("o/r", 1)
    assert await store.load_values(KEY) == {}


@pytest.mark.parametrize(
    "kept",
    [
        "nonsense",
        "[]",
        '{"short": {"core": [5000, 1]}}',
        '{"short": {"core": [5000, 1, "2999-01-01T00:00:00+00:00"]}}',
        '{"closed": {"all": "2999-01-01T00:00:00+00:00"}}',
        '{"closed": {"all": "2000-01-01T00:00:00"}}',
    ],
)
async def test_what_was_kept_and_cannot_be_right_holds_nothing_up(kept):
    store, script = MemoryStore(), Script()
    script.on("GET", "/repos/o/r/issues/1", Reply(200, issue_json()))
    await store.save_value(f"{KEY}.{TOKEN.principal}", kept)
    async with forge_over(script, store=store) as forge:
        assert (await forge.fetch_issue("o/r", 1)).number == 1
