"""What everybody in the simulation shares: chance, the world, what is to come, and the trace."""

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from tests.core.build import NOW
from tests.simulation.core.schedule import Schedule
from tests.simulation.core.truth import Simulated

INTERVAL_S = 45.0


@dataclass(slots=True)
class Scene:
    """`stale` are issues about which something changed on the forge that Nightcrew has not looked at. `skew_s` is how
    far the machine's clock is from the true time."""

    rng: Random
    sim: Simulated
    schedule: Schedule = field(default_factory=Schedule)
    trace: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=80))
    stale: dict[int, None] = field(default_factory=dict)
    skew_s: float = 0.0
    slept_s: float = 0.0
    is_calm: bool = False
    """No fault any more: all that can end has to."""
    steps: int = 0

    def note(self, words: str) -> None:
        self.trace.append((self.schedule.clock_s, words))

    def set_clock(self) -> None:
        self.sim.clock_s = self.schedule.clock_s - self.slept_s
        self.sim.now = NOW + timedelta(seconds=self.schedule.clock_s + self.skew_s)

    def mark(self, number: int) -> None:
        """Something of an issue changed on the forge; Nightcrew sees it when it reads next."""
        self.stale[number] = None

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def spread(self, least_s: float, most_s: float) -> float:
        """A span in seconds; short ones are as likely as long ones, by order of magnitude."""
        return float(least_s * (most_s / least_s) ** self.rng.random())
