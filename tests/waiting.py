"""Waiting for a condition with a deadline, the only way a test here waits."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")


@overload
async def eventually(
    condition: Callable[[], Awaitable[T]], *, within_s: float = 20.0, every_s: float = 0.02, what: str = ""
) -> T: ...


@overload
async def eventually(
    condition: Callable[[], T], *, within_s: float = 20.0, every_s: float = 0.02, what: str = ""
) -> T: ...


async def eventually(
    condition: Callable[[], Any], *, within_s: float = 20.0, every_s: float = 0.02, what: str = ""
) -> Any:
    """Return the first truthy answer of `condition`; fail with `what` once `within_s` seconds have passed."""
    deadline = time.monotonic() + within_s
    while True:
        answer = condition()
        value = await answer if inspect.isawaitable(answer) else answer
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s} s: {what or condition}; last answer: {value!r}")
        await asyncio.sleep(every_s)


def eventually_sync(condition: Callable[[], T], *, within_s: float = 20.0, every_s: float = 0.02, what: str = "") -> T:
    """The same for tests without a loop."""
    deadline = time.monotonic() + within_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s} s: {what or condition}; last answer: {value!r}")
        time.sleep(every_s)
