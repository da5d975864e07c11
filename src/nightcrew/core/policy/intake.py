"""Is an issue a task, and how urgent is it?"""

from nightcrew.core.actions import AdoptIssue
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.settings import Intake, ProjectSettings
from nightcrew.core.model.world import Candidate

DEFAULT_PRIORITY = 50
_WORDS = {"critical": 0, "urgent": 0, "high": 20, "medium": 50, "normal": 50, "low": 80}


def asks_in(project: ProjectSettings, issue: Issue, *, is_left: bool = False) -> str:
    """How an open issue asks to become a task: the label that does it, `*` for `intake: all`, empty for not at all.
    An issue that carries another status label without being known is left alone: somebody else may work on it; unless
    its claim says that it is ours, or that its machine is gone (`is_left`)."""
    statuses = parse_status_labels(issue.labels)
    if issue.is_open and is_left and len(statuses) == 1 and statuses[0] not in (Status.NEW, Status.DONE):
        return project.intake_label if issue.has_label(project.intake_label) else statuses[0].label
    if not issue.is_open or (statuses and statuses != (Status.NEW,)):
        return ""
    if statuses:
        return Status.NEW.label
    if issue.has_label(project.intake_label):
        return project.intake_label
    return "*" if project.intake is Intake.ALL else ""


def adopt(project: ProjectSettings, candidate: Candidate) -> AdoptIssue | None:
    """An issue becomes a task when someone with write access asked for it; what is not known is not taken for yes."""
    how = asks_in(project, candidate.issue, is_left=candidate.is_left)
    if not how or candidate.asked_by_writer != Known(True):
        return None
    issue = candidate.issue
    why = "its author has write access" if how == "*" else f"someone with write access put the label {how!r} on it"
    statuses = parse_status_labels(issue.labels)
    status = statuses[0] if statuses else Status.NEW
    return AdoptIssue(TaskKey(project.slug, issue.number), issue, priority_of(issue.labels), why, status)


def priority_of(labels: tuple[str, ...]) -> int:
    """`priority:` labels as a number, smaller is more urgent: a word (critical, high, medium, low), `p0`…`p4`, or a
    number from 0 to 99. The most urgent counts; 50 without one."""
    found = [
        value
        for label in labels
        if label.lower().startswith("priority:") and (value := _value(label.partition(":")[2])) is not None
    ]
    return min(found, default=DEFAULT_PRIORITY)


def _value(word: str) -> int | None:
    word = word.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    digits = word.removeprefix("p")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 2:
        return None
    return min(int(digits) * 20, 99) if word.startswith("p") else int(digits)
