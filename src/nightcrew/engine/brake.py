"""The brake: what is done again and again while nothing that can be seen becomes of it is done ever more slowly.

A refusal pauses an action by itself. What says that it was done, and is asked for again at the next look because the
world is as it was, would else be done at the pace of the loop: a forge that takes a label and does not keep it, a list
that lags for minutes, a bug.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from nightcrew.core.actions import Action, RenewClaim, SyncBoard
from nightcrew.core.known import Known
from nightcrew.core.model.claim import NO_CLAIMS
from nightcrew.core.model.world import ProjectWorld, TaskView, World
from nightcrew.ports.clock import Clock

FREE = 3
"""How often in a row the same may be done before it is slowed down: what lists lag behind shows by then, mostly."""
QUIET_S = 60.0
"""What begins so long after it was last done is no repetition of it."""
DIFFERENT = 4
"""How many different states an action is remembered in: two effects that undo each other come by the same ones."""

_WHENEVER = datetime.min.replace(tzinfo=UTC)

Seen = tuple[ProjectWorld | None, TaskView | None, tuple[tuple[str, object, bool], ...]]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An action with the state in which it was asked for; how often it was done in it, and when last. It is left alone
    until `until_s`."""

    action: Action
    seen: Seen
    count: int = 0
    done_s: float = 0.0
    until_s: float = 0.0


def settled_state(world: World, action: Action) -> Seen:
    """What of the world an action is about, without what changes by itself: times, what a run prints, claims that are
    renewed."""
    project = world.projects.get(action.task.project)
    view = next((one for one in project.tasks if one.task.key == action.task), None) if project is not None else None
    if view is None:
        rest = replace(project, tasks=(), candidates=(), comments=None) if project is not None else None
        return rest, None, ()
    issue = view.issue
    if isinstance(issue, Known) and issue.value is not None:
        issue = Known(replace(issue.value, updated_at=_WHENEVER))
    task = replace(view.task, updated_at=_WHENEVER)
    live = tuple((one.run.id, one.session, one.has_result) for one in view.live)
    return None, replace(view, task=task, issue=issue, live=(), claim=Known(NO_CLAIMS)), live


def is_paced(action: Action) -> bool:
    """Whether it is asked for by the clock, and not because something is to become of it."""
    return isinstance(action, RenewClaim) or (isinstance(action, SyncBoard) and action.is_look)


class Brake:
    """Counts. Times are those of the monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, tuple[Repeat, ...]] = {}
        self._begun: dict[str, Repeat] = {}

    def begin(self, action: Action, world: World) -> None:
        """An action that the loop decided on begins."""
        if is_paced(action):
            return
        now, seen = self._clock.monotonic(), settled_state(world, action)
        known = self._known.get(action.key, ())
        same = next((one for one in known if one.action == action and one.seen == seen), None)
        if same is None or now - max(same.done_s, same.until_s) >= QUIET_S:
            same = Repeat(action, seen)
        self._begun[action.key] = same

    def end(self, action: Action, *, first_s: float, longest_s: float) -> Repeat | None:
        """It was done. What to leave alone until when, None if nothing."""
        begun = self._begun.pop(action.key, None)
        if begun is None:
            return None
        now, count = self._clock.monotonic(), begun.count + 1
        pause_s = min(first_s * 2 ** min(count - FREE - 1, 10), longest_s) if count > FREE else 0.0
        repeat = replace(begun, count=count, done_s=now, until_s=now + pause_s)
        others = [
            one
            for one in self._known.get(action.key, ())
            if not (one.action == action and one.seen == begun.seen) and now - one.done_s < QUIET_S + longest_s
        ]
        self._known[action.key] = (*others, repeat)[-DIFFERENT:]
        self._forget(now - QUIET_S - longest_s)
        return repeat if pause_s else None

    def drop(self, action: Action) -> None:
        """It was not done, or a person asked for it: nothing is counted."""
        self._begun.pop(action.key, None)

    def _forget(self, before_s: float) -> None:
        for key in [key for key, known in self._known.items() if known[-1].done_s < before_s]:
            del self._known[key]
