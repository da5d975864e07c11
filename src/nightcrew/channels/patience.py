"""Asking again after a platform did not answer, with growing pauses; what is wrong is reported once, not each time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from nightcrew.core.errors import OutcomeUnknown, Unavailable
from nightcrew.ports.clock import Clock

_LONGEST_S = 60.0
T = TypeVar("T")


@dataclass(slots=True)
class Patience:
    """For calls that change nothing on the other side. Errors that waiting does not mend are raised."""

    name: str
    clock: Clock
    report: Callable[[str], None]
    first_pause_s: float = 1.0

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer, however long it takes."""
        pause_s, told = self.first_pause_s, False
        while True:
            try:
                answer = await ask()
            except (Unavailable, OutcomeUnknown) as error:
                if not told:
                    self.report(f"{self.name}: {error}")
                    told = True
                await asyncio.sleep(max(self._named(error), pause_s))
                pause_s = min(2 * pause_s, _LONGEST_S)
            else:
                if told:
                    self.report(f"{self.name}: it answers again")
                return answer

    def _named(self, error: Unavailable | OutcomeUnknown) -> float:
        """The seconds that the platform asked for."""
        retry_at = getattr(error, "retry_at", None)
        return 0.0 if retry_at is None else max((retry_at - self.clock.now()).total_seconds(), 0.0)
