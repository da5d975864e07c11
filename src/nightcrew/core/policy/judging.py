"""What do the checks of one SHA say: of a head, or of a build of the merge queue?"""

from nightcrew.core.known import Observed, Unknown
from nightcrew.core.model.pull import Check, CheckState, Required
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.policy.checking import (
    REVIEW_CONTEXT,
    counted_checks,
    describe_checks,
    has_foreign,
    required_contexts,
    why_hidden,
)
from nightcrew.core.policy.term import Term, no, unknown, yes


def judge_checks(
    project: ProjectSettings,
    checks: Observed[tuple[Check, ...]],
    required: Observed[Required],
    *,
    stale: tuple[str, ...] = (),
    is_build: bool = False,
) -> Term:
    """Yes where every required check succeeded; else see `_judge_all`. `stale` are engine checks that answered for
    another base. Nightcrew's review is posted on heads alone, never on a build."""
    if isinstance(checks, Unknown):
        return unknown("checks", f"its checks are not known ({checks.why})")
    if isinstance(required, Unknown):
        return unknown("checks", f"which checks are required is not known ({required.why})")
    names = required_contexts(project, required.value.contexts)
    if is_build:
        names = tuple(name for name in names if name != REVIEW_CONTEXT)
    real, hidden = counted_checks(project, checks.value), why_hidden(checks.value)
    counted = (*real, *(check for check in checks.value if check.name == REVIEW_CONTEXT))
    said = {check.name for check in counted}
    missing = [name for name in names if name not in said]
    bad = [check for check in counted if check.name in names and not check.state.satisfies]
    if missing and hidden:
        return unknown("checks", f"required checks are not among what can be read: {', '.join(missing)} ({hidden})")
    if missing:
        return no("checks", f"required checks have not reported: {', '.join(missing)}")
    if stale:
        return no("checks", f"checks are not finished: {', '.join(stale)} (the base has moved since)")
    if bad:
        return no("checks", describe_checks(bad))
    return yes("checks") if has_foreign(names) else _judge_all(project, real, hidden)


def _judge_all(project: ProjectSettings, real: tuple[Check, ...], hidden: str) -> Term:
    """Where neither the branch's rules nor the settings require any, nothing may have failed or pend, and one real
    success must exist; an engine check can be that. Where checks may be hidden, that is not known."""
    unsatisfied = [check for check in real if not check.state.satisfies]
    if unsatisfied:
        return no("checks", describe_checks(unsatisfied))
    if hidden:
        words = f"whether another check failed is not known ({hidden}); name those that must succeed in "
        return unknown("checks", f"{words}merge.required_checks, or use a classic token or a GitHub App")
    if any(check.state is CheckState.SUCCESS for check in real):
        return yes("checks")
    if project.merge.allow_without_ci and not real:
        return yes("checks")
    return no(
        "checks",
        "no check has succeeded on it (no CI, or it has not started); a repository without CI merges only with "
        "merge.allow_without_ci or checks of its own",
    )
