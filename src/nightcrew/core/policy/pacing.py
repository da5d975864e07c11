"""How often is looked? The shorter something takes, the sooner it is looked at again; where nothing happens, seldom."""

from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import HIDDEN, CheckState, PullView
from nightcrew.core.model.quota import Pace
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Task
from nightcrew.core.policy.checking import OWN_PREFIX

IDLE_AFTER_S = 3600.0
"""How long nothing must have happened in a project for it to be idle, nor any task been open there."""
TOLD_IDLE_AFTER_S = 300.0
"""The same where its webhook tells of news."""
IDLE_STRETCH = 2.0
SHORT_STRETCH = 4.0
"""How many times the interval an idle project is read, and any where the forge's limit runs low."""
WAITED_SHARE = 0.05
"""How long a look at checks may come late, as a share of the time that they have taken so far."""
_FLYING = frozenset({Status.NEEDS_REVIEW, Status.IN_REVIEW})


def project_interval_s(settings: Settings, *, idle_s: float, pace: Pace, is_told: bool) -> float:
    """Between two looks at a project: the ordinary interval, unless nothing has happened in it for long (`idle_s`;
    where a webhook tells of news, for a shorter time), or the forge's limit runs low."""
    ordinary, longest = settings.interval_s, max(settings.interval_max_s, settings.interval_s)
    idle = ordinary
    if is_told and idle_s >= TOLD_IDLE_AFTER_S:
        idle = longest
    elif idle_s >= IDLE_AFTER_S:
        idle = min(ordinary * IDLE_STRETCH, longest)
    return max(idle, ordinary * SHORT_STRETCH) if pace is Pace.SLOW else idle


def is_in_flight(task: Task, pull: PullView) -> bool:
    """Whether the forge is about to say something that a merge waits for: checks that run (or have not begun), or
    whether it merges. Nightcrew knows by itself when its own checks end."""
    if task.status not in _FLYING or not pull.pull.is_open:
        return False
    return pull.pull.mergeable is None or has_open_checks(pull)


def has_open_checks(pull: PullView) -> bool:
    """Whether checks of others run or have not begun, as far as is known."""
    if isinstance(pull.checks, Unknown):
        return True
    seen = (check for check in pull.checks.value if check.source != HIDDEN)
    foreign = [check for check in seen if not check.name.startswith(OWN_PREFIX)]
    required = pull.required.value.contexts if isinstance(pull.required, Known) else ()
    missing = set(required) - {check.name for check in foreign}
    return not foreign or bool(missing) or any(check.state is CheckState.PENDING for check in foreign)


def flight_interval_s(settings: Settings, *, waited_s: float, pace: Pace) -> float:
    """Between two looks at a pull request in flight at one head: the shortest at first, and longer the longer it takes,
    up to the ordinary one. That one alone where the forge's limit runs low."""
    if pace is not Pace.OPEN:
        return settings.interval_s
    return min(max(settings.interval_min_s, waited_s * WAITED_SHARE), settings.interval_s)
