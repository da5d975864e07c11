"""What a person did to the issue, or what was left undone about its labels. A person's hand always wins."""

from nightcrew.core.actions import AcceptPerson, FinishTask, MoveStatus, SettleLabels
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status, parse_status_labels
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.world import TaskView
from nightcrew.core.stage import Stage, act_on


def follow_hand(view: TaskView, issue: Issue | None) -> Stage | None:
    """The step that the issue itself asks for; None if it is open and its labels are as recorded."""
    task = view.task
    if issue is None:
        if task.status is Status.DONE and task.moving_to is None:
            return Stage()
        return act_on(FinishTask(task.key, task.status, merged=False, why="its issue was deleted or moved away"))
    if not issue.is_open:
        if task.status is Status.DONE and task.moving_to is None:
            return Stage()
        pull = view.pull.value.pull if isinstance(view.pull, Known) and view.pull.value is not None else None
        merged = pull is not None and pull.is_merged
        why = f"pull request #{task.pull} is merged" if merged else "its issue was closed"
        return act_on(FinishTask(task.key, task.status, merged=merged, why=why))
    if task.moving_to is not None:
        return act_on(SettleLabels(task.key, task.status, f"the move to {task.status.value} was cut short"))
    return _follow_label(view, issue)


def _follow_label(view: TaskView, issue: Issue) -> Stage | None:
    task = view.task
    seen = parse_status_labels(issue.labels)
    others = [status for status in seen if status is not task.status]
    if task.status is Status.DONE and not others:
        why = "its issue was opened again"
        return act_on(MoveStatus(task.key, task.status, Status.NEW, Evidence.PERSON, why, reset=True))
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
