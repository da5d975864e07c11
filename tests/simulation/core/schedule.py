"""What happens when: a heap of things to come. Time jumps from one to the next, so that hours in which nothing happens
cost nothing."""

import heapq
from collections.abc import Callable

Happening = Callable[[], None]


class Schedule:
    """Things to come, in the order of their time and then of their planning. Times are seconds since the beginning."""

    def __init__(self) -> None:
        self.clock_s = 0.0
        self._count = 0
        self._heap: list[tuple[float, int, bool, Happening]] = []

    def after(self, delay_s: float, happening: Happening, *, is_local: bool = True) -> None:
        """Plan something. What is local stands still while the machine sleeps; the forge and people do not."""
        self._count += 1
        heapq.heappush(self._heap, (self.clock_s + delay_s, self._count, is_local, happening))

    @property
    def next_at_s(self) -> float:
        return self._heap[0][0] if self._heap else float("inf")

    def pop(self) -> Happening:
        """The next thing; the clock goes on to it."""
        at_s, _, _, happening = heapq.heappop(self._heap)
        self.clock_s = max(self.clock_s, at_s)
        return happening

    def sleep(self, duration_s: float) -> None:
        """The machine stands still for a while: all that is local comes later by so much."""
        self._heap = [
            (at_s + duration_s if is_local else at_s, count, is_local, what)
            for at_s, count, is_local, what in self._heap
        ]
        heapq.heapify(self._heap)
