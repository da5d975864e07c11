"""`needs_review`: find a reviewer for the head, and run the project's own checks beside it."""

from typing import assert_never

from nightcrew.core.actions import RunChecks, StartRun
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import CheckState, PullView
from nightcrew.core.model.task import Block
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.policy.checking import OWN_PREFIX, is_stale
from nightcrew.core.policy.reviewing import choose_reviewer
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, block, move
from nightcrew.core.step.base import update_for_conflict
from nightcrew.core.step.feedback import answer, follow_feedback
from nightcrew.core.step.pull_end import open_pull
from nightcrew.core.step.said import follow_said


def step_needs_review(case: Case) -> Stage:
    """Start a reviewer, or say what it waits for."""
    pull = open_pull(case)
    if isinstance(pull, Stage):
        return pull
    said_to = follow_said(case)
    if said_to is not None:
        return said_to
    update = update_for_conflict(case, pull)
    if update is not None:
        return update
    checks = own_checks(case, pull)
    owed = answer(case, pull)
    if owed is not None:
        return Stage((*checks, owed))
    if standing_verdict(case, pull) is not None:
        return move(case.task, Status.IN_REVIEW, Evidence.REVIEW_STARTED, "this head has been reviewed")
    said = follow_feedback(case, pull)
    if said is not None:
        return Stage((*checks, *said.actions), said.wait)
    if case.paused:
        return Stage(checks, case.paused)
    if case.unvouched is not None:
        return Stage(checks, case.unvouched)
    chosen = choose_reviewer(case.world, case.settings, case.view, pull, slots=case.allowance.slots)
    match chosen:
        case StartRun():
            return Stage((*checks, chosen))
        case Wait():
            return Stage(checks, chosen)
        case Block():
            return block(case.task, chosen)
        case _:
            assert_never(chosen)


def standing_verdict(case: Case, pull: PullView) -> Verdict | None:
    """The verdict for the head, if it was given for the base that the pull request goes to now."""
    verdict = case.view.verdict_for(pull.pull.head_sha)
    return verdict if verdict is not None and verdict.base_ref == pull.pull.base_ref else None


def own_checks(case: Case, pull: PullView) -> tuple[RunChecks, ...]:
    """Run those engine checks of the project that have not answered for this head. One that says pending and is not
    under way was cut short, and runs again."""
    if not case.settings.checks or isinstance(pull.checks, Unknown) or isinstance(pull.base_sha, Unknown):
        return ()
    if pull.pull.mergeable is False:
        return ()
    answered = {
        check.name
        for check in pull.checks.value
        if check.state is not CheckState.PENDING and not is_stale(case.settings, check, pull)
    }
    missing = tuple(check.name for check in case.settings.checks if OWN_PREFIX + check.name not in answered)
    if not missing:
        return ()
    why = "the project's own checks have not answered for this head"
    return (RunChecks(case.task.key, pull.pull.number, pull.pull.head_sha, pull.base_sha.value, missing, why),)
