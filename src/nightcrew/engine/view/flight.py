"""Pull requests in flight: those whose checks run, or of which the forge has yet to say whether they merge. Between two
looks at their project only their head is asked about, and the task is read when that brings news."""

from collections.abc import Collection
from dataclasses import dataclass

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.quota import Pace
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Task
from nightcrew.core.policy.pacing import flight_interval_s, is_in_flight
from nightcrew.engine.view.sight import TaskSight


@dataclass(slots=True)
class Flight:
    """A head that something is awaited about: since when, and when it was last asked about."""

    head: Sha
    began_at: float
    asked_at: float


class Flights:
    """Those of one project."""

    def __init__(self) -> None:
        self._flights: dict[TaskKey, Flight] = {}

    def note(self, task: Task, sight: TaskSight, now: float) -> None:
        """A task was read whole."""
        pull = seen_pull(sight)
        if pull is None or not is_in_flight(task, pull):
            self._flights.pop(task.key, None)
            return
        known = self._flights.get(task.key)
        if known is None or known.head != pull.pull.head_sha:
            self._flights[task.key] = Flight(pull.pull.head_sha, now, now)
        else:
            known.asked_at = now

    def is_due(self, key: TaskKey, now: float, *, settings: Settings, pace: Pace) -> bool:
        """Whether its head is to be asked about now."""
        flight = self._flights.get(key)
        return flight is not None and self._due_at(flight, settings, pace) <= now

    def asked(self, key: TaskKey, now: float) -> None:
        """Its head was asked about, and there is nothing new."""
        if key in self._flights:
            self._flights[key].asked_at = now

    def drop(self, key: TaskKey) -> None:
        """Nothing is known of it any more."""
        self._flights.pop(key, None)

    def keep(self, keys: Collection[TaskKey]) -> None:
        """Only these are tasks any more."""
        self._flights = {key: flight for key, flight in self._flights.items() if key in keys}

    def next_at(self, *, settings: Settings, pace: Pace) -> float | None:
        """When the first of them is due."""
        if pace is Pace.CLOSED:
            return None
        return min((self._due_at(flight, settings, pace) for flight in self._flights.values()), default=None)

    @staticmethod
    def _due_at(flight: Flight, settings: Settings, pace: Pace) -> float:
        waited_s = flight.asked_at - flight.began_at
        return flight.asked_at + flight_interval_s(settings, waited_s=waited_s, pace=pace)


def seen_pull(sight: TaskSight | None) -> PullView | None:
    """The pull request of a task as it was last seen."""
    return sight.pull.value if sight is not None and isinstance(sight.pull, Known) else None
