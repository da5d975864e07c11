"""What every part of a simulated world shares: chance by name, time, the trace of what happened, and the first thing
that went wrong."""

import asyncio
import hashlib
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

BEGIN = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
KEPT_LINES = 400


class Violation(AssertionError):
    """A rule does not hold."""

    def __init__(self, rule: str, words: str) -> None:
        super().__init__(f"{rule}: {words}")
        self.rule, self.words = rule, words


@dataclass(slots=True)
class TrueClock:
    """The time of the world outside: it goes on while the machine sleeps."""

    loop: asyncio.AbstractEventLoop
    slept_s: float = 0.0

    def now(self) -> datetime:
        return BEGIN + timedelta(seconds=self.loop.time() + self.slept_s)

    def monotonic(self) -> float:
        return self.loop.time() + self.slept_s


@dataclass(slots=True)
class MachineClock:
    """The clock of the machine: its wall may be wrong, its monotonic time stands still while it sleeps."""

    outside: TrueClock
    wrong_by_s: float = 0.0

    def now(self) -> datetime:
        return self.outside.now() + timedelta(seconds=self.wrong_by_s)

    def monotonic(self) -> float:
        return self.outside.loop.time()


class Scene:
    """One run of the simulation."""

    def __init__(self, seed: int, *, whole_trace: bool = False) -> None:
        self.seed = seed
        self.loop = asyncio.get_running_loop()
        self.outside = TrueClock(self.loop)
        self.clock = MachineClock(self.outside)
        self.broken: asyncio.Future[Violation] = self.loop.create_future()
        self.counts: dict[str, int] = {}
        self.lines: deque[str] = deque(maxlen=None if whole_trace else KEPT_LINES)
        self.steps = 0
        self._hash = hashlib.sha256()
        self._chances: dict[str, random.Random] = {}
        self.loop.set_exception_handler(self._on_stray_error)

    def chance(self, name: str) -> random.Random:
        """A random source of its own for each part, so that one part's draws do not shift another's."""
        if name not in self._chances:
            self._chances[name] = random.Random(f"{self.seed}/{name}")
        return self._chances[name]

    def note(self, words: str) -> None:
        """One line of the trace; two runs of a seed write the same."""
        line = f"{self.loop.time():.6f} {words}"
        self._hash.update(line.encode())
        self.steps += 1
        self.lines.append(line)

    @property
    def trace(self) -> str:
        return self._hash.hexdigest()

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def fail(self, rule: str, words: str) -> None:
        """Something that must never be. The first one ends the run."""
        if not self.broken.done():
            self.note(f"BROKEN {rule}: {words}")
            self.broken.set_result(Violation(rule, words))

    def demand(self, holds: object, rule: str, words: str) -> None:
        if not holds:
            self.fail(rule, words)

    def after(self, seconds: float, step: Callable[[], object]) -> asyncio.TimerHandle:
        """Something of the world outside that happens by itself."""
        return self.loop.call_later(seconds, step)

    def _on_stray_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        self.fail("no stray error", f"an error that nobody took: {context.get('message')}: {error!r}")
