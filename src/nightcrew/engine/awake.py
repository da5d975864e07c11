"""How long this machine and this service were awake. Wall and monotonic time are compared at each look: where they
drift apart the machine slept or its clock was set, and where neither look came in time nobody was there to see.

Stall policies (silence, overdue) count by this clock, so that a laptop that slept blames no agent. What the wall clock
says is not changed here.
"""

from datetime import datetime

from nightcrew.ports.clock import Clock

DRIFT_S = 30.0
"""How far wall and monotonic time may drift apart between two looks: clocks are slewed by less."""


class Awake:
    """Seconds that were seen to pass, and how often the seeing was broken."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall = clock.now()
        self._mono = clock.monotonic()
        self.seconds = 0.0
        self.breaks = 0
        """Sleeps, clocks that were set forward, and looks that came far too late: stall policies start anew."""

    def look(self, *, within_s: float) -> None:
        """Take note of now. A look that comes later than `within_s` after the last one breaks the seeing."""
        wall, mono = self._clock.now(), self._clock.monotonic()
        passed_s = mono - self._mono
        drift_s = (wall - self._wall).total_seconds() - passed_s
        self._wall, self._mono = wall, mono
        if drift_s > DRIFT_S or passed_s > within_s:
            self.breaks += 1
        else:
            self.seconds += passed_s

    def has_drifted(self, *, wall: datetime, mono: float) -> bool:
        """Whether the two clocks have drifted apart since a moment that both were read at."""
        apart_s = (self._wall - wall).total_seconds() - (self._mono - mono)
        return abs(apart_s) > DRIFT_S
