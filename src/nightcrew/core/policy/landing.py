"""After a merge: is the base still green, and if not, was it this merge?"""

from datetime import datetime, timedelta

from nightcrew.core.known import Observed, Unknown
from nightcrew.core.model.landing import LandingState, LandingView
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.policy.checking import counted_checks, is_unpaid

SETTLING_S = 600.0
"""How long after a merge further checks may still begin on it: before that, green is not taken for all there is."""


def judge_landing(
    view: LandingView, project: ProjectSettings, *, now: datetime
) -> tuple[LandingState, tuple[str, ...]]:
    """What is known of it, with the names of the checks that it broke: that failed with it, had succeeded on the base
    before it, and have not succeeded on what landed since."""
    until_at = view.landing.at + timedelta(seconds=project.merge.watch_s)
    if not isinstance(view.checks, Unknown):
        checks = counted_checks(project, view.checks.value)
        failed = {one.name for one in checks if one.state is CheckState.FAILURE and not is_unpaid(one)}
        broken = (failed & _satisfied(view.before)) - _satisfied(view.now)
        if broken and not isinstance(view.before, Unknown) and not isinstance(view.now, Unknown):
            return LandingState.RED, tuple(sorted(broken))
        ended = all(one.state is not CheckState.PENDING for one in checks)
        is_settled = now >= view.landing.at + timedelta(seconds=SETTLING_S)
        if ended and not failed and is_settled and any(one.state is CheckState.SUCCESS for one in checks):
            return LandingState.GREEN, ()
    return (LandingState.OVER if now >= until_at else LandingState.WATCHED), ()


def _satisfied(checks: Observed[tuple[Check, ...]]) -> set[str]:
    if isinstance(checks, Unknown):
        return set()
    failed = {one.name for one in checks.value if not one.state.satisfies}
    return {one.name for one in checks.value if one.state.satisfies} - failed
