"""Limits, told apart from permissions and obeyed."""

import asyncio
import json

import httpx
import pytest

from nightcrew.core.errors import Denied, Unavailable
from nightcrew.forges.github.client import Answer
from nightcrew.forges.github.limit import Limits
from tests.adapters.github.stage import BASE, START, Reply, Script, StillClock, forge_over, issue_json, limited

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@pytest.mark.case("C022")
async def test_secondary_limit_without_retry_after_pauses_everything_and_grows():
    script, clock = Script(), StillClock()
    script.on("POST", "/repos/o/r/issues/1/comments", limited(SECONDARY, x_ratelimit_remaining="4290"))
    async with forge_over(script, clock=clock) as forge:
        for wait_s in (60, 120, 240):
            asked = len(script.asked)
            with pytest.raises(Unavailable) as caught:
                await forge.create_comment("o/r", 1, body="hello")
            assert caught.value.retry_at is not None
            assert (caught.value.retry_at - clock.now()).total_seconds() == wait_s
            assert len(script.asked) == asked + 1
            clock.advance(wait_s - 1)
            for call in (forge.create_comment("o/r", 1, body="hello"), forge.fetch_issue("o/r", 1)):
                with pytest.raises(Unavailable, match="rate limit"):
                    await call
            assert len(script.asked) == asked + 1
            clock.advance(1)


@pytest.mark.case("C022")
async def test_writes_that_wait_for_their_turn_are_held_back_by_a_limit():
    script = Script()
    script.on("POST", "/repos/o/r/issues/1/comments", limited(SECONDARY))
    async with forge_over(script) as forge:

        async def write() -> None:
            with pytest.raises(Unavailable):
                await forge.create_comment("o/r", 1, body="hello")

        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(write())
    assert len(script.asked) == 1


def test_a_secondary_limit_closes_every_resource_and_a_primary_one_its_own():
    clock = StillClock()
    for headers, message, open_to_graphql in (
        ({"x-ratelimit-resource": "core"}, SECONDARY, False),
        ({"x-ratelimit-resource": "core", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, "rate limit", True),
    ):
        limits = Limits(clock)
        answer = Answer(403, httpx.Headers(headers), json.dumps({"message": message}).encode(), f"{BASE}/user")
        assert limits.observe(answer, is_write=False) is not None
        with pytest.raises(Unavailable):
            limits.check(f"{BASE}/repos/o/r")
        if open_to_graphql:
            limits.check(f"{BASE}/graphql")
        else:
            with pytest.raises(Unavailable):
                limits.check(f"{BASE}/graphql")


async def test_growth_starts_anew_after_a_write_that_passed():
    script, clock = Script(), StillClock()
    good = Reply(201, {"id": 5, "created_at": "2026-11-01T08:00:00Z", "updated_at": "2026-11-01T08:00:00Z"})
    refused = limited(SECONDARY)
    script.on("POST", "/repos/o/r/issues/1/comments", refused, refused, good, refused)
    async with forge_over(script, clock=clock) as forge:
        waits = []
        for _ in range(4):
            try:
                await forge.create_comment("o/r", 1, body="hello")
            except Unavailable as error:
                assert error.retry_at is not None
                waits.append((error.retry_at - clock.now()).total_seconds())
                clock.advance(waits[-1])
        assert waits == [60, 120, 60]


@pytest.mark.case("C023")
async def test_primary_limit_waits_for_the_reset_as_the_forge_sees_it():
    script, clock = Script(), StillClock()
    # The forge's clock is an hour behind ours: what counts is how far its reset is from its own date.
    there = int(START.timestamp()) - 3600
    used_up = limited(
        "API rate limit exceeded for user ID 1.",
        x_ratelimit_remaining="0",
        x_ratelimit_reset=str(there + 24 * 60),
        date="Mon, 30 Nov 2026 07:00:00 GMT",
    )
    script.on("GET", "/repos/o/r/issues/1", used_up, Reply(200, issue_json()))
    async with forge_over(script, clock=clock) as forge:
        with pytest.raises(Unavailable) as caught:
            await forge.fetch_issue("o/r", 1)
        assert caught.value.retry_at is not None
        assert (caught.value.retry_at - clock.now()).total_seconds() == 24 * 60 + 1
        clock.advance(24 * 60)
        with pytest.raises(Unavailable):
            await forge.fetch_issue("o/r", 1)
        assert len(script.asked) == 1
        clock.advance(2)
        assert (await forge.fetch_issue("o/r", 1)).number == 1


async def test_the_last_allowed_request_closes_the_door_before_a_refusal():
    script, clock = Script(), StillClock()
    reset = str(int(START.timestamp()) + 600)
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset, "x-ratelimit-resource": "core"}
    script.on("GET", "/repos/o/r/issues/1", Reply(200, issue_json(), headers))
    async with forge_over(script, clock=clock) as forge:
        await forge.fetch_issue("o/r", 1)
        with pytest.raises(Unavailable):
            await forge.fetch_issue("o/r", 1)
        assert len(script.asked) == 1


async def test_retry_after_wins_over_our_own_wait():
    script, clock = Script(), StillClock()
    script.on("GET", "/user", Reply(429, {"message": "slow down"}, {"retry-after": "7"}), Reply(200, {"login": "me"}))
    async with forge_over(script, clock=clock) as forge:
        with pytest.raises(Unavailable) as caught:
            await forge.fetch_login()
        assert caught.value.retry_at is not None
        assert (caught.value.retry_at - clock.now()).total_seconds() == 7
        clock.advance(7)
        assert await forge.fetch_login() == "me"


@pytest.mark.case("C024")
async def test_missing_permission_is_no_limit_and_names_what_is_needed():
    script = Script()
    refusal = limited(
        "Resource not accessible by personal access token",
        x_ratelimit_remaining="0",
        x_accepted_github_permissions="issues=write",
    )
    script.on("POST", "/repos/o/r/issues/1/comments", refusal)
    async with forge_over(script) as forge:
        with pytest.raises(Denied) as caught:
            await forge.create_comment("o/r", 1, body="hello")
        assert caught.value.needed == "issues=write"


@pytest.mark.case("C025")
async def test_used_up_limit_at_start_is_not_a_bad_token():
    script = Script()
    script.on("GET", "/user", limited("API rate limit exceeded for user ID 1.", x_ratelimit_remaining="0"))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="rate limit"):
            await forge.fetch_login()


async def test_bad_token_is_denied_and_never_shown():
    script = Script()
    script.on("GET", "/user", Reply(401, {"message": "Bad credentials ghp_0123456789secret"}))
    async with forge_over(script) as forge:
        with pytest.raises(Denied, match="token is not valid") as caught:
            await forge.fetch_login()
        assert "secret" not in str(caught.value) + repr(forge)


async def test_graphql_budget_is_apart():
    script = Script()
    reset = str(int(START.timestamp()) + 600)
    used_up = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset, "x-ratelimit-resource": "graphql"}
    script.on("GET", "/user", Reply(200, {"login": "me"}, used_up))
    async with forge_over(script) as forge:
        await forge.fetch_login()
        assert await forge.fetch_login() == "me"


async def test_writes_go_one_at_a_time_a_second_apart():
    script, clock = Script(), StillClock()
    script.on("POST", "/repos/o/r/issues/1/labels", Reply(200, []))
    async with forge_over(script, clock=clock, write_interval_s=1.0) as forge:
        for name in ("a", "b", "c"):
            await forge.add_label("o/r", 1, name)
    assert clock.slept == [1.0, 1.0]
