"""What befalls everybody: a forge that cannot be reached, a machine that sleeps, a clock that jumps."""

from collections.abc import Callable

from nightcrew.core.model.run import Run
from tests.simulation.core.crew import Crew
from tests.simulation.core.scene import Scene
from tests.simulation.core.service import Service

HOUR_S = 3600.0


class Weather:
    """Faults come by themselves until it is calm."""

    def __init__(self, scene: Scene, service: Service, crew: Crew, *, force: float = 1.0) -> None:
        self.scene = scene
        self.service = service
        self.crew = crew
        self._force = force

    def rise(self) -> None:
        """Let all kinds of faults come, each at its own rate."""
        for every_h, what in (
            (6, self._outage),
            (12, self._writes_fail),
            (8, self._blindness),
            (4, self._base_moves),
            (12, self._store_fails),
            (10, self._dies),
            (30, self._reboots),
            (30, self._sleeps),
            (24, self._clock_jumps),
            (24, self._program_goes),
            (8, self._session_dies),
            (3, self.crew.trouble),
        ):
            self._later(every_h * HOUR_S / self._force, what)

    def calm_down(self) -> None:
        """The end of all faults."""
        scene, sim = self.scene, self.scene.sim
        scene.is_calm = True
        sim.unreachable.clear()
        sim.read_only.clear()
        sim.is_blind = False
        sim.missing_programs.clear()
        self.service.has_store = True
        self.crew.calm_down()
        for number in (*sim.active, *sim.unclaimed):
            scene.mark(number)

    def _later(self, every_s: float, what: Callable[[], None]) -> None:
        def come() -> None:
            if not self.scene.is_calm:
                what()
                self._later(every_s, what)

        self.scene.schedule.after(self.scene.rng.expovariate(1 / every_s), come, is_local=False)

    def _for(self, least_s: float, most_s: float, end: Callable[[], None], words: str) -> None:
        span_s = self.scene.spread(least_s, most_s)
        self.scene.note(f"{words} for {span_s:.0f} s")
        self.scene.schedule.after(span_s, end, is_local=False)

    def _outage(self) -> None:
        sim, scene = self.scene.sim, self.scene
        slugs = set(sim.settings.projects) if scene.chance(0.5) else {scene.rng.choice(list(sim.settings.projects))}
        sim.unreachable |= slugs
        self._look_anew(slugs)

        def end() -> None:
            sim.unreachable -= slugs
            self._look_anew(slugs)

        self._for(60, 4 * HOUR_S, end, f"no forge for {sorted(slugs)}")

    def _writes_fail(self) -> None:
        sim = self.scene.sim
        slug = self.scene.rng.choice(list(sim.settings.projects))
        sim.read_only.add(slug)
        self._for(60, 2 * HOUR_S, lambda: sim.read_only.discard(slug), f"no writes to {slug}")

    def _base_moves(self) -> None:
        slug = self.scene.rng.choice(list(self.scene.sim.settings.projects))
        self.scene.sim.move_base(slug)
        self._look_anew({slug})

    def _look_anew(self, slugs: set[str]) -> None:
        for number in self.scene.sim.active:
            if self.scene.sim.home[number] in slugs:
                self.scene.mark(number)

    def _blindness(self) -> None:
        self.scene.sim.is_blind = True
        self.service.wake()

        def end() -> None:
            self.scene.sim.is_blind = False
            self.service.wake()

        self._for(5, 1200, end, "sessions cannot be seen")

    def _store_fails(self) -> None:
        self.service.has_store = False

        def end() -> None:
            self.service.has_store = True
            self.service.wake()

        self._for(1, 900, end, "no store")

    def _dies(self) -> None:
        if not self.service.is_down:
            self.service.crash("by itself")

    def _reboots(self) -> None:
        scene = self.scene
        for run in list(scene.sim.sessions.values()):
            self._kill(run)
        self.service.crash("with the machine", scene.spread(30, HOUR_S))

    def _session_dies(self) -> None:
        runs = list(self.scene.sim.sessions.values())
        if runs:
            self._kill(self.scene.rng.choice(runs))
            self.service.wake(self.scene.rng.uniform(0, 45))

    def _kill(self, run: Run) -> None:
        self.scene.note(f"the session of {run.id} dies")
        self.scene.sim.kill_session(run, commits=self.scene.chance(0.4))

    def _sleeps(self) -> None:
        span_s = self.scene.spread(300, 8 * HOUR_S)
        self.scene.note(f"the machine sleeps for {span_s:.0f} s")
        self.scene.schedule.sleep(span_s)
        self.scene.slept_s += span_s
        self.service.oversleep(span_s)
        self.scene.schedule.after(span_s, self.service.wake, is_local=False)

    def _clock_jumps(self) -> None:
        scene = self.scene
        before_s = scene.skew_s
        scene.skew_s = 0.0 if before_s else scene.rng.choice((-1, 1)) * scene.spread(2, 3 * HOUR_S)
        scene.note(f"the clock jumps from {before_s:.0f} to {scene.skew_s:.0f} s")
        scene.set_clock()
        self.service.wake(scene.rng.uniform(0, 45))

    def _program_goes(self) -> None:
        sim = self.scene.sim
        name = self.scene.rng.choice(list(sim.settings.agents))
        sim.missing_programs.add(name)
        self.service.wake()

        def end() -> None:
            sim.missing_programs.discard(name)
            self.service.wake()

        self._for(600, 6 * HOUR_S, end, f"{name} is not installed")
