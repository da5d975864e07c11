"""Whether the loop still lives: each time it begins or rests, it says until when it is back."""

from nightcrew.ports.clock import Clock

TICK_WITHIN_S = 180.0
"""How long a tick may take before something is wrong. What it awaits is bounded in time."""
SLACK_S = 15.0
"""How late the end of a rest may be on a machine that is busy."""


class Beat:
    """The loop's promise. Told by the monotonic clock, which stands still while the machine sleeps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_s = clock.monotonic()
        self._due_s = self._last_s + TICK_WITHIN_S

    def begin(self) -> None:
        """A tick begins."""
        self._promise(TICK_WITHIN_S)

    def rest(self, pause_s: float) -> None:
        """It rests for as long."""
        self._promise(pause_s + SLACK_S)

    @property
    def age_s(self) -> float:
        """How long ago the loop last did something."""
        return self._clock.monotonic() - self._last_s

    @property
    def overdue_s(self) -> float:
        """By how much it is late; 0 if it is not."""
        return max(0.0, self._clock.monotonic() - self._due_s)

    def _promise(self, within_s: float) -> None:
        self._last_s = self._clock.monotonic()
        self._due_s = self._last_s + within_s
