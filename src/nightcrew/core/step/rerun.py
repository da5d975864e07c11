"""A red check is run once more before anybody is asked about it; one that passes then is on record as flaky."""

from datetime import timedelta

from nightcrew.core.actions import NoteReaction, RerunChecks, SettleReruns
from nightcrew.core.model.pull import Check, PullView
from nightcrew.core.model.reaction import ReactionKind
from nightcrew.core.model.rerun import RerunState
from nightcrew.core.policy.reacting import find_reaction, key_of
from nightcrew.core.policy.rerunning import (
    PATIENCE_S,
    answered,
    awaited_until,
    is_pending_beside,
    reruns_of,
    source_of,
    to_rerun,
)
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on


def settle_reruns(case: Case, pull: PullView) -> Stage | None:
    """Finish asking for what is written down, and write down what has ended; None if there is neither."""
    rows = reruns_of(case.view, pull)
    seen = pull.pull
    wanted = tuple(row for row in rows if row.state is RerunState.WANTED)
    if wanted and case.world.now >= wanted[0].at + timedelta(seconds=PATIENCE_S):
        why = "it could not be had to run again in time"
        return act_on(SettleReruns(case.task.key, seen.number, seen.head_sha, (), wanted, why))
    if wanted:
        why = "asking for the checks to run again was cut short"
        checks = tuple((row.check, row.source) for row in wanted)
        return act_on(RerunChecks(case.task.key, seen.number, seen.head_sha, checks, why))
    ended = answered(rows, pull)
    if not ended.passed and not ended.failed:
        return None
    names = ", ".join(sorted({row.check for row in ended.passed}))
    why = f"flaky: {names} passed when run again" if names else "it failed again"
    return act_on(SettleReruns(case.task.key, seen.number, seen.head_sha, ended.passed, ended.failed, why))


def follow_rerun(case: Case, pull: PullView, failed: list[Check], rest: Wait) -> Stage | None:
    """The re-run of failed checks: asked for, or waited for; None if there is none to be had any more."""
    rule = case.settings.reactions.ci_failed
    now = case.world.now
    until_at = awaited_until(reruns_of(case.view, pull), pull, now)
    if until_at is not None:
        words = f"{_names(failed)} failed, and was asked to run again"
        return Stage(wait=Wait("rerunning", words, "A second failure goes to its author.", until_at))
    checks = to_rerun(case.view, pull, failed, rule=rule)
    if not checks:
        return None
    if is_pending_beside(pull, checks):
        held = _hold(case, pull, rest)
        if held is not None:
            return held
    named = tuple((check.name, source_of(check)) for check in checks)
    why = f"{_names(failed)} failed, and is run once more before its author is asked"
    return act_on(RerunChecks(case.task.key, pull.pull.number, pull.pull.head_sha, named, why))


def _hold(case: Case, pull: PullView, rest: Wait) -> Stage | None:
    """Wait for the others, so long as there is patience."""
    key = key_of(pull, ReactionKind.CI_FAILED)
    row = find_reaction(case.view, key)
    if row is None:
        return act_on(NoteReaction(case.task.key, key, "", "checks failed, and others are not finished"))
    until_at = row.seen_at + timedelta(seconds=PATIENCE_S)
    if case.world.now >= until_at:
        return None
    return Stage(
        wait=Wait("rerun_waits", rest.words, "What failed runs once more when the others have ended.", until_at)
    )


def _names(failed: list[Check]) -> str:
    return ", ".join(sorted({check.name for check in failed}))
