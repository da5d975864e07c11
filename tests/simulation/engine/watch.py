"""What must hold after every tick of the service, after every start, and at the end."""

import asyncio
from collections import deque
from datetime import timedelta

from nightcrew.core.branch import QUEUE_PREFIX
from nightcrew.core.decide import Decision
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Probe
from tests.simulation.engine.machine import Machine, Service
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene
from tests.simulation.engine.weather import Weather
from tests.simulation.engine.witness import Effects, says_exactly

SETTLED_S = 900.0
"""After how long without faults, deaths and people everything that was under way has come to rest."""
MOST_DECIDED, HOT_WITHIN_S = 40, 60.0
"""How often the same step may be decided on within that time."""
MOST_ASKED = 1500
"""Requests an hour that the forge counts, at most, for the few tasks of a simulation."""


class Watch:
    """Looks on."""

    def __init__(self, scene: Scene, world: World, weather: Weather, machine: Machine, effects: Effects) -> None:
        self._scene, self._world, self._weather = scene, world, weather
        self._machine, self._effects = machine, effects
        self._events = 0
        self._hour = 0
        self._decided: dict[str, deque[float]] = {}
        machine.on_tick, machine.on_start = self.tick, self.start

    def start(self) -> None:
        """The journal is settled before anything is done anew."""
        self._effects.lives += 1
        left = [effect.key for effect in self._world.store.effects.values() if effect.state == "intent"]
        self._scene.demand(not left, "the journal is settled", f"after recovery the journal is open about {left}")

    def tick(self, service: Service) -> None:
        state = service.loop.state
        self._scene.count("ticks")
        world, decision = state.world, state.decision
        self._scene.demand(
            not decision.errors, "no bug", f"it could not decide: {next(iter(decision.errors.values()), '')[-600:]}"
        )
        for problem in service.observer.problems():
            self._scene.demand("a bug" not in problem, "no bug", problem)
        self._no_bugs()
        if world is None:
            return
        busy = {action.task for action in (*service.loop.actor.in_flight, *decision.actions)}
        for project in world.projects.values():
            for view in project.tasks:
                if view.task.status is not Status.DONE and view.task.key not in busy:
                    self._waits(service, view.task.key)
        self._tasks(service)
        self._hot_loops(decision)
        self._labels(busy)
        self._limit()

    def _hot_loops(self, decision: Decision) -> None:
        """The same step is not decided on at the pace of the loop."""
        now = self._scene.outside.monotonic()
        for action in decision.actions:
            times = self._decided.setdefault(action.key, deque(maxlen=MOST_DECIDED))
            times.append(now)
            is_hot = len(times) == MOST_DECIDED and now - times[0] < HOT_WITHIN_S
            self._scene.demand(
                not is_hot, "no hot loop", f"{action.key} was decided on {MOST_DECIDED} times in a minute"
            )

    def _waits(self, service: Service, key: TaskKey) -> None:
        """A task for which nothing is done says why, and who or what it waits for, or when it is looked at again."""
        decision = service.loop.state.decision
        wait = decision.waits.get(key)
        if wait is None:
            self._scene.fail("waits have reasons", f"{key} waits without a reason")
            return
        self._scene.demand(wait.words and wait.code, "waits have reasons", f"{key} waits without words")
        told = wait.next or wait.until_at
        self._scene.demand(told, "waits end", f"{key} waits ({wait.code}: {wait.words}) for nobody and nothing")
        soon = self._scene.clock.now() + timedelta(hours=1)
        self._scene.demand(decision.wake_at is not None and decision.wake_at < soon, "waits end", "no next look")

    def _no_bugs(self) -> None:
        events = self._world.store.events
        for event in events[self._events :]:
            self._scene.demand(
                "Traceback" not in event.why and "a bug" not in event.why, "no bug", f"{event.kind}: {event.why}"
            )
            is_vain = event.kind == "action.no_effect"
            self._scene.demand(not is_vain, "nothing is done in vain", f"{event.task}: {event.why}")
        self._events = len(events)

    def _tasks(self, service: Service) -> None:
        """Nothing runs but what belongs to the service as it is now."""
        known = {action.key for action in service.loop.actor.in_flight} | {"service", "watch"}
        strays = [
            name
            for task in asyncio.all_tasks()
            if task not in self._machine._own and not task.done()
            and (name := task.get_name()) not in known and not name.startswith(("look:", "command "))
            and not _is_part(name)
        ]  # fmt: skip
        self._scene.demand(len(strays) <= 40, "no task leaks", f"tasks leak: {strays}")

    def _labels(self, busy: set[TaskKey]) -> None:
        """Once all is settled: exactly one status label, the one that is recorded."""
        if min(self._weather.calm_s, self._scene.loop.time() - self._machine.up_at) < SETTLED_S:
            return
        for key, task in self._world.store.tasks.items():
            thread = self._world.forge.projects[key.project].threads.get(key.number)
            if thread is None or key in busy or task.moving_to is not None or not thread.issue.is_open:
                continue
            if self._world.forge.untouched_s(key.project, key.number) > SETTLED_S:
                fits = says_exactly(thread.issue.labels, task.status)
                self._scene.demand(
                    fits, "one status label", f"{key} is {task.status.value} and its labels are {thread.issue.labels}"
                )

    def _limit(self) -> None:
        hour = int(self._scene.outside.monotonic() // 3600)
        if hour > self._hour:
            asked = self._effects.asked.get(self._hour, 0)
            self._scene.counts["most requests an hour"] = max(self._scene.counts.get("most requests an hour", 0), asked)
            self._scene.demand(asked <= MOST_ASKED, "bounded requests", f"{asked} counted requests in an hour")
            self._hour = hour

    def is_finished(self) -> bool:
        """Whether everything that can finish has."""
        return not self.unfinished()

    def unfinished(self) -> list[str]:
        store, forge, waits = self._world.store, self._world.forge, self._machine.waits()
        left = [
            f"{key} is {task.status.value}: {waits.get(key)}" for key, task in store.tasks.items()
            if task.status is not Status.DONE or task.moving_to is not None
        ]  # fmt: skip
        left += [f"run {run.session} is open" for run in store.runs.values() if run.is_open]
        for slug, project in forge.projects.items():
            left += [
                f"{slug}#{number} is not a task"
                for number, thread in project.threads.items()
                if thread.pull is None and thread.issue.is_open and TaskKey(slug, number) not in store.tasks
            ]
        return left

    def end(self) -> None:
        """When all is done nothing is left over."""
        store, runtime = self._world.store, self._world.runtime
        left = [effect.key for effect in store.effects.values() if effect.state == "intent"]
        self._scene.demand(not left, "the journal is settled", f"the journal is open about {left}")
        alive = [name for name, session in runtime.sessions.items() if session.probe is Probe.ALIVE]
        self._scene.demand(not alive, "nothing is left over", f"sessions live on: {alive}")
        is_open = [build.id for build in store.builds.values() if build.ended_at is None]
        self._scene.demand(not is_open, "nothing is left over", f"builds are open: {is_open}")
        for slug in self._world.projects:
            scratch = [name for name in self._world.forge.projects[slug].branches if name.startswith(QUEUE_PREFIX)]
            self._scene.demand(not scratch, "nothing is left over", f"branches of the queue are left: {scratch}")
            repository = self._world.workspace.repository(slug)
            self._scene.demand(
                not repository.leases, "nothing is left over", f"leases of {slug} are held: {repository.leases}"
            )
            self._scene.demand(
                not repository.checkouts,
                "nothing is left over",
                f"checkouts of {slug} are left: {list(repository.checkouts)}",
            )
            self._scene.demand(
                not repository.trees, "nothing is left over", f"workspaces of {slug} are left: {list(repository.trees)}"
            )
        for key, task in store.tasks.items():
            thread = self._world.forge.projects[key.project].threads[key.number]
            fits = says_exactly(thread.issue.labels, task.status)
            self._scene.demand(
                fits, "one status label", f"{key} is {task.status.value} and its labels are {thread.issue.labels}"
            )


def _is_part(name: str) -> bool:
    """A task of a task group inside an action or a look: it has no name of its own."""
    return name.startswith("Task-")
