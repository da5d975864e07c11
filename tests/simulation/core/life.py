"""One life from one seed: days with faults, then calm, in which everything that can end has to end."""

import time
import traceback
from collections import deque
from random import Random

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import DelegationMode, DelegationSettings
from nightcrew.core.model.merge import (
    MergeMethod,
    MergeMode,
    MergeSettings,
    MergeStrategy,
)
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.settings import (
    AgentSettings,
    Budget,
    CheckCommand,
    Limits,
    ProjectSettings,
    RouterMode,
    RouterSettings,
    Settings,
)
from tests.simulation.core.crew import Crew
from tests.simulation.core.people import People
from tests.simulation.core.pipeline import Pipeline
from tests.simulation.core.rule import Broken, hold
from tests.simulation.core.said import check_all_settled
from tests.simulation.core.scene import Scene
from tests.simulation.core.service import Service
from tests.simulation.core.talk import Talk
from tests.simulation.core.truth import Simulated
from tests.simulation.core.weather import Weather
from tests.simulation.outcome import Outcome

DAY_S = 86_400.0
CALM_DAYS = 21.0
"""Until then everything has ended; the longest cooldown is a week, and each agent may be at the start of one."""
NAMES = ("ann", "bob", "cyd", "dan", "eve")


def live(seed: int, *, days: float, whole_trace: bool = False) -> Outcome:
    """All of it; a broken rule ends it."""
    life = Life(seed, whole_trace=whole_trace)
    began = time.process_time()
    rule = words = ""
    try:
        life.pass_days(days)
        cpu_s = time.process_time() - began
        life.end()
    except Broken as broken:
        rule, words = broken.rule, str(broken)
        cpu_s = time.process_time() - began
    except Exception:  # the core or the world raised: that is a finding too
        rule, words = "no exception", traceback.format_exc()
        cpu_s = time.process_time() - began
    scene = life.scene
    trace = tuple(f"{render_time(at_s)} {what}" for at_s, what in scene.trace)
    return Outcome(seed, days, scene.steps, len(scene.sim.merges), cpu_s, rule, words, trace)


def render_time(clock_s: float) -> str:
    days, rest = divmod(int(clock_s), 86_400)
    return f"{days}d {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


class Life:
    """Everybody, put together."""

    def __init__(self, seed: int, *, whole_trace: bool = False) -> None:
        rng = Random(seed)
        self.scene = Scene(rng, Simulated(_settings(rng)))
        if whole_trace:
            self.scene.trace = deque()
        self.service = Service(self.scene)
        self.crew = Crew(self.scene, self.service)
        self.pipeline = Pipeline(self.scene)
        self.people = People(self.scene, self.service, issues_a_day=rng.choice((1, 2, 4)), zeal=rng.choice((0.5, 2, 6)))
        self.weather = Weather(self.scene, self.service, self.crew, force=rng.choice((0.5, 1, 2)))
        self.people.come()
        Talk(Random(f"talk {seed}"), self.scene, self.service).begin()
        self.weather.rise()
        self.service.tick()

    def pass_days(self, days: float) -> None:
        self._pass(days * DAY_S)

    def end(self) -> None:
        """Calm: all tasks end."""
        self.weather.calm_down()
        self.scene.note("it is calm")
        until_s = self.scene.schedule.clock_s + CALM_DAYS * DAY_S
        while self.scene.schedule.clock_s < until_s:
            self._pass(self.scene.schedule.clock_s + DAY_S / 8)
            if self._has_ended():
                check_all_settled(self.scene.sim)
                return
        sim = self.scene.sim
        left = [f"#{n} {sim.tasks[n].status.value}" for n in sim.active]
        hold(False, "everything ends", left, self.service.decision)

    def _has_ended(self) -> bool:
        sim = self.scene.sim
        tasks = [sim.tasks[number] for number in sim.active]
        settled = all(task.status is Status.DONE and task.moving_to is None for task in tasks)
        unclaimed = [n for n in sim.unclaimed if n in sim.issues and sim.issues[n].is_open]
        said = any(saying.is_open for saying in sim.sayings.values())
        return settled and not unclaimed and not sim.sessions and not said

    def _pass(self, until_s: float) -> None:
        scene, schedule = self.scene, self.scene.schedule
        while schedule.next_at_s <= until_s:
            happening = schedule.pop()
            scene.set_clock()
            scene.steps += 1
            happening()
            if scene.sim.begun:
                self.crew.work()
            if scene.sim.moved:
                self.pipeline.run()
            if scene.sim.queue.offered:
                self.pipeline.test()
            if scene.sim.shaken:
                self.pipeline.judge()
            if scene.stale:
                self.service.expect()
        schedule.clock_s = until_s
        scene.set_clock()


def _settings(rng: Random) -> Settings:
    """Two or three projects, two to five agents, some with models; a project may have engine checks of its own, or
    ask a person before it merges."""
    names = NAMES[: rng.choice((2, 3, 4, 5))]
    agents = {name: _agent(rng, name) for name in names}
    slugs = ("acme/widget", "acme/gadget", "zeta/engine")[: rng.choice((2, 2, 3))]
    router = RouterSettings(RouterMode.MODEL, names[0]) if rng.random() < 0.3 else RouterSettings()
    return Settings(
        projects={slug: _project(rng, slug) for slug in slugs},
        agents=agents,
        router=router,
        limits=Limits(max_runs=rng.choice((2, 3, 4))),
    )


def _agent(rng: Random, name: str) -> AgentSettings:
    if rng.random() < 0.5:
        return AgentSettings(name, "scripted", max_runs=rng.choice((1, 2)))
    return AgentSettings(name, "scripted", models={Complexity.MEDIUM: (f"{name}-big", f"{name}-small")})


def _project(rng: Random, slug: str) -> ProjectSettings:
    checks = (CheckCommand("tests", ("make",)),) if rng.random() < 0.4 else ()
    budget = Budget(runs=rng.choice((4, 8))) if rng.random() < 0.2 else Budget()
    mode = MergeMode.ASK if rng.random() < 0.1 else MergeMode.AUTO
    merge = MergeSettings(mode=mode)
    if rng.random() < 0.35:
        method = rng.choice((MergeMethod.MERGE, MergeMethod.SQUASH))
        merge = MergeSettings(mode=mode, strategy=MergeStrategy.QUEUE, method=method, batch=rng.choice((1, 2, 4)))
    delegation = DelegationSettings(rng.choice((DelegationMode.AUTO, DelegationMode.ASK, DelegationMode.NEVER)))
    return ProjectSettings(
        slug, checks=checks, merge=merge, attempts=rng.choice((2, 3)), budget=budget, delegation=delegation
    )
