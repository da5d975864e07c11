"""Which checks count on a pull request, which are required, and which failed or are out of date.

Whether they are enough to merge is a question of the gate.
"""

import re

from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.merge import MergeStrategy
from nightcrew.core.model.pull import HIDDEN, Check, CheckState, PullView, Required
from nightcrew.core.model.settings import ProjectSettings

OWN_PREFIX = "nightcrew/"
REVIEW_CONTEXT = "nightcrew/review"
_UNPAID = re.compile(r"job was not started because [^\n]{0,200}?(?:payments|spending limit|billing)", re.IGNORECASE)
"""What GitHub writes as an annotation of a job that it did not start (case C187)."""


def required_contexts(project: ProjectSettings, by_rules: tuple[str, ...]) -> tuple[str, ...]:
    """Required by the branch's rules, by the settings, and every engine check of the project; each once."""
    own = tuple(OWN_PREFIX + check.name for check in project.checks)
    return tuple(dict.fromkeys((*by_rules, *project.merge.required_checks, *own)))


def counted_checks(project: ProjectSettings, checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Nightcrew's own statuses count only where they are configured engine checks, and never the review."""
    own = {OWN_PREFIX + check.name for check in project.checks} - {REVIEW_CONTEXT}
    return tuple(
        check
        for check in checks
        if check.source != HIDDEN and (not check.name.startswith(OWN_PREFIX) or check.name in own)
    )


def why_hidden(checks: tuple[Check, ...]) -> str:
    """Why there may be checks that cannot be seen; empty if all can be."""
    return next((check.summary for check in checks if check.source == HIDDEN), "")


def failed_checks(project: ProjectSettings, pull: PullView) -> tuple[Check, ...]:
    """The checks that stand in the way by having failed, and not on the base as well: required ones, or any where none
    is required. None while it is not known how the base stands."""
    if isinstance(pull.base_checks, Unknown):
        return ()
    red = red_names(pull.base_checks.value)
    return tuple(check for check in _failed(project, pull) if check.name not in red)


def failed_on_base(project: ProjectSettings, pull: PullView) -> Observed[tuple[str, ...]]:
    """The names of those that failed and fail on the base itself too."""
    failed = {check.name for check in _failed(project, pull)}
    if not failed:
        return Known(())
    if isinstance(pull.base_checks, Unknown):
        return pull.base_checks
    return Known(tuple(sorted(failed & red_names(pull.base_checks.value))))


def red_names(checks: tuple[Check, ...]) -> frozenset[str]:
    """The names of those that failed, and were run."""
    return frozenset(check.name for check in checks if check.state is CheckState.FAILURE and not is_unpaid(check))


def _failed(project: ProjectSettings, pull: PullView) -> tuple[Check, ...]:
    return tuple(
        check for check in failed_among(project, pull.checks, pull.required) if not is_stale(project, check, pull)
    )


def failed_among(
    project: ProjectSettings, checks: Observed[tuple[Check, ...]], required: Observed[Required]
) -> tuple[Check, ...]:
    """Those of one SHA that failed and count: required ones, or any where none is required."""
    if isinstance(checks, Unknown) or isinstance(required, Unknown):
        return ()
    names = required_contexts(project, required.value.contexts)
    counts_all = not has_foreign(names)
    return tuple(
        check
        for check in counted_checks(project, checks.value)
        if check.state is CheckState.FAILURE and (counts_all or check.name in names)
    )


def is_unpaid(check: Check) -> bool:
    """Whether the forge did not run a check since it is not paid for: no agent can mend that."""
    return any(_UNPAID.search(text) for text in (check.summary, *check.annotations))


def has_foreign(required: tuple[str, ...]) -> bool:
    """Whether anything but Nightcrew's own statuses is required: only then may the other checks be passed over."""
    return any(not name.startswith(OWN_PREFIX) for name in required)


def base_mark(base_sha: str) -> str:
    """How an engine check says on which base its merge result was made; it stands at the end of its description."""
    return f"on base {base_sha[:10]}"


def is_stale(project: ProjectSettings, check: Check, pull: PullView) -> bool:
    """Whether an engine check was run on the merge with another base than there is now. Under the merge queue that does
    not matter: what lands is checked as it is."""
    if not check.name.startswith(OWN_PREFIX) or isinstance(pull.base_sha, Unknown):
        return False
    if project.merge.strategy is MergeStrategy.QUEUE:
        return False
    _, mark, _sha = check.summary.rpartition("on base ")
    return bool(mark) and not check.summary.endswith(base_mark(pull.base_sha.value))


def stale_checks(project: ProjectSettings, pull: PullView) -> tuple[str, ...]:
    """The names of engine checks that answered for another base."""
    if isinstance(pull.checks, Unknown):
        return ()
    counted = counted_checks(project, pull.checks.value)
    return tuple(sorted({check.name for check in counted if is_stale(project, check, pull)}))


def describe_checks(checks: list[Check]) -> str:
    """Which of them failed and which are not finished, in words."""
    failed = sorted({check.name for check in checks if check.state is CheckState.FAILURE})
    pending = sorted({check.name for check in checks if check.state is CheckState.PENDING})
    parts = [f"checks failed: {', '.join(failed)}"] if failed else []
    parts += [f"checks are not finished: {', '.join(pending)}"] if pending else []
    return "; ".join(parts)
