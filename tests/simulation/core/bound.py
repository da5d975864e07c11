"""How much Nightcrew may do in an hour: nothing is tried in a hot loop."""

from collections import Counter

from nightcrew.core.actions import Action, StartRun
from nightcrew.core.ids import TaskKey
from tests.simulation.core.rule import hold

SAME_ACTION, ONE_TASK, TICKS_A_START, RUNS_A_DAY = 30, 150, 8, 60
"""In an hour: one action again and again (a refused one is tried twelve times), actions on one task, ticks for each
action beside the regular ones. In a day: runs of one task and role."""


class Bound:
    """Counts by the hour of the simulation."""

    def __init__(self) -> None:
        self._hour = self._day = -1
        self._keys: Counter[str] = Counter()
        self._tasks: Counter[TaskKey] = Counter()
        self._runs: Counter[str] = Counter()
        self._ticks = self._starts = 0

    def count_tick(self, clock_s: float) -> None:
        self._turn(clock_s)
        self._ticks += 1
        most = 100 + TICKS_A_START * (self._starts + 1)
        hold(self._ticks <= most, "bounded looks", self._ticks, "in an hour with", self._starts, "actions")

    def count_start(self, clock_s: float, action: Action) -> None:
        self._turn(clock_s)
        self._starts += 1
        self._keys[action.key] += 1
        self._tasks[action.task] += 1
        hold(self._keys[action.key] <= SAME_ACTION, "bounded effects", action.key, "again and again in an hour")
        hold(self._tasks[action.task] <= ONE_TASK, "bounded effects", action.task, "in an hour")
        if isinstance(action, StartRun):
            line = f"{action.task}:{action.role.value}"
            self._runs[line] += 1
            hold(self._runs[line] <= RUNS_A_DAY, "bounded runs", line, "in a day")

    def forget(self) -> None:
        """The service died: what it knew of its refusals died with it, and it tries anew."""
        self._keys.clear()

    def _turn(self, clock_s: float) -> None:
        hour, day = int(clock_s // 3600), int(clock_s // 86400)
        if hour != self._hour:
            self._hour = hour
            self._keys.clear()
            self._tasks.clear()
            self._ticks = self._starts = 0
        if day != self._day:
            self._day = day
            self._runs.clear()
