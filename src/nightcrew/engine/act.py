"""Act: make the effects that were decided. The only writer.

One action a task at a time; each is bounded in time, and comes to done, refused (why) or open (not known). What was
refused, or done again and again without effect (see `brake`), is left alone for a while, longer each time, so that
nothing is tried in a hot loop.
"""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from nightcrew.core.actions import Action, ActionOutcome, Done, OutcomeOpen, Refused, StartJob
from nightcrew.core.decide import is_exclusive
from nightcrew.core.errors import OutcomeUnknown, PortError, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.world import World
from nightcrew.core.neutral import one_line
from nightcrew.core.reason import Wait
from nightcrew.engine.brake import Brake
from nightcrew.engine.effect.means import Means
from nightcrew.engine.journal import WHY

ACTION_TIMEOUT_S = 1800.0
SUBMIT_TIMEOUT_S = 30.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 600.0
NO_EFFECT = "no_effect"
"""The code of the wait for what was done without effect."""
UNKNOWN_PAUSE_S = 20.0
"""The first pause after an effect whose outcome is not known. It may still come, and lists lag behind: looked for too
early, it is not found, and made twice."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Why an action is left alone, since how many refusals, and until when by the monotonic clock: a wall clock that
    is set back must not hold it up. `code` is that of the wait. Until `lost_until_s` it may have happened unseen."""

    task: TaskKey
    count: int
    until_s: float
    why: str
    code: str = "retrying"
    lost_until_s: float = 0.0


class Actor:
    """Runs actions beside the loop and remembers which are under way and which were refused."""

    def __init__(
        self,
        means: Means,
        *,
        wake: Callable[[], None],
        timeout_s: float = ACTION_TIMEOUT_S,
        patience_s: float = SUBMIT_TIMEOUT_S,
    ) -> None:
        self._means = means
        self._wake = wake
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._in_flight: dict[str, Action] = {}
        self._pauses: dict[str, Pause] = {}
        self._brake = Brake(means.ports.clock)
        self._turn = asyncio.Event()

    def adopt(self, means: Means) -> None:
        """What begins from now on is made with these means; what is under way keeps those that it began with."""
        self._means = means

    @property
    def in_flight(self) -> tuple[Action, ...]:
        return tuple(self._in_flight.values())

    def deferred(self) -> dict[str, Wait]:
        """Actions that were refused, or came to nothing, and are still left alone, as waits."""
        now, mono = self._means.ports.clock.now(), self._means.ports.clock.monotonic()
        return {
            key: Wait(pause.code, pause.why, "It is tried again.", now + timedelta(seconds=pause.until_s - mono))
            for key, pause in self._pauses.items()
            if pause.until_s > mono
        }

    def start(self, action: Action, group: asyncio.TaskGroup, *, world: World) -> None:
        """Begin an action, unless it is under way or another has its task: one may have been submitted since the look
        (`world`) that this one rests on."""
        if action.key in self._in_flight or (is_exclusive(action) and self._is_busy(action.task)):
            return
        self._brake.begin(action, world)
        self._in_flight[action.key] = action
        group.create_task(self._run(action), name=action.key)

    async def submit(self, action: Action) -> ActionOutcome:
        """Make an action that a person asked for, once nothing else has its task."""
        try:
            async with asyncio.timeout(self._patience_s):
                while action.key in self._in_flight or self._is_busy(action.task):
                    turn = self._turn
                    await turn.wait()
        except TimeoutError:
            return Refused("Nightcrew has been at work on it for a while; try again when that has ended")
        self._in_flight[action.key] = action
        self._cut_pauses(action.task)
        return await self._run(action)

    def _cut_pauses(self, task: TaskKey) -> None:
        """A person's order ends what is left alone about a task, but for what may have happened and cannot be seen
        yet: tried again at once, it would be done twice."""
        mono = self._means.ports.clock.monotonic()
        self._pauses = {
            key: pause if pause.task != task else replace(pause, until_s=min(pause.until_s, pause.lost_until_s))
            for key, pause in self._pauses.items()
            if pause.task != task or pause.lost_until_s > mono
        }

    def _is_busy(self, task: TaskKey) -> bool:
        return any(other.task == task and is_exclusive(other) for other in self._in_flight.values())

    async def _run(self, action: Action) -> ActionOutcome:
        WHY.set(action.why)
        try:
            outcome = await self._bounded(action)
            self._weigh(action, outcome)
            await self._record(action, outcome)
            return outcome
        finally:
            self._in_flight.pop(action.key, None)
            turn, self._turn = self._turn, asyncio.Event()
            turn.set()
            self._means.observer.touch(action.task)
            self._means.bus.ring()
            self._wake()

    async def _bounded(self, action: Action) -> ActionOutcome:
        # All that makes effects: the first look does without it.
        from nightcrew.engine.perform import perform

        ports = self._means.ports
        facts = {"task": str(action.task), "key": action.key, "why": ports.mask(action.why)}
        try:
            with ports.tracer.span(type(action).__name__, **facts):
                async with asyncio.timeout(self._timeout_s + _own_time(action)):
                    return await perform(self._means.frozen(), action)
        except TimeoutError:
            return OutcomeOpen(f"it did not end within {self._timeout_s:g} s")
        except OutcomeUnknown as error:
            return OutcomeOpen(str(error))
        except Unavailable as error:
            return Refused(_with_time(error))
        except PortError as error:
            return Refused(str(error) or type(error).__name__)
        except OSError as error:
            # A full or broken disk, a folder that somebody deleted: said in its own words, and tried again.
            where = f": {error.filename}" if error.filename else ""
            return Refused(f"this machine says {error.strerror or error}{where}")
        except Exception:  # noqa: BLE001 - one action's boundary: a bug in it must not end the service
            return Refused(f"a bug: {traceback.format_exc(limit=-3)}")

    def _weigh(self, action: Action, outcome: ActionOutcome) -> None:
        if isinstance(outcome, Done):
            self._pauses.pop(action.key, None)
            repeat = self._brake.end(action, first_s=FIRST_PAUSE_S, longest_s=LONGEST_PAUSE_S)
            if repeat is not None:
                why = f"this step was done {repeat.count} times and changed nothing ({one_line(action.why, 200)})"
                self._pauses[action.key] = Pause(action.task, repeat.count, repeat.until_s, why, NO_EFFECT)
            return
        self._brake.drop(action)
        before = self._pauses.get(action.key)
        count = before.count + 1 if before else 1
        is_open = isinstance(outcome, OutcomeOpen)
        first_s = UNKNOWN_PAUSE_S if is_open else FIRST_PAUSE_S
        pause_s = min(first_s * 2 ** min(count - 1, 10), LONGEST_PAUSE_S)
        mono = self._means.ports.clock.monotonic()
        why = f"it was refused: {one_line(outcome.why, 300)}"
        self._pauses[action.key] = Pause(
            action.task, count, mono + pause_s, why, lost_until_s=mono + UNKNOWN_PAUSE_S if is_open else 0.0
        )

    async def _record(self, action: Action, outcome: ActionOutcome) -> None:
        """What did not come to an end, and what came to one without effect."""
        if isinstance(outcome, Done):
            pause = self._pauses.get(action.key)
            if pause is None:
                return
            kind, why = "action.no_effect", pause.why
        else:
            kind = "action.refused" if isinstance(outcome, Refused) else "action.unknown"
            why = outcome.why
        event = self._means.event(kind, why, task=action.task, action=type(action).__name__, key=action.key)
        try:
            await self._means.ports.store.record_event(event)
        except PortError:
            return  # the store is what failed: the next look says so


def _own_time(action: Action) -> float:
    """What a job's command may take besides."""
    return action.job.timeout_s if isinstance(action, StartJob) and action.job.run else 0.0


def _with_time(error: Unavailable) -> str:
    return f"{error} (until {error.retry_at:%H:%M:%S} UTC)" if error.retry_at else str(error)
