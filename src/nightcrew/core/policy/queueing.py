"""The merge queue: what is built next, what the checks of a build say, and what became of a pull request in it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.build import Build, BuildState, BuildView, Head
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, Pull, PullView
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.checking import OWN_PREFIX, counted_checks, failed_among, is_unpaid, red_names
from nightcrew.core.policy.judging import judge_checks
from nightcrew.core.policy.term import Term, Truth

_FAILED = (BuildState.RED, BuildState.STUCK)
MARKED_WITHIN_S = 600.0
"""How long the forge has to see by itself that a pull request is merged whose head is on the base."""


def judge_build(project: ProjectSettings, view: BuildView, *, expects_ci: bool) -> Term:
    """What its checks say, by the rules of every merge. `expects_ci`: a pull request in it has checks, so that none
    here are only late."""
    term = judge_checks(project, view.checks, view.required, is_build=True)
    if term.truth is not Truth.YES or not expects_ci or isinstance(view.checks, Unknown):
        return term
    foreign = [check for check in view.checks.value if not check.name.startswith(OWN_PREFIX)]
    return term if foreign else Term("checks", Truth.NO, "its CI has not started")


def red_checks(project: ProjectSettings, view: BuildView) -> tuple[Check, ...]:
    """The checks of a build that stand in its way by having failed."""
    return failed_among(project, view.checks, view.required)


def failed_with_base(red: tuple[Check, ...], view: BuildView) -> Observed[tuple[str, ...]]:
    """The names of those that fail on the base as well, which no pull request in the build could mend."""
    if not red:
        return Known(())
    if isinstance(view.base_checks, Unknown):
        return view.base_checks
    return Known(tuple(sorted({check.name for check in red} & red_names(view.base_checks.value))))


def is_only_unpaid(checks: tuple[Check, ...]) -> bool:
    """Whether all of them failed since the forge does not run them."""
    return bool(checks) and all(is_unpaid(check) for check in checks)


def has_ci(project: ProjectSettings, pull: PullView) -> bool:
    """Whether anything but Nightcrew itself reports on the pull request."""
    if isinstance(pull.checks, Unknown):
        return False
    return any(not check.name.startswith(OWN_PREFIX) for check in counted_checks(project, pull.checks.value))


def choose_batch(line: Sequence[tuple[Head, TaskView]], *, most: int) -> tuple[Head, ...]:
    """The heads to build next, in order: as many as allowed from the front. Where the first was in a build that failed,
    half as many as were in that, and of them alone: so the culprit is found."""
    if not line:
        return ()
    suspect = _suspect(*line[0])
    limit = most if suspect is None else len(suspect.members) // 2
    chosen: list[Head] = []
    for head, view in line:
        if len(chosen) == limit or (_suspect(head, view) is None) is not (suspect is None):
            break
        if suspect is not None and not _holds(suspect, head.task.number, head.pull, head.sha):
            break
        chosen.append(head)
    return tuple(chosen)


def _suspect(head: Head, view: TaskView) -> Build | None:
    """The smallest build of several that failed with this head in it."""
    failed = [
        build
        for build in _counted(view, _FAILED)
        if len(build.members) > 1 and _holds(build, head.task.number, head.pull, head.sha)
    ]
    return min(failed, key=lambda build: len(build.members), default=None)


def failed_alone(view: TaskView, pull: Pull) -> Build | None:
    """The build of this head alone that failed: it is the culprit, until it changes or a person resets the task."""
    number = view.task.key.number
    alone = (build for build in _counted(view, _FAILED) if len(build.members) == 1)
    return next((build for build in alone if _holds(build, number, pull.number, pull.head_sha)), None)


def find_landing(view: TaskView, pull: Pull) -> Build | None:
    """The build with which exactly this head landed."""
    landed = (build for build in view.builds if build.state is BuildState.LANDED)
    return next((one for one in landed if _holds(one, view.task.key.number, pull.number, pull.head_sha)), None)


def marked_by(build: Build) -> datetime:
    """Until when the forge is to have seen that the members of a build are merged."""
    return (build.ended_at or build.made_at) + timedelta(seconds=MARKED_WITHIN_S)


def closes_by_hand(build: Build, *, now: datetime) -> bool:
    """Whether the forge cannot see that a pull request landed, or has not for too long: only a merge of the very head
    shows."""
    return build.method is not MergeMethod.MERGE or now >= marked_by(build)


def _counted(view: TaskView, states: tuple[BuildState, ...]) -> tuple[Build, ...]:
    """Builds that ended so since a person last reset the task."""
    since = view.task.reset_at
    return tuple(
        build
        for build in view.builds
        if build.state in states and (since is None or build.ended_at is None or build.ended_at > since)
    )


def _holds(build: Build, number: int, pull: int, head_sha: Sha) -> bool:
    return build.find(number=number, pull=pull, head_sha=head_sha) is not None
