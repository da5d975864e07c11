"""The loop of made-up time."""

import asyncio
import random

import pytest

from tests.simulation.engine.virtual import run_virtually


async def _sleepers() -> list[tuple[str, float]]:
    seen: list[tuple[str, float]] = []
    loop = asyncio.get_running_loop()

    async def one(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, loop.time()))

    async with asyncio.TaskGroup() as group:
        for name, seconds in (("week", 604_800.0), ("blink", 0.001), ("hour", 3600.0)):
            group.create_task(one(name, seconds))
    return seen


def test_time_jumps_to_the_next_timer():
    assert run_virtually(_sleepers()) == [("blink", 0.001), ("hour", 3600.0), ("week", 604_800.0)]


def test_a_time_limit_is_kept_in_made_up_time():
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1800):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run_virtually(main()) == 1800


def test_a_thread_is_refused():
    async def main() -> None:
        await asyncio.to_thread(print)

    with pytest.raises(RuntimeError, match="thread"):
        run_virtually(main())


def test_what_can_never_end_is_found():
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="nothing will ever happen"):
        run_virtually(main())


async def _order() -> list[int]:
    seen: list[int] = []

    async def one(number: int) -> None:
        await asyncio.sleep(0)
        seen.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(one(number))
    return seen


def test_the_order_of_what_is_ready_follows_the_seed():
    orders = [run_virtually(_order(), shuffle=random.Random(seed)) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == run_virtually(_order()) == list(range(6))
