"""What a person did to the issue, or what was left undone about its labels. A person's hand always wins."""

from datetime import datetime

from nightcrew.core.actions import AcceptPerson, FinishTask, MoveStatus, SettleLabels
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status, parse_status_labels
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import TaskView
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Stage, act_on

_REOPENED = Wait(
    "reopened",
    "its issue was opened again, and not by anybody who is known to have write access",
    "Someone with write access sets status:new, or comments /retry, to have it done anew.",
)


LATE_LOOKS = 2
"""For how many looks (times the interval) a change of labels whose answer was lost may still land."""


def follow_hand(view: TaskView, issue: Issue | None) -> Stage | None:
    """The step that the issue itself asks for; None if it is open and its labels are as recorded."""
    task = view.task
    is_right = issue is not None and parse_status_labels(issue.labels) == (task.status,)
    waits = task.moving_to is not None and is_right and view.labels_may_change
    if issue is None:
        if task.status is Status.DONE and task.moving_to is None:
            return Stage()
        return act_on(FinishTask(task.key, task.status, merged=False, why="its issue was deleted or moved away"))
    if not issue.is_open:
        if task.status is Status.DONE and task.moving_to is None:
            return Stage()
        if task.status is Status.DONE and waits:
            return Stage()  # it stays a move, and is looked at, until nothing can land on it any more
        pull = view.pull.value.pull if isinstance(view.pull, Known) and view.pull.value is not None else None
        merged = pull is not None and pull.is_merged
        why = f"pull request #{task.pull} is merged" if merged else "its issue was closed"
        return act_on(FinishTask(task.key, task.status, merged=merged, why=why))
    if waits:
        return Stage() if task.status is Status.DONE else None
    if task.moving_to is not None and len(foreign_statuses(task, issue)) != 1:
        return act_on(SettleLabels(task.key, task.status, f"the move to {task.status.value} was cut short"))
    return _follow_label(view, issue)


def may_land_late(late_label_at: datetime | None, *, now: datetime, interval_s: float) -> bool:
    """Whether a change of labels that was given up then may still take effect. Until then a move is not over, however
    right the labels are: what lands is known for its own, and put right. A clock that was set may end it too soon, and
    never keeps it up."""
    late_s = LATE_LOOKS * interval_s
    return late_label_at is not None and abs((now - late_label_at).total_seconds()) < late_s


def foreign_statuses(task: Task, issue: Issue) -> tuple[Status, ...]:
    """The statuses on an issue that an unfinished move of Nightcrew's cannot have put or left there. None where it is
    not known which ones it went through."""
    if task.moving_to is None or not task.moving_over:
        return ()
    own = {task.status, task.moving_to, *task.moving_over}
    return tuple(status for status in parse_status_labels(issue.labels) if status not in own)


def _follow_label(view: TaskView, issue: Issue) -> Stage | None:
    task = view.task
    seen = parse_status_labels(issue.labels)
    if task.moving_to is not None:
        seen = foreign_statuses(task, issue)  # the others are what an unfinished move left, and go with it
    others = [status for status in seen if status is not task.status]
    if task.status is Status.DONE and not others:
        if view.reopened_by_writer != Known(True):
            return Stage(wait=_REOPENED)
        why = "its issue was opened again"
        return act_on(MoveStatus(task.key, task.status, Status.NEW, Evidence.PERSON, why, reset=True, vouch=True))
    if seen == (task.status,):
        return None
    if len(others) != 1:
        # None at all, or several: nobody can have meant that, so the recorded status is put back.
        words = "no status label" if not seen else f"{len(seen)} status labels"
        return act_on(SettleLabels(task.key, task.status, f"the issue had {words}"))
    target = others[0]
    if target is Status.DONE:
        return act_on(FinishTask(task.key, task.status, merged=False, why="a person set status:done"))
    return act_on(AcceptPerson(task.key, task.status, target, f"a person set {target.label}"))
