"""The agents: each has a temper of its own, and its vendor has bad days."""

from dataclasses import dataclass
from datetime import timedelta

from nightcrew.core.failures import FailureKind
from nightcrew.core.model.run import Role, Run
from tests.simulation.core.said import SPEAKS_AFTER_S, speak
from tests.simulation.core.scene import Scene
from tests.simulation.core.service import Service
from tests.simulation.core.sub_task_truth import WORD

OWN_FAULTS = (
    FailureKind.CRASH, FailureKind.HANG, FailureKind.BAD_OUTPUT, FailureKind.TRUNCATED, FailureKind.CONTEXT_TOO_LONG,
    FailureKind.CONTENT_FILTER, FailureKind.PERMISSION, FailureKind.NO_CHANGES, FailureKind.TIMEOUT,
)  # fmt: skip
VENDORS_FAULTS = (
    FailureKind.RATE_LIMIT, FailureKind.RATE_LIMIT, FailureKind.USAGE_WINDOW, FailureKind.CREDITS, FailureKind.AUTH,
    FailureKind.OVERLOADED, FailureKind.NETWORK, FailureKind.BILLING, FailureKind.MODEL_NOT_FOUND,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Temper:
    """Shares of runs that end so; the rest ends well. `pace` stretches the time that a run takes."""

    name: str
    fails: float = 0.02
    idles: float = 0.02
    declines: float = 0.02
    asks: float = 0.02
    silent: float = 0.01
    objects: float = 0.15
    hands_over: float = 0.12
    pace: float = 1.0


TEMPERS = (
    Temper("good"), Temper("good"), Temper("flaky", fails=0.3), Temper("slow", pace=5.0),
    Temper("silent", silent=0.25), Temper("idle", idles=0.4), Temper("shy", declines=0.2, asks=0.25),
    Temper("strict", objects=0.6), Temper("lordly", hands_over=0.6),
)  # fmt: skip
CALM = Temper("good", 0, 0, 0, 0, 0, 0, 0)


class Crew:
    """All agents and their vendors."""

    def __init__(self, scene: Scene, service: Service) -> None:
        self.scene = scene
        self.service = service
        self.tempers = {name: scene.rng.choice(TEMPERS) for name in scene.sim.settings.agents}
        self._trouble: dict[str, tuple[FailureKind, float, bool]] = {}

    def trouble(self) -> None:
        """A vendor stops serving for a while: some say until when, the others do not."""
        scene = self.scene
        name = scene.rng.choice(list(scene.sim.settings.agents))
        kind = scene.rng.choice(VENDORS_FAULTS)
        until_s = scene.schedule.clock_s + scene.spread(300, 36_000)
        says = kind in (FailureKind.RATE_LIMIT, FailureKind.USAGE_WINDOW) and scene.chance(0.6)
        self._trouble[name] = (kind, until_s, says)
        scene.note(f"the vendor of {name} has {kind.value}")

    def calm_down(self) -> None:
        self._trouble.clear()
        self.tempers = dict.fromkeys(self.tempers, CALM)

    def work(self) -> None:
        """Set the sessions that were just started to work."""
        begun = self.scene.sim.begun
        while begun:
            self._begin(begun.pop())

    def _begin(self, run: Run) -> None:
        scene, temper = self.scene, self.tempers[run.agent]
        self.scene.note(f"{run.agent} begins {run.id}")
        if run.resumes and scene.chance(0.2):
            scene.sim.not_resumed.add(run.id)
        scene.schedule.after(SPEAKS_AFTER_S, lambda: self._speak(run))
        if self._vendor_fails(run):
            span_s = scene.spread(3, 60)
        elif scene.chance(temper.silent):
            # The shim ends it at its deadline; some are so stuck that only Nightcrew can.
            if scene.chance(0.5):
                scene.schedule.after(run.deadline_s, lambda: self._end(run, FailureKind.TIMEOUT))
            if scene.chance(0.7):
                sim = scene.sim
                sim.quiet[run.id] = sim.clock_s
                scene.schedule.after(sim.settings.agents[run.agent].silence_s + 45, self.service.wake)
            return
        else:
            span_s = min(scene.spread(60, 1500) * temper.pace, run.deadline_s - 1)
            if run.role is Role.ROUTER:
                span_s = scene.spread(3, 60)
        scene.schedule.after(span_s, lambda: self._finish(run))

    def _speak(self, run: Run) -> None:
        if speak(self.scene.sim, run):
            self.scene.note(f"{run.agent} has heard what was said in {run.id}")
            self.service.wake(1.0)

    def _vendor_fails(self, run: Run) -> bool:
        trouble = self._trouble.get(run.agent)
        return trouble is not None and self.scene.schedule.clock_s < trouble[1]

    def _finish(self, run: Run) -> None:
        scene, temper = self.scene, self.tempers[run.agent]
        if self._vendor_fails(run):
            kind, until_s, says = self._trouble[run.agent]
            left = timedelta(seconds=max(1.0, until_s - scene.schedule.clock_s))
            self._end(run, kind, retry_in=left if says else None)
            return
        dice = scene.rng.random()
        if dice < temper.fails:
            self._end(run, scene.rng.choice(OWN_FAULTS), commits=scene.chance(0.5))
        elif dice < temper.fails + temper.idles:
            self._end(run, commits=False)
        elif run.role is Role.REVIEWER:
            self._end(run, word="done" if not scene.chance(temper.objects) else "blocked")
        elif run.role is Role.AUTHOR and scene.chance(temper.declines):
            self._end(run, word=scene.rng.choice(("declined", "blocked")), commits=False)
        elif run.role is Role.AUTHOR and scene.chance(temper.asks):
            self._end(run, word="needs_input", commits=scene.chance(0.5))
        elif run.role is Role.AUTHOR and scene.chance(temper.hands_over):
            self._end(run, word=WORD, commits=scene.chance(0.5))
        else:
            self._end(run)

    def _end(
        self,
        run: Run,
        failure: FailureKind | None = None,
        *,
        word: str = "done",
        commits: bool = True,
        retry_in: timedelta | None = None,
    ) -> None:
        sim = self.scene.sim
        if run.id not in sim.sessions:
            return
        if failure is None and run.id not in sim.spoke:
            self._speak(run)
        retry_at = sim.now + retry_in if retry_in is not None else None
        commits = (commits and failure is None) or (failure is not None and commits and self.scene.chance(0.2))
        sim.end_run(run, failure=failure, word=word, commits=commits, retry_at=retry_at)
        self.scene.note(f"{run.agent} ends {run.id}: {failure.value if failure else word}")
        # The run folder is looked at each second.
        self.service.wake(1.0)
