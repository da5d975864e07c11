"""Does a further run of an author go on with an earlier session of its CLI, which knows what was done so far?"""

from nightcrew.core.failures import FailureKind
from nightcrew.core.model.report import AuthorReport, ReportedOutcome
from nightcrew.core.model.run import InterruptionKind, Role, RunOutcome
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.retrying import NOT_THE_TASKS_FAULT

_HEALTHY = NOT_THE_TASKS_FAULT | {FailureKind.NO_CHANGES}
"""Failures that say nothing against the session."""


def session_to_resume(view: TaskView, *, agent: str, model: str, hears: bool = False) -> str:
    """The session to go on with, empty for a fresh one: that of the last author run since a person's reset, if its CLI
    can, agent and model are the same, and it was either lost with the machine or done and asked for changes since; or,
    where it is to hear what a person says (`hears`), if nothing went wrong with it. A session that could not be resumed
    once is left alone, since its run was neither."""
    runs = view.counted(Role.AUTHOR)
    last = runs[-1] if runs else None
    if last is None or last.outcome is None or (last.agent, last.model) != (agent, model):
        return ""
    outcome = last.outcome
    goes_on = _is_lost(outcome) or _is_done(outcome) or (hears and _is_whole(outcome))
    return outcome.agent_session if outcome.can_resume and goes_on else ""


def _is_whole(outcome: RunOutcome) -> bool:
    if outcome.interruption is not None:
        return outcome.interruption.kind is not InterruptionKind.NOT_RESUMED
    return outcome.failure is None or outcome.failure.kind in _HEALTHY


def _is_lost(outcome: RunOutcome) -> bool:
    return outcome.interruption is not None and outcome.interruption.kind is InterruptionKind.LOST


def _is_done(outcome: RunOutcome) -> bool:
    report = outcome.report
    return outcome.failure is None and isinstance(report, AuthorReport) and report.outcome is ReportedOutcome.DONE
