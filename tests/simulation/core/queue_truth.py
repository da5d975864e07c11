"""The merge queue in the world without I/O: builds, their scratch branches, and what is seen of them."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.build import Build, BuildState, BuildView
from nightcrew.core.model.pull import Check, Required

if TYPE_CHECKING:
    from tests.simulation.core.truth import Simulated


@dataclass(slots=True)
class QueueTruth:
    """`scratch` is where the scratch branch of each base is; `offered` what was pushed there and CI has not seen;
    `skewed` are heads that are green alone and fail with the base in them."""

    builds: dict[int, Build] = field(default_factory=dict)
    scratch: dict[tuple[str, str], Sha] = field(default_factory=dict)
    offered: list[Build] = field(default_factory=list)
    skewed: set[Sha] = field(default_factory=set)
    sights: dict[int, BuildView] = field(default_factory=dict)


def see_builds(sim: "Simulated", slug: str) -> tuple[BuildView, ...]:
    """What is seen of the open builds of a project, as they were when last looked at."""
    queue = sim.queue
    is_open = [build for build in queue.builds.values() if build.project == slug and build.ended_at is None]
    for build in is_open:
        if build.id not in queue.sights:
            queue.sights[build.id] = _look(sim, build)
    return tuple(replace(queue.sights[build.id], build=build) for build in is_open)


def _look(sim: "Simulated", build: Build) -> BuildView:
    if build.project in sim.unreachable:
        nothing = Unknown("no answer")
        return BuildView(build, nothing, nothing, nothing, nothing, nothing)
    checks = tuple(
        Check(name, state, "status", sim.notes.get((build.sha, name), ""))
        for name, state in sim.checks.get(build.sha, {}).items()
    )
    base = sim.base_at(*build.place)
    scratch = sim.queue.scratch.get(build.place)
    landed = sim.is_ancestor(build.sha, base)
    return BuildView(build, Known(checks), Known(Required()), Known(base), Known(scratch), Known(landed))


def ended_builds(sim: "Simulated", number: int) -> tuple[Build, ...]:
    """Those that an issue's pull request was in and that have ended."""
    found = (build for build in sim.queue.builds.values() if build.ended_at is not None)
    return tuple(build for build in found if any(member.number == number for member in build.members))


def is_red(sim: "Simulated", build: Build) -> bool:
    """Whether its tests fail: one in it does not fit."""
    return any(member.head_sha in sim.queue.skewed | sim.red for member in build.members)


def landed_of(sim: "Simulated", key: TaskKey) -> bool:
    """Whether the pull request of a task landed at the head that it has."""
    pull = sim.pulls.get(sim.tasks[key.number].pull or 0)
    landed = [build for build in ended_builds(sim, key.number) if build.state is BuildState.LANDED]
    return pull is not None and any(
        build.find(number=key.number, pull=pull.number, head_sha=pull.head_sha) for build in landed
    )
