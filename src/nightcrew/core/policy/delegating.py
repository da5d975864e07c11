"""May an author hand parts of its task to sub-tasks, and does the task still wait for them?

Only what a person vouched for may be divided, so deep, so often and so wide as its project's owner allows; what is over
a limit is left out, and that is said.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from nightcrew.core.ids import INTERNAL_FROM, RunId, render_number
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import (
    Delegated,
    Delegation,
    DelegationMode,
    DelegationSettings,
    DelegationState,
    SubTask,
)
from nightcrew.core.model.issue import Issue, Standing
from nightcrew.core.model.report import AuthorReport, ReportedOutcome
from nightcrew.core.model.run import Role, Run, RunOutcome
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import ProjectWorld, TaskView
from nightcrew.core.neutral import one_line
from nightcrew.core.reason import Wait
from nightcrew.core.sub_task import parse_depth

BLOCK = "sub_tasks"
"""The code of the block of a task whose author proposes some, and of the wait for them."""
_MOST_NAMED = 5
_S = DelegationState


@dataclass(frozen=True, slots=True)
class Weighed:
    """What of a proposal is taken, and why the rest is not."""

    kept: tuple[Delegation, ...] = ()
    cut: tuple[str, ...] = ()


def room_for(rules: DelegationSettings, task: Task, issue: Issue) -> int:
    """How many sub-tasks its author may propose; 0 where none are taken."""
    handed = task.delegated
    if rules.allow is DelegationMode.NEVER or task.is_claimed or (handed is not None and handed.state is _S.REFUSED):
        return 0
    if parse_depth(issue.body) >= rules.max_depth:
        return 0
    return max(0, rules.max_children - len(_made(handed)))


def proposal_of(run: Run) -> tuple[Delegation, ...]:
    """What an author proposes that has done its own part, or says that it waits for the others."""
    outcome = run.outcome
    if outcome is None or outcome.failure is not None or outcome.interruption is not None:
        return ()
    report = outcome.report
    if not isinstance(report, AuthorReport) or report.outcome not in (ReportedOutcome.DONE, ReportedOutcome.BLOCKED):
        return ()
    return report.delegations


def has_proposed(outcome: RunOutcome) -> bool:
    """Whether an author that ended so proposed sub-tasks."""
    return isinstance(outcome.report, AuthorReport) and bool(outcome.report.delegations)


def weigh(project: ProjectWorld, view: TaskView, run: Run, *, agents: Iterable[str]) -> Weighed:
    """What of a run's proposal is taken. Each run is weighed once."""
    proposed, handed = proposal_of(run), view.task.delegated
    issue = view.issue.value if isinstance(view.issue, Known) else None
    if not proposed or issue is None or (handed is not None and handed.run == run.id):
        return Weighed()
    rules = project.settings.delegation
    room = room_for(rules, view.task, issue)
    if room == 0:
        return Weighed((), (_why_none(rules, view.task, issue),))
    free = max(0, rules.max_open - open_in(project))
    old = {part.what.title.casefold() for part in _made(handed)}
    names = {name.casefold(): name for name in agents}
    labels = {label.casefold(): label for label in rules.labels}
    kept: list[Delegation] = []
    cut: list[str] = []
    moved: dict[int, int] = {}
    for place, what in enumerate(proposed):
        name, title = one_line(what.title, 80), what.title.casefold()
        if title in old:
            cut.append(f"“{name}” is proposed twice")
        elif len(kept) >= room:
            cut.append(f"“{name}” is over the limit of {rules.max_children} for one task (delegation.max_children)")
        elif len(kept) >= free:
            cut.append(f"“{name}” is over the limit of {rules.max_open} at once (delegation.max_open)")
        else:
            old.add(title)
            moved[place] = len(kept)
            kept.append(_checked(what, names=names, labels=labels, moved=moved, cut=cut))
    return Weighed(tuple(kept), tuple(cut))


def _why_none(rules: DelegationSettings, task: Task, issue: Issue) -> str:
    if rules.allow is DelegationMode.NEVER:
        return "sub-tasks are not allowed here (delegation.allow)"
    if task.delegated is not None and task.delegated.state is _S.REFUSED:
        return "its sub-tasks were refused"
    if task.is_claimed:
        return "a pull request that is looked after has no sub-tasks"
    if parse_depth(issue.body) >= rules.max_depth:
        return f"it is a sub-task itself, and may not have any (delegation.max_depth is {rules.max_depth})"
    return f"it has as many sub-tasks as are allowed, {rules.max_children} (delegation.max_children)"


def _checked(
    what: Delegation, *, names: dict[str, str], labels: dict[str, str], moved: dict[int, int], cut: list[str]
) -> Delegation:
    """One with names that are known, and places among those that are taken."""
    name = one_line(what.title, 80)
    agent = names.get(what.agent.casefold(), "")
    if what.agent and not agent:
        cut.append(f"there is no agent {one_line(what.agent, 40)} for “{name}”")
    good = tuple(dict.fromkeys(labels[label.casefold()] for label in what.labels if label.casefold() in labels))
    bad = [one_line(label, 40) for label in what.labels if label.casefold() not in labels]
    if bad:
        cut.append(f"“{name}” goes without the labels {', '.join(bad[:5])} (delegation.labels)")
    lost = [place for place in what.needs if place not in moved]
    if lost:
        cut.append(f"“{name}” depends on what was left out")
    needs = tuple(dict.fromkeys(moved[place] for place in what.needs if place in moved))
    return replace(what, agent=agent, labels=good, needs=needs)


def open_in(project: ProjectWorld) -> int:
    """How many sub-tasks of a project are not known to have ended, made or still to be made."""
    return sum(len(_unended(view)) for view in project.tasks)


def _unended(view: TaskView) -> tuple[SubTask, ...]:
    handed = view.task.delegated
    ended = _ended(view)
    return tuple(part for part in handed.waited_for if part.number not in ended) if handed is not None else ()


def _ended(view: TaskView) -> frozenset[int]:
    """The numbers of what is known to be closed, of what the task waits for."""
    if not isinstance(view.needs, Known):
        return frozenset()
    closed = (need for need in view.needs.value if isinstance(need.standing, Known))
    return frozenset(
        need.on.number
        for need in closed
        if need.on.project == view.task.key.project and need.standing != Known(Standing.OPEN)
    )


def hand_over(task: Task, run: RunId, weighed: Weighed, *, is_allowed: bool) -> Delegated:
    """The task's own record of what was taken of a proposal, behind what was made of those before. One that is still
    open is forgotten for the new one."""
    before = _made(task.delegated)
    first = len(before)
    parts = tuple(
        SubTask(first + place, run, replace(what, needs=tuple(first + need for need in what.needs)))
        for place, what in enumerate(weighed.kept)
    )
    return Delegated(_S.ACCEPTED if is_allowed else _S.PROPOSED, run, (*before, *parts), weighed.cut)


def accept(handed: Delegated) -> Delegated:
    """As a person accepted it."""
    return replace(handed, state=_S.ACCEPTED)


def refuse(handed: Delegated) -> Delegated:
    """As a person refused it: what was not made is dropped."""
    return replace(handed, state=_S.REFUSED, parts=_made(handed))


def leave(handed: Delegated | None) -> Delegated | None:
    """As a person said not to wait for it."""
    if handed is None or handed.state is not _S.FILED:
        return handed
    return end_parts(replace(handed, state=_S.LEFT), lambda _number: Standing.OPEN)


def end_parts(handed: Delegated, standing: Callable[[int], Standing]) -> Delegated:
    """With how each stood when its parent went on."""
    state = _S.ENDED if handed.state is _S.FILED else handed.state
    parts = tuple(
        replace(part, standing=standing(part.number)) if part.standing is None and part.number is not None else part
        for part in handed.parts
    )
    return replace(handed, state=state, parts=parts)


def after_reset(handed: Delegated | None, *, is_anew: bool) -> Delegated | None:
    """What is left after a person set the task going again. What is being made, or there, goes on; a proposal that
    they passed over is refused, unless all begins `is_anew`."""
    if handed is None or handed.state in (_S.ACCEPTED, _S.FILED):
        return handed
    if handed.state in (_S.PROPOSED, _S.REFUSED) and not is_anew:
        return refuse(handed)
    made = _made(handed)
    return replace(handed, state=_S.ENDED, parts=made, cut=()) if made else None


def _made(handed: Delegated | None) -> tuple[SubTask, ...]:
    return tuple(part for part in handed.parts if part.number is not None) if handed is not None else ()


def is_parent(task: Task) -> bool:
    """Whether it waits for sub-tasks that were made."""
    handed = task.delegated
    return handed is not None and handed.state is _S.FILED and task.status in (Status.NEW, Status.ROUTED)


def why_waits(view: TaskView, others: Iterable[TaskView] = ()) -> Wait | None:
    """Why a parent does not go on, by what is seen of its sub-tasks; None once all have ended, whichever way. `others`
    are the tasks of its project: one that a person is asked about is named as such."""
    handed = view.task.delegated
    if handed is None or not handed.waited_for:
        return None
    if not isinstance(view.needs, Known):
        words = f"what became of its sub-tasks could not be read ({view.needs.why})"
        return Wait("dependencies_unknown", words, "It is read again.")
    rest = _unended(view)
    if not rest:
        return None
    known = {need.on.number: need.standing for need in view.needs.value if need.on.project == view.task.key.project}
    blocked = {other.task.key.number for other in others if other.task.status is Status.BLOCKED}
    names = []
    for part in rest[:_MOST_NAMED]:
        unread = part.number is None or not isinstance(known.get(part.number), Known)
        aside = " (blocked)" if part.number in blocked else " (not read yet)" if unread else ""
        names.append(_name(part.number) + aside)
    more = f" and {len(rest) - _MOST_NAMED} more" if len(rest) > _MOST_NAMED else ""
    words = f"it waits for its sub-tasks {', '.join(names)}{more}"
    next_step = "It goes on by itself once they are closed. Comment /start, or use `nightcrew task start`, not to wait."
    return Wait(BLOCK, words, next_step)


def _name(number: int | None) -> str:
    if number is None:
        return "(not made yet)"
    return render_number(number) if number > INTERNAL_FROM else f"#{number}"


def rounds_of(view: TaskView) -> int:
    """How many of its author runs since a person's reset proposed sub-tasks that were taken, or refused."""
    handed = view.task.delegated
    if handed is None:
        return 0
    runs = {part.run for part in handed.parts} | {handed.run}
    return sum(run.id in runs for run in view.counted(Role.AUTHOR))


def is_made_of_parts(view: TaskView, run: Run) -> bool:
    """Whether its author finds nothing left to do, its sub-tasks having done it: one at least was completed, and the
    branch holds nothing of its own."""
    handed, outcome = view.task.delegated, run.outcome
    if handed is None or handed.state is not _S.ENDED or handed.run == run.id or outcome is None:
        return False
    is_done = any(part.standing is Standing.COMPLETED for part in handed.parts)
    is_bare = view.pull == Known(None) and outcome.head_sha == view.task.started_from
    return is_done and is_bare


def describe_cut(cut: Sequence[str]) -> str:
    """Why what was left out was, for the first few: how to answer has to stand behind it, wherever it is shown."""
    more = f"; and {len(cut) - _MOST_NAMED} more" if len(cut) > _MOST_NAMED else ""
    return "; ".join(cut[:_MOST_NAMED]) + more


def describe_proposal(run: Run, weighed: Weighed) -> str:
    """The words by which a person is asked."""
    titles = ", ".join(f"“{one_line(what.title, 80)}”" for what in weighed.kept)
    many = f"{len(weighed.kept)} sub-tasks" if len(weighed.kept) > 1 else "a sub-task"
    left = f" Left out: {describe_cut(weighed.cut)}." if weighed.cut else ""
    how = "Comment /delegate accept or /delegate refuse, or use `nightcrew task delegate`."
    return f"{run.agent} proposes {many}: {titles}.{left} {how}"
