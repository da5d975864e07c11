"""An event loop without sockets, threads or waiting: when nothing is ready, its time jumps to the next timer.

Callbacks that are ready together may run in any order that a given random source says. Whatever would leave the loop
(a thread, a socket) raises, so that nothing of the real world gets into a run.
"""

import asyncio
import random
from collections import deque
from collections.abc import Coroutine
from itertools import count
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


class NumberedTask(asyncio.Task[Any]):
    """A task whose hash is its number: sets of tasks (a task group has one) are walked in the same order each time."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], *, number: int, **named: Any) -> None:
        self.number = number
        super().__init__(coroutine, **named)

    def __hash__(self) -> int:
        return self.number


class VirtualLoop(asyncio.BaseEventLoop):
    """`shuffle` reorders what is ready at the same time; without it the order is that of asyncio."""

    _ready: deque[asyncio.Handle]  # as in BaseEventLoop, in all versions since 3.4
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, shuffle: random.Random | None = None) -> None:
        super().__init__()
        self._virtual_now = 0.0
        self._shuffle = shuffle
        self._numbers = count(1)
        self._selector = self
        self._clock_resolution = 1e-9
        self.set_task_factory(self._make_task)

    def time(self) -> float:
        return self._virtual_now

    def select(self, timeout: float | None) -> tuple[()]:
        """What a selector does: here it lets the time pass."""
        if timeout is None:
            raise RuntimeError("everything waits, and nothing will ever happen")
        if timeout > 0:
            self._virtual_now = max(self._virtual_now, self._scheduled[0].when())
        elif self._shuffle is not None and len(self._ready) > 1:
            ready = list(self._ready)
            self._shuffle.shuffle(ready)
            self._ready.clear()
            self._ready.extend(ready)
        return ()

    def run_in_executor(self, *_args: Any, **_named: Any) -> NoReturn:  # type: ignore[override]  # it never returns
        raise RuntimeError("a thread was asked for: in a simulation nothing may leave the loop")

    def _process_events(self, _events: object) -> None:
        return None

    def _write_to_self(self) -> None:
        return None

    def _make_task(self, _loop: asyncio.AbstractEventLoop, coroutine: Any, **named: Any) -> NumberedTask:
        return NumberedTask(coroutine, number=next(self._numbers), loop=self, **named)


def run_virtually(main: Coroutine[Any, Any, T], *, shuffle: random.Random | None = None) -> T:
    """Run a coroutine to its end on a loop of its own."""
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(shuffle)) as runner:
        return runner.run(main)
