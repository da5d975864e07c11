"""What a task waits for: other issues, by a link on the forge, as its sub-issues, or by somebody's words."""

from dataclasses import dataclass
from enum import Enum

from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Observed
from nightcrew.core.model.issue import Standing


@dataclass(frozen=True, slots=True)
class LinkedIssue:
    """An issue (or pull request) that another one is linked to on the forge, as the link shows it."""

    key: TaskKey
    standing: Standing


class Bond(Enum):
    """How one hangs on another: the forge's own link, as its sub-issue, or words of people with write access; or it is
    to stand on the other's work, before that is merged."""

    LINK = "blocked_by"
    CHILD = "sub_issue"
    WORDS = "words"
    STACK = "stack"


@dataclass(frozen=True, slots=True)
class Dependency:
    """One issue that a task waits for until it is closed as completed."""

    on: TaskKey
    bond: Bond
    standing: Observed[Standing]
