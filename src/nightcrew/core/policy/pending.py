"""Which checks of a head have not answered, and for how long may that go on?"""

from datetime import datetime, timedelta

from nightcrew.core.known import Unknown
from nightcrew.core.model.holdup import Holdup
from nightcrew.core.model.pull import CheckState, PullView
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.task import Block
from nightcrew.core.policy.checking import counted_checks, is_stale, required_contexts

MERGEABLE_LIMIT_S = 1800.0
"""How long a forge may not know whether a head merges before that is said on the pull request. It takes seconds."""


def pending_checks(project: ProjectSettings, pull: PullView) -> tuple[str, ...]:
    """Those that pend, and required ones that have not reported; none where that is not known."""
    if isinstance(pull.checks, Unknown) or isinstance(pull.required, Unknown):
        return ()
    real = counted_checks(project, pull.checks.value)
    said = {check.name for check in pull.checks.value}
    missing = [name for name in required_contexts(project, pull.required.value.contexts) if name not in said]
    pend = [check.name for check in real if check.state is CheckState.PENDING or is_stale(project, check, pull)]
    return tuple(sorted({*missing, *pend}))


def out_of_patience(project: ProjectSettings, since: Holdup, names: tuple[str, ...], *, now: datetime) -> Block | None:
    """The block of a task whose checks have not answered for the whole of the limit. It counts from when they were
    first seen to pend at this head, whatever flapped and whoever looked since."""
    limit_s = project.merge.checks_limit_s
    if not limit_s or now < since.since_at + timedelta(seconds=limit_s):
        return None
    minutes = int((now - since.since_at).total_seconds() // 60)
    words = (
        f"{', '.join(names)} have not finished after {minutes} min on {since.head_sha[:10]}, or have not reported at "
        "all. It goes on by itself once they have; else see to them, or take them out of what is required."
    )
    return Block("ci_pending", words)


def is_unknown_for_long(since: Holdup, *, now: datetime) -> bool:
    """Whether the forge has not known for long whether it merges."""
    return now >= since.since_at + timedelta(seconds=MERGEABLE_LIMIT_S)
