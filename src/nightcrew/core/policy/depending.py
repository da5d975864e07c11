"""May a task start, given the issues that it depends on?

An issue that is blocked by another, or says so, waits until that one is closed as completed; a parent waits until its
sub-issues are closed, whichever way: what is left out of its parts is left out of it. What cannot be read is not taken
for done. Where waiting alone will not help (a circle, a blocker that nobody will do) a person is asked.
"""

from collections.abc import Mapping

from nightcrew.core.ids import TaskKey, render_number
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.task import Block, Stack, Task
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.stacking import stack_need
from nightcrew.core.reason import Wait

CIRCLE, NOT_PLANNED = "dependency_circle", "dependency_not_planned"
HELD_CODES = frozenset({CIRCLE, NOT_PLANNED})
"""The blocks that end by themselves once a person has put the links right."""
MOST_NAMED = 5

Circles = Mapping[TaskKey, tuple[TaskKey, ...]]


def is_gated(task: Task) -> bool:
    """Whether what it depends on keeps the task from starting: it has no pull request yet, and nobody has said that it
    is not to wait."""
    if task.waived or task.pull is not None:
        return False
    held = task.status is Status.BLOCKED and task.block is not None and task.block.code in HELD_CODES
    return held or task.status in (Status.NEW, Status.ROUTED)


def why_held(view: TaskView, circles: Circles, *, parent: Stack | None = None) -> Wait | Block | None:
    """Why a task does not start, or None. What it is to stand on is not waited for once there is a `parent`, an open
    pull request to begin at."""
    if not is_gated(view.task):
        return None
    if isinstance(view.needs, Unknown):
        words = f"what it depends on could not be read ({view.needs.why})"
        return Wait("dependencies_unknown", words, _or_start("It is read again."))
    project, below = view.task.key.project, stack_need(view) if parent is not None else None
    needs = [need for need in view.needs.value if below is None or need.on != below.on]
    circle = circles.get(view.task.key)
    if circle is not None:
        path = " → ".join(name_of(key, project=project) for key in (*circle, circle[0]))
        return Block(CIRCLE, f"it waits for itself: {path}. Take one of these links out, or {_START} one of them.")
    given_up = [need for need in needs if _is_given_up(need)]
    if given_up:
        names = _names(given_up, project=project)
        verb = "was" if len(given_up) == 1 else "were"
        words = f"it depends on {names}, which {verb} closed without being done. {_WITHOUT}"
        return Block(NOT_PLANNED, words)
    unread = [need for need in needs if isinstance(need.standing, Unknown)]
    if unread:
        why = unread[0].standing.why if isinstance(unread[0].standing, Unknown) else ""
        words = f"it depends on {_names(unread, project=project)}, which could not be read ({why})"
        return Wait("dependencies_unknown", words, _or_start("It is read again."))
    waited_for = [need for need in needs if need.standing == Known(Standing.OPEN)]
    if not waited_for:
        return None
    next_step = _or_start("It starts by itself once that is closed as completed.")
    return Wait("depends", f"it waits for {_names(waited_for, project=project)}", next_step)


def open_needs(view: TaskView) -> tuple[Dependency, ...]:
    """What it depends on that is open."""
    if isinstance(view.needs, Unknown):
        return ()
    return tuple(need for need in view.needs.value if need.standing == Known(Standing.OPEN))


def is_made_of_done(view: TaskView) -> bool:
    """Whether it has sub-issues, all of them are closed, and one at least was done."""
    if isinstance(view.needs, Unknown):
        return False
    children = [need.standing for need in view.needs.value if need.bond is Bond.CHILD]
    return Known(Standing.COMPLETED) in children and all(
        isinstance(standing, Known) and standing.value is not Standing.OPEN for standing in children
    )


def find_circles(world: World) -> Circles:
    """For each task that waits for itself, over others that wait as well, the shortest way round, itself first."""
    edges: dict[TaskKey, tuple[TaskKey, ...]] = {}
    for project in world.projects.values():
        for view in project.tasks:
            if is_gated(view.task) and (waits_for := open_needs(view)):
                edges[view.task.key] = tuple(dict.fromkeys(need.on for need in waits_for))
    while True:
        # Whoever waits for somebody that waits for nobody is on no way round.
        kept = {key: near for key, tos in edges.items() if (near := tuple(to for to in tos if to in edges))}
        if len(kept) == len(edges):
            break
        edges = kept
    found = {key: _way_round(edges, key) for key in edges}
    return {key: way for key, way in found.items() if way}


def _way_round(edges: Mapping[TaskKey, tuple[TaskKey, ...]], start: TaskKey) -> tuple[TaskKey, ...]:
    ways: list[tuple[TaskKey, ...]] = [(start,)]
    seen: set[TaskKey] = set()
    for way in ways:  # grows as it is gone through: the shortest ways come first
        for to in edges.get(way[-1], ()):
            if to == start:
                return way
            if to not in seen:
                seen.add(to)
                ways.append((*way, to))
    return ()


def name_of(key: TaskKey, *, project: str) -> str:
    """An issue as it is written within a project."""
    if key.is_internal and key.project == project:
        return render_number(key.number)
    return f"#{key.number}" if key.project == project else str(key)


_ASIDES = {Bond.CHILD: " (a sub-issue of it)", Bond.STACK: " to have a pull request to stand on"}
_START = "comment /start (or use `nightcrew task start`) on"
_WITHOUT = "Comment /start to go on without it, close this issue, or reopen that one or take the link out."


def _or_start(words: str) -> str:
    return f"{words} Comment /start, or use `nightcrew task start`, not to wait."


def _is_given_up(need: Dependency) -> bool:
    given_up = need.standing in (Known(Standing.NOT_PLANNED), Known(Standing.DUPLICATE))
    return given_up and need.bond is not Bond.CHILD


def _names(needs: list[Dependency] | tuple[Dependency, ...], *, project: str) -> str:
    bonds: dict[TaskKey, Bond] = {}
    for need in needs:
        bonds.setdefault(need.on, need.bond)
    named = [name_of(key, project=project) + _ASIDES.get(bond, "") for key, bond in sorted(bonds.items())]
    more = len(named) - MOST_NAMED
    return ", ".join(named[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
