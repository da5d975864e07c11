"""What follows from what the base looks like after a merge: nothing while it is not known, a word where it is red."""

from nightcrew.core.actions import SettleLanding
from nightcrew.core.model.landing import LandingState
from nightcrew.core.model.world import ProjectWorld, World
from nightcrew.core.policy.landing import judge_landing


def settle_landings(world: World, project: ProjectWorld) -> tuple[SettleLanding, ...]:
    """The landings of which it is known by now whether they broke the base, or that nobody can tell."""
    found = []
    for view in project.landings:
        state, checks = judge_landing(view, project.settings, now=world.now)
        if state is LandingState.WATCHED:
            continue
        landing = view.landing
        why = {
            LandingState.RED: f"{landing.base_ref} was green, and is red since #{landing.pull}: {', '.join(checks)}",
            LandingState.GREEN: f"{landing.base_ref} is green with #{landing.pull}",
        }.get(state, f"whether {landing.base_ref} is green with #{landing.pull} was not told in time")
        found.append(SettleLanding(view.task, landing.pull, landing.merge_sha, state, checks, why))
    return tuple(found)
