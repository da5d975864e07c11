"""When to try again after trouble on the way: how often, how long to wait, and when to stop bothering a forge that is
down. Which requests may be repeated is decided in `request`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightcrew.core.errors import Unavailable
from nightcrew.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `tries` in all, waits doubling from `first_wait_s` with jitter, all begun within `within_s`."""

    tries: int = 4
    first_wait_s: float = 0.5
    longest_wait_s: float = 8.0
    within_s: float = 45.0

    def wait_s(self, failures: int, jitter: Callable[[], float]) -> float:
        """How long to wait after so many failures: between half and all of the doubled wait."""
        full = min(self.first_wait_s * 2.0 ** (failures - 1), self.longest_wait_s)
        return full * (0.5 + jitter() / 2)


class Outage:
    """Whether the forge seems to be down as a whole. After `AFTER` requests in a row that failed for good, requests
    are refused here for a growing time; while in doubt each request is tried once only."""

    AFTER = 3
    FIRST_S = 5.0
    LONGEST_S = 60.0

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._until: datetime | None = None

    @property
    def is_suspected(self) -> bool:
        return self._failures > 0

    def check(self) -> None:
        """Raises Unavailable(retry_at) while the forge is left alone."""
        if self._until is not None and self._until > self._clock.now():
            raise Unavailable(
                f"the forge did not answer {self._failures} times, again after {self._until:%H:%M:%S} UTC",
                retry_at=self._until,
            )

    def record_success(self) -> None:
        self._failures, self._until = 0, None

    def record_failure(self) -> datetime | None:
        """A request failed for good; from when on to try again, once that is set."""
        self._failures += 1
        beyond = self._failures - self.AFTER
        if beyond >= 0:
            wait_s = min(self.FIRST_S * 2.0 ** min(beyond, 10), self.LONGEST_S)
            self._until = self._clock.now() + timedelta(seconds=wait_s)
        return self._until
