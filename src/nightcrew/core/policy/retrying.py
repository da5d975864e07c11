"""A run of an author ended without usable work: try again, or ask a person?"""

from collections.abc import Iterable, Sequence

from nightcrew.core.failures import FailureKind
from nightcrew.core.model.report import AuthorReport, ReportedOutcome, ReviewReport, RouterReport
from nightcrew.core.model.run import Role, Run, StopCause
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.delegating import rounds_of

# Failures of the world around the agent: a cooldown bounds them, so they use up no attempt of the task.
NOT_THE_TASKS_FAULT = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.USAGE_WINDOW,
        FailureKind.CREDITS,
        FailureKind.AUTH,
        FailureKind.MODEL_NOT_FOUND,
        FailureKind.OVERLOADED,
        FailureKind.NETWORK,
        FailureKind.BILLING,
    }
)


FREE_INTERRUPTIONS = 5
"""How many interrupted runs of a role use up no attempt, so that what ends every run cannot go on for ever."""


def uses_attempt(run: Run) -> bool:
    """Whether a run counts against the limit of attempts: not if the world around it failed, or it was interrupted."""
    if is_interrupted(run):
        return False
    failure = run.outcome.failure if run.outcome else None
    return failure is None or failure.kind not in NOT_THE_TASKS_FAULT


def is_interrupted(run: Run) -> bool:
    """Whether it ended before its agent had ended its work, without being the agent's fault."""
    return run.outcome is not None and run.outcome.interruption is not None


def not_interrupted(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that say something about their agent: those that were not interrupted, or too often."""
    runs = tuple(runs)
    free = [run for run in runs if is_interrupted(run)][:FREE_INTERRUPTIONS]
    return tuple(run for run in runs if run not in free)


def count_used(runs: Iterable[Run]) -> int:
    """How many attempts these runs have used up: those that count, and interrupted ones beyond the free ones. What a
    person said to the agent uses up none, neither the turn for it nor the one that was ended for it."""
    own = [run for run in runs if not (run.hears or (run.stop is not None and run.stop.cause is StopCause.SAID))]
    return sum(1 for run in not_interrupted(own) if uses_attempt(run) or is_interrupted(run))


def attempts_used(view: TaskView, role: Role = Role.AUTHOR) -> int:
    """Attempts used since a person last reset the task."""
    return count_used(view.counted(role))


def out_of_attempts(view: TaskView, limit: int) -> Block | None:
    """The block of a task that has used up its attempts with nothing to show for them, else None. Rounds that a
    review asked for, conflicts with the base and handing parts over are not failures; each gives one attempt more."""
    used = attempts_used(view)
    if used < limit + view.rounds + view.task.conflicts + rounds_of(view):
        return None
    last = view.last(Role.AUTHOR)
    said = f" The last one: {describe_end(last)}." if last else ""
    return Block("out_of_attempts", f"{used} attempts are used up.{said}")


def changed_nothing(run: Run) -> bool:
    """Whether an author said that it is done and left nothing that counts."""
    outcome = run.outcome
    if outcome is None:
        return False
    if outcome.failure is not None:
        return outcome.failure.kind is FailureKind.NO_CHANGES
    report = outcome.report
    return isinstance(report, AuthorReport) and report.outcome is ReportedOutcome.DONE and not outcome.has_commits


def nothing_twice(view: TaskView, run: Run, *, red: Sequence[str] = ()) -> Block | None:
    """The block of a task at which one agent has changed nothing twice: asking it again would end the same way. `red`:
    the checks that fail on what is there."""
    before = [one for one in view.counted(Role.AUTHOR) if one.agent == run.agent and changed_nothing(one)]
    before = [one for one in before if not one.hears]
    if run.hears or not changed_nothing(run) or len(before) < 2:
        return None
    report = run.outcome.report if run.outcome is not None else None
    said = f" It says: {report.summary}" if isinstance(report, AuthorReport) and report.summary else ""
    fails = f" These checks fail: {', '.join(red)}." if red else ""
    words = f"{run.agent} said twice that it is done, and changed nothing that counts.{fails}{said}"
    return Block("no_changes", f"{words} Say in a comment what is to be changed, or close the issue.", answerable=True)


def describe_end(run: Run) -> str:
    """How a run ended, in a few words."""
    outcome = run.outcome
    if outcome is None:
        return f"{run.agent} has not been collected"
    if outcome.interruption is not None:
        return f"{run.agent} was interrupted ({outcome.interruption.kind.value}): {outcome.interruption.why}"
    if outcome.failure is not None:
        return f"{run.agent} failed ({outcome.failure.kind.value}): {outcome.failure.detail}"
    if isinstance(outcome.report, ReviewReport):
        return f"{run.agent}: {outcome.report.decision.value}"
    if isinstance(outcome.report, RouterReport):
        return f"{run.agent}: {outcome.report.complexity.value}"
    return f"{run.agent} ended" + ("" if outcome.has_commits else " without any change")
