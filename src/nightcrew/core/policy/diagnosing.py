"""What does not fit between a task's row, its issue and its pull request; and what the engine would do about it."""

from dataclasses import dataclass

from nightcrew.core.actions import Action, FinishTask
from nightcrew.core.known import Observed, Unknown
from nightcrew.core.lifecycle import LABEL_PREFIX, Status
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import TaskView
from nightcrew.core.step.hand import follow_hand

UNDER_REVIEW = (Status.NEEDS_REVIEW, Status.IN_REVIEW)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Words for a person. `action` is what the engine itself does about it; None: a person has to, by `hint`."""

    words: str
    action: Action | None = None
    hint: str = ""


def find_misfits(task: Task, *, issue: Observed[Issue | None], pull: Observed[Pull | None]) -> tuple[Misfit, ...]:
    """Everything that does not fit. What is not known fits. `pull` is that of the task, Known(None) if it is not
    there."""
    hand = _misfit_of_issue(task, issue) if task.has_issue or task.is_claimed else None
    finishes = hand is not None and isinstance(hand.action, FinishTask)
    about_pull = None if finishes else _misfit_of_pull(task, pull)
    return tuple(misfit for misfit in (hand, about_pull) if misfit is not None)


def _misfit_of_issue(task: Task, issue: Observed[Issue | None]) -> Misfit | None:
    """By the very rule that the loop follows: the label is the truth, and a person who sets one wins."""
    if isinstance(issue, Unknown):
        return None
    # A move that is kept open although its labels are right by now is none of a person's business.
    view = TaskView(task, issue, reopened_by_writer=Unknown("it was not looked for"), labels_may_change=True)
    stage = follow_hand(view, issue.value)
    if stage is None:
        return None
    said = describe_labels(issue.value)
    if stage.actions:
        return Misfit(f"is {task.status.value} in the store; {said}: {stage.actions[0].why}", stage.actions[0])
    if stage.wait is not None:
        return Misfit(f"is {task.status.value} in the store; {said}: {stage.wait.words}", None, stage.wait.next)
    return None


def describe_labels(issue: Issue | None) -> str:
    """What the issue itself says of its status."""
    if issue is None:
        return "its issue is gone"
    labels = [label for label in issue.labels if label.lower().startswith(LABEL_PREFIX)]
    standing = "its issue" if issue.is_open else "its closed issue"
    return f"{standing} has {' and '.join(labels) or 'no status label'}"


def _misfit_of_pull(task: Task, pull: Observed[Pull | None]) -> Misfit | None:
    if task.pull is None:
        if task.status in UNDER_REVIEW:
            retry = f"nightcrew task retry {task.key}"
            return Misfit(f"is {task.status.value} in the store, without a pull request", None, retry)
        return None
    if isinstance(pull, Unknown) or task.status is Status.DONE:
        return None
    found, name = pull.value, f"pull request #{task.pull}"
    if found is None:
        return Misfit(f"is {task.status.value} in the store, and {name} is not there", None,
                      f"nightcrew task retry {task.key}")  # fmt: skip
    if found.is_merged:
        return Misfit(f"is {task.status.value} in the store, and {name} is merged")
    if not found.is_open and task.status in UNDER_REVIEW:
        return Misfit(f"is {task.status.value} in the store, and {name} is closed")
    return None
