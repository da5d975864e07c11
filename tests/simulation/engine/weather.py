"""Faults: what fails when, by the seed. Storms come and go; between them most calls work.

Every seed brings only some kinds of fault, so that a rare one is not drowned by the others.
"""

from dataclasses import dataclass
from datetime import timedelta

from nightcrew.core.errors import Denied, OutcomeUnknown, PortError, Unavailable
from tests.simulation.engine.scene import Scene

LATENCY_S = {"store": 0.0, "runtime": 0.03, "workspace": 0.4, "forge": 0.2}
STORE_WRITES = ("record_", "update_", "change_", "settle_", "save_", "mark_", "clear_")
READS = ("fetch_", "list_", "find_", "load_", "is_", "compare")
FORGE_READS = ("fetch_", "list_", "find_", "compare")
GIT_REMOTE = ("fetch", "push")
ONCE = ("create_comment", "create_pull", "post_review", "merge_pull")
STORMS = ("outage", "limited", "denied", "network", "slow", "tmux", "disk", "locked", "full")


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one call: how long until it takes effect and until its answer is there, and the error in the
    place of effect or answer. `lands_late_s` lets the effect come after the error."""

    go_s: float = 0.0
    back_s: float = 0.0
    before: PortError | None = None
    after: PortError | None = None
    lands_late_s: float = 0.0


NOTHING = Fate()


class Weather:
    """Draws the fate of every call."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._chance = scene.chance("weather")
        self.is_over = False
        self.storm = ""
        self.changed_at = 0.0
        self._until_at = scene.outside.now()
        swarm = scene.chance("swarm")
        self.kinds = tuple(kind for kind in STORMS if swarm.random() < 0.6)
        self.drizzle = swarm.choice((0.0, 0.003, 0.01, 0.03))
        self.once = swarm.choice((0.0, 0.05, 0.2))
        """How often the answer to a call gets lost that must not be made twice."""
        self._locked_until = 0.0
        self._plan()
        if "locked" in self.kinds:
            self._lock()

    def _lock(self) -> None:
        """Another program has the database for a moment, again and again."""
        self._scene.after(self._chance.expovariate(1 / 900), self._lock)
        if not self.is_over:
            self.changed_at = self._locked_until = self._scene.loop.time() + self._chance.uniform(1, 20)

    def clear(self) -> None:
        """No more faults."""
        self.is_over, self.storm = True, ""
        self.changed_at = self._scene.loop.time()

    @property
    def calm_s(self) -> float:
        """For how long nothing has failed by a storm, 0 if it may fail now."""
        if self.storm or (self.drizzle and not self.is_over):
            return 0.0
        return self._scene.loop.time() - self.changed_at

    def _plan(self) -> None:
        self._scene.after(self._chance.expovariate(1 / 5400), self._begin)

    def _begin(self) -> None:
        if self.is_over or not self.kinds:
            return
        self.storm = self._chance.choice(self.kinds)
        lasts_s = min(self._chance.expovariate(1 / 1200), 7200.0)
        if self.storm in ("locked", "full"):
            lasts_s = min(lasts_s / 4, 900.0)
        self._until_at = self._scene.outside.now() + timedelta(seconds=lasts_s)
        self.changed_at = self._scene.loop.time()
        self._scene.note(f"storm {self.storm} for {lasts_s:.0f} s")
        self._scene.count(f"storm {self.storm}")
        self._scene.after(lasts_s, self._end)

    def _end(self) -> None:
        if not self.is_over:
            self.storm, self.changed_at = "", self._scene.loop.time()
            self._scene.note("the storm is over")
            self._plan()

    def fate(self, port: str, method: str) -> Fate:
        """What becomes of a call of a port's method."""
        if port == "store" and self._scene.loop.time() < self._locked_until and not self.is_over:
            return Fate(go_s=1.0, before=Unavailable("the database is locked"))
        storm = self._storm(port, method)
        if storm is not None:
            return storm
        usual = LATENCY_S[port]
        if usual == 0.0:
            return NOTHING if self._chance.random() < 0.9 else Fate(go_s=self._chance.uniform(0, 0.02))
        is_read = method.startswith(READS)
        go_s, back_s = self._chance.uniform(0, usual), 0.0 if is_read else self._chance.uniform(0, usual)
        if method in ONCE and not self.is_over and self._chance.random() < self.once:
            return Fate(go_s, back_s, after=OutcomeUnknown("no answer"), lands_late_s=self._chance.choice((0.0, 2.0)))
        if self.is_over or self._chance.random() >= self.drizzle:
            return Fate(go_s, back_s)
        return self._drop(port, method, go_s, back_s)

    def _drop(self, port: str, method: str, go_s: float, back_s: float) -> Fate:
        """One call that goes wrong by itself."""
        self._scene.count(f"fault {port}")
        if self._chance.random() < 0.5:
            return Fate(go_s, back_s, before=Unavailable("connection reset"))
        if port == "forge" and not method.startswith(FORGE_READS):
            late_s = self._chance.choice((0.0, 0.0, self._chance.uniform(0, 4)))
            return Fate(go_s, back_s, after=OutcomeUnknown("no answer"), lands_late_s=late_s)
        return Fate(go_s, back_s, after=Unavailable("the answer was lost"))

    def _storm(self, port: str, method: str) -> Fate | None:
        match self.storm, port:
            case "locked", "store":
                return Fate(go_s=5.0, before=Unavailable("the database is locked"))
            case "full", "store" if method.startswith(STORE_WRITES):
                return Fate(before=Unavailable("the disk is full"))
            case "disk", "workspace":
                return Fate(go_s=0.1, before=Unavailable("git: no space left on device"))
            case "tmux", "runtime" if method != "list_sessions":
                return Fate(go_s=0.1, before=Unavailable("tmux does not answer"))
            case "network", "forge":
                return Fate(go_s=0.05, before=Unavailable("the network is unreachable"))
            case "network", "workspace" if method in GIT_REMOTE:
                return Fate(go_s=0.05, before=Unavailable("could not resolve the host"))
            case "outage", "forge":
                return self._outage(method)
            case "limited", "forge":
                return Fate(go_s=0.1, before=Unavailable("rate limit exceeded", retry_at=self._until_at))
            case "denied", "forge" if not method.startswith(FORGE_READS):
                return Fate(go_s=0.1, before=Denied("resource not accessible", needed="issues:write"))
            case "slow", "forge":
                late_s = self._chance.uniform(0, 25)
                return Fate(late_s / 2, late_s / 2)
            case _:
                return None

    def _outage(self, method: str) -> Fate | None:
        """502 for most calls; some of them took effect."""
        if self._chance.random() < 0.2:
            return None
        go_s = self._chance.uniform(0, 2)
        if self._chance.random() < 0.3 and not method.startswith(FORGE_READS):
            return Fate(go_s, after=OutcomeUnknown("502"), lands_late_s=self._chance.uniform(0, 4))
        return Fate(go_s, before=Unavailable("502"))
