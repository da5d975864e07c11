"""`in_progress` without a live run: publish what the author did, try again, or ask a person."""

from nightcrew.core.actions import FinishTask, MoveStatus, PublishWork
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.reaction import ReactionKind
from nightcrew.core.model.report import AuthorReport, Decision, ReportedOutcome
from nightcrew.core.model.run import Role, Run, RunOutcome
from nightcrew.core.model.task import Block
from nightcrew.core.policy.checking import failed_checks
from nightcrew.core.policy.delegating import describe_cut, is_made_of_parts, proposal_of
from nightcrew.core.policy.retrying import changed_nothing, describe_end, nothing_twice
from nightcrew.core.stage import Case, Stage, act_on, block
from nightcrew.core.step.delegate import follow_proposal, weigh_proposal
from nightcrew.core.step.pull_end import follow_pull_end
from nightcrew.core.step.said import follow_said


def step_in_progress(case: Case) -> Stage:
    """The step after the author's last run."""
    ended = follow_pull_end(case)
    if ended is not None:
        return ended
    run = case.view.last(Role.AUTHOR)
    if run is None or run.outcome is None:
        return _again(case, "no author run of it is known")
    said = follow_said(case)
    if said is not None:
        return said
    run, outcome = _before_answer(case, run, run.outcome)
    weighed = weigh_proposal(case, run)
    handed = follow_proposal(case, run, weighed)
    if handed is not None:
        return handed
    why = _why_finished(case, run, outcome)
    if why:
        return act_on(FinishTask(case.task.key, case.task.status, merged=False, why=why))
    spent = nothing_twice(case.view, run, red=_red(case))
    if _is_answer(case, run, outcome):
        return _publish_as_is(case, run)
    if run.hears and changed_nothing(run) and isinstance(outcome.report, AuthorReport):
        return _only_answered(case, run, outcome.report)
    if spent is not None and not _is_pushed(case, outcome):
        return block(case.task, spent)
    if outcome.failure is not None or outcome.interruption is not None:
        return _again(case, describe_end(run))
    if not isinstance(outcome.report, AuthorReport):
        return _again(case, f"{run.agent} left no report")
    if outcome.report.outcome is not ReportedOutcome.DONE:
        return block(case.task, _asked(run, outcome.report))
    return _publish(case, run, outcome, why_cut=describe_cut(weighed.cut))


def _before_answer(case: Case, run: Run, outcome: RunOutcome) -> tuple[Run, RunOutcome]:
    """Its last run with the outcome; of turns that only answered what a person said, before there is a pull request,
    the run before them, if that had come to its end: what it did goes on as it was."""
    turns = list(case.view.counted(Role.AUTHOR))
    while turns and turns[-1].hears and changed_nothing(turns[-1]) and not proposal_of(turns[-1]):
        turns.pop()
    last = turns[-1] if turns else run
    if last is run or last.outcome is None or case.view.pull != Known(None) or _has_handed_over(case, last):
        return run, outcome
    report, is_same = last.outcome.report, last.outcome.head_sha == outcome.head_sha
    is_over = last.outcome.failure is None and last.outcome.interruption is None
    is_done = isinstance(report, AuthorReport) and report.outcome is ReportedOutcome.DONE
    is_ended = is_over and is_same and (is_done or bool(proposal_of(last)))
    return (last, last.outcome) if is_ended else (run, outcome)


def _has_handed_over(case: Case, run: Run) -> bool:
    """Whether what it proposed was taken, or refused: the task has gone on since."""
    handed = case.task.delegated
    return handed is not None and run.id in {handed.run, *(part.run for part in handed.parts)}


def _publish(case: Case, run: Run, outcome: RunOutcome, *, why_cut: str) -> Stage:
    said = f" (its sub-tasks are not taken: {why_cut})" if why_cut else ""
    pull = case.view.pull.value if isinstance(case.view.pull, Known) else None
    before = pull.pull.head_sha if pull is not None else case.task.started_from
    if outcome.head_sha is None or (outcome.head_sha == before and not _is_pushed(case, outcome)):
        return _again(case, f"{run.agent} said done and changed nothing{said}")
    return act_on(PublishWork(case.task.key, run.id, outcome.head_sha, f"{run.agent} says that it is done{said}"))


def _why_finished(case: Case, run: Run, outcome: RunOutcome) -> str:
    """Why nothing is left to do, without anything to publish; empty if something is."""
    if is_made_of_parts(case.view, run) and changed_nothing(run):
        return f"its sub-tasks have ended, and {run.agent} finds nothing left to do"
    return f"{run.agent} has written its report" if _is_written(case, outcome) else ""


def _is_written(case: Case, outcome: RunOutcome) -> bool:
    """Whether a report was asked for, and nothing was changed for it. What was changed is published and reviewed like
    any other work."""
    internal = case.view.internal
    if internal is None or not internal.is_report or case.view.pull != Known(None) or outcome.has_commits:
        return False
    is_done = isinstance(outcome.report, AuthorReport) and outcome.report.outcome is ReportedOutcome.DONE
    return is_done and outcome.failure is None and outcome.interruption is None


def _is_answer(case: Case, run: Run, outcome: RunOutcome) -> bool:
    """Whether it was only asked what people had remarked, and finds that nothing is to be changed: that is an answer
    to them. Failed checks, and the verdicts of reviewers, take work."""
    pull = case.view.pull.value if isinstance(case.view.pull, Known) else None
    report = outcome.report
    if pull is None or not changed_nothing(run) or not isinstance(report, AuthorReport):
        return False
    if report.outcome is not ReportedOutcome.DONE:
        return False
    here = [row.key.kind for row in case.view.reactions if row.key.head_sha == pull.pull.head_sha and row.sent]
    verdict = case.view.verdict_for(pull.pull.head_sha)
    is_asked = verdict is not None and verdict.decision is Decision.REQUEST_CHANGES
    return bool(here) and ReactionKind.CI_FAILED not in here and not is_asked


def _only_answered(case: Case, run: Run, report: AuthorReport) -> Stage:
    """It heard what a person said, and changed nothing: what it did before goes on as it was. Where it had done
    nothing, it is the person's turn again."""
    if isinstance(case.view.pull, Known) and case.view.pull.value is not None:
        return _publish_as_is(case, run)
    words = f"{run.agent} answered, and has changed nothing yet: {report.summary}"
    return block(case.task, Block("answered", words, answerable=True))


def _red(case: Case) -> tuple[str, ...]:
    """The checks that fail on its pull request, as far as is known."""
    pull = case.view.pull.value if isinstance(case.view.pull, Known) else None
    if pull is None or not isinstance(pull.checks, Known):
        return ()
    return tuple(sorted({check.name for check in failed_checks(case.settings, pull)}))


def _publish_as_is(case: Case, run: Run) -> Stage:
    pull = case.view.pull.value if isinstance(case.view.pull, Known) else None
    head = pull.pull.head_sha if pull is not None else None
    if head is None:
        return _again(case, "its pull request is not there")
    return act_on(PublishWork(case.task.key, run.id, head, f"{run.agent} finds nothing to change"))


def _is_pushed(case: Case, outcome: RunOutcome) -> bool:
    """Whether its commits are on the pull request already, by a publishing that was cut short."""
    return isinstance(case.view.pull, Known) and case.view.pull.value is not None and outcome.has_commits


def _again(case: Case, why: str) -> Stage:
    return act_on(MoveStatus(case.task.key, case.task.status, Status.ROUTED, Evidence.RUN_FAILED, why))


def _asked(run: Run, report: AuthorReport) -> Block:
    """Declined and needs_input are outcomes for a person; a comment answers them."""
    match report.outcome:
        case ReportedOutcome.NEEDS_INPUT:
            return Block("needs_input", f"{run.agent} asks: {report.question or report.summary}", answerable=True)
        case ReportedOutcome.DECLINED:
            return Block("declined", f"{run.agent} declined: {report.why or report.summary}", answerable=True)
        case _:
            return Block("agent_blocked", f"{run.agent} cannot go on: {report.why or report.summary}", answerable=True)
