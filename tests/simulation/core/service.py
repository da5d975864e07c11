"""Nightcrew in the simulation: the real `decide`, asked whenever the real loop would and something may have changed,
and its actions made one effect at a time, with everything that can go wrong between two of them."""

from dataclasses import replace
from datetime import timedelta

from nightcrew.core.actions import Action, CheckBuild, CollectRun, RunChecks, SettleSaying, StopRun
from nightcrew.core.decide import Decision, decide, is_exclusive
from nightcrew.core.lifecycle import Status
from tests.simulation.core.bound import Bound
from tests.simulation.core.effect import advance, begin, refuse
from tests.simulation.core.rule import check_decision, check_task, hold
from tests.simulation.core.said import check_said
from tests.simulation.core.scene import INTERVAL_S, Scene
from tests.simulation.core.truth import Effect

SPOT_CHECKS = 0.02
"""How often it is tried that nothing would be decided at a time at which nothing is due."""
UNAVAILABLE, UNKNOWN, CRASHES = 0.01, 0.006, 0.002
"""How many effects fail so, while there are faults."""
MOVE_S = 3 * 3600.0
"""How long a move may stay unfinished."""
AT_HOME = (CollectRun, SettleSaying, StopRun)
"""Actions that need no forge."""


class Service:
    """The loop, without a loop."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.bound = Bound()
        self.is_down = False
        self.has_store = True
        self.ticks = 0
        self._lives = 0
        self._turn = 0
        self._unsettled: dict[int, float] = {}
        self._tick_at_s = float("inf")
        self._look_at_s = float("inf")
        self.decision = Decision()

    # ---- when it looks

    def wake(self, delay_s: float = 0.02) -> None:
        """Tick soon, unless it will already."""
        at_s = self.scene.schedule.clock_s + delay_s
        if at_s < self._tick_at_s and not self.is_down:
            self._tick_at_s = at_s
            self._turn = turn = self._turn + 1
            self.scene.schedule.after(delay_s, lambda: self._tick_if(turn))

    def oversleep(self, duration_s: float) -> None:
        """The machine slept: the loop goes on when it is awake."""
        self._tick_at_s += duration_s
        self._look_at_s += duration_s
        self._unsettled.clear()

    def expect(self) -> None:
        """Something changed on the forge: the next reading, at the interval, shows it."""
        if self.scene.stale and self._look_at_s == float("inf") and not self.is_down:
            clock_s = self.scene.schedule.clock_s
            self._look_at_s = (clock_s // INTERVAL_S + 1) * INTERVAL_S
            life = self._lives
            self.scene.schedule.after(self._look_at_s - clock_s, lambda: self._look_if(life))

    def _tick_if(self, turn: int) -> None:
        if self._turn == turn and not self.is_down:
            self._tick_at_s = float("inf")
            self.tick()

    def _look_if(self, life: int) -> None:
        if life != self._lives:
            return
        self._look_at_s = float("inf")
        sim, stale = self.scene.sim, self.scene.stale
        sim.queue.sights.clear()
        for number in list(stale):
            # A list may lag behind what was written; what is at work is read by itself.
            if not self.scene.is_calm and self._is_listed(number) and self.scene.chance(0.1):
                continue
            del stale[number]
            if number in sim.tasks:
                sim.active[number] = None
                sim.sights.pop(number, None)
        self.tick()
        self.expect()

    def _is_listed(self, number: int) -> bool:
        task = self.scene.sim.tasks.get(number)
        return task is None or (task.status in (Status.NEW, Status.ROUTED) and task.moving_to is None)

    # ---- one look

    def tick(self) -> None:
        """Observe, decide, act."""
        if self.is_down:
            return
        if not self.has_store:
            self.wake(INTERVAL_S)
            return
        sim = self.scene.sim
        self.ticks += 1
        self.bound.count_tick(self.scene.schedule.clock_s)
        world = sim.world()
        self.decision = decision = decide(world)
        check_decision(sim, world, decision)
        for action in decision.actions:
            check_said(sim, action)
            self.start(action)
        self._check_moves()
        self._retire()
        self._plan(decision)

    def _plan(self, decision: Decision) -> None:
        """Tick again when the first wait ends. The real loop also ticks at each interval; that this shows nothing new
        is tried now and then."""
        scene, now = self.scene, self.scene.sim.now
        waits = (*decision.waits.values(), *(wait for _, wait in scene.sim.pauses.values()))
        ends = [wait.until_at for wait in waits if wait.until_at is not None]
        soon_s = min(((end - now).total_seconds() for end in ends if end > now), default=float("inf"))
        is_late = any(wait.until_at is not None and wait.until_at <= now for wait in decision.waits.values())
        if is_late:
            soon_s = min(soon_s, INTERVAL_S)
        if soon_s != float("inf"):
            self.wake(soon_s + 0.01)
        gap_s = min(self._tick_at_s, scene.schedule.next_at_s) - scene.schedule.clock_s
        if not is_late and 1.0 < gap_s < float("inf") and scene.rng.random() < SPOT_CHECKS:
            self._try_between(decision, gap_s * scene.rng.random())

    def _try_between(self, decision: Decision, later_s: float) -> None:
        sim = self.scene.sim
        world = sim.world()
        here = decide(world)
        then = decide(replace(world, now=world.now + timedelta(seconds=later_s)))
        hold(not here.actions and not then.actions, "nothing new without news", here.actions, then.actions)
        hold(here.waits == then.waits, "nothing new without news", here.waits, then.waits)

    def _check_moves(self) -> None:
        """A move that was begun is finished soon, where nothing is in its way."""
        sim, clock_s = self.scene.sim, self.scene.schedule.clock_s
        for number in sim.active:
            slug = sim.home[number]
            hindered = slug in sim.unreachable or slug in sim.read_only or sim.is_blind
            if sim.tasks[number].moving_to is None or number not in sim.issues or hindered:
                self._unsettled.pop(number, None)
            else:
                begun_s = self._unsettled.setdefault(number, clock_s)
                hold(clock_s - begun_s < MOVE_S, "moves are finished", number, sim.tasks[number].status)

    def _retire(self) -> None:
        sim = self.scene.sim
        over = [number for number in sim.active if self._is_over(number)]
        for number in over:
            del sim.active[number]
            sim.sights.pop(number, None)

    def _is_over(self, number: int) -> bool:
        sim = self.scene.sim
        task, issue = sim.tasks[number], sim.issues.get(number)
        if task.status is not Status.DONE or task.moving_to is not None or number in self.scene.stale:
            return False
        busy = any(action.task.number == number for action, _ in sim.flying.values())
        waits = any(run.is_open for run in sim.runs.get(number, []))
        return not busy and not waits and (issue is None or (not issue.is_open and "`done`" in task.told))

    # ---- effects

    def start(self, action: Action) -> None:
        sim = self.scene.sim
        if action.key in sim.flying:
            return
        self.bound.count_start(self.scene.schedule.clock_s, action)
        self.scene.note(f"start {action.key}: {action.why}")
        effect = begin(sim, action)
        sim.flying[action.key] = (action, effect)
        self._next(action, effect, self.scene.rng.uniform(0.05, 1.5))

    def _next(self, action: Action, effect: Effect, delay_s: float) -> None:
        self.scene.schedule.after(delay_s, lambda: self.step(action, effect))

    def step(self, action: Action, effect: Effect) -> None:
        """One effect, if it is still wanted; it may fail, or the service may die before or after."""
        scene, sim, key = self.scene, self.scene.sim, action.key
        flying = sim.flying.get(key)
        if flying is None or flying[1] is not effect:
            return
        chance = 1.0 if scene.is_calm else scene.rng.random()
        is_cut_off = action.task.project in sim.unreachable or action.task.project in sim.read_only
        if not self.has_store or (is_cut_off and not isinstance(action, AT_HOME)):
            self._fail(action, "it cannot be reached")
        elif chance < CRASHES / 2:
            self.crash("before an effect")
            return
        elif chance < UNAVAILABLE:
            self._fail(action, "not now")
        elif chance < UNAVAILABLE + UNKNOWN:
            if scene.chance(0.5):
                advance(sim, key)
            self._fail(action, "whether it was done is not known")
        elif advance(sim, key):
            if CRASHES / 2 < 1 - chance < CRASHES:
                self.crash("after an effect")
                return
            self._next(
                action, effect, scene.rng.uniform(30, 900) if isinstance(action, RunChecks | CheckBuild) else 0.3
            )
        else:
            self.wake()
        self._check(action.task.number)

    def _fail(self, action: Action, why: str) -> None:
        refuse(self.scene.sim, action.key, why)
        self.scene.sim.sights.pop(action.task.number, None)
        self.scene.note(f"failed {action.key}: {why}")
        self.wake()

    def _check(self, number: int) -> None:
        sim = self.scene.sim
        if number in sim.tasks:
            acted = any(a.task.number == number and is_exclusive(a) for a, _ in sim.flying.values())
            check_task(sim, number, is_acted_on=acted)

    # ---- lives

    def crash(self, why: str, down_s: float | None = None) -> None:
        """kill -9, and a new life after a while."""
        self.scene.note(f"the service dies {why}")
        self.scene.sim.crash()
        self.bound.forget()
        self.is_down = True
        self._lives += 1
        self._turn += 1
        self._unsettled.clear()
        self._tick_at_s = self._look_at_s = float("inf")
        pause_s = self.scene.spread(1, 600) if down_s is None else down_s
        life = self._lives
        self.scene.schedule.after(pause_s, lambda: self._rise(life))

    def _rise(self, life: int) -> None:
        if life == self._lives:
            self.scene.note("the service starts")
            self.is_down = False
            for number in self.scene.stale:
                if number in self.scene.sim.tasks:
                    self.scene.sim.active[number] = None
            self.scene.stale.clear()
            self.tick()
