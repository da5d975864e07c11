"""What is true of sub-tasks in the simulated world, told without the policies of the core: which issues were made of
which proposals, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.model.delegation import Delegated, Delegation
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Issue, Standing

WORD = "hands over"
"""The end of an author run that proposes sub-tasks."""
PROPOSED = (Delegation("One part", "Do it."), Delegation("Another part", "Do it too.", needs=(0,)))


@dataclass(slots=True)
class SubTaskTruth:
    """`made` are the issues by their marks, `parts` those of each parent; `left` are parents that a person told not to
    wait; `proposals` counts the proposals of each that were weighed since its last reset."""

    made: dict[str, int] = field(default_factory=dict)
    parts: dict[int, list[int]] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)
    proposals: dict[int, int] = field(default_factory=dict)
    proposed_by: set[RunId] = field(default_factory=set)
    merged: set[int] = field(default_factory=set)
    """Sub-tasks that ended by a merge."""

    def is_waiting(self, number: int, issues: Mapping[int, Issue]) -> bool:
        """Whether a sub-task of it is open."""
        rest = [part for part in self.parts.get(number, ()) if part in issues and issues[part].is_open]
        return bool(rest) and number not in self.left


def standing_of(number: int, issues: Mapping[int, Issue]) -> Observed[Standing]:
    """What the forge says; one that was deleted stands as not planned, as the list of sub-issues no more shows it."""
    issue = issues.get(number)
    return Known(issue.standing if issue is not None else Standing.NOT_PLANNED)


def see_needs(key: TaskKey, handed: Delegated | None, issues: Mapping[int, Issue]) -> tuple[Dependency, ...]:
    """What a look shows of the sub-tasks that a task waits for."""
    numbers = [part.number for part in (handed.waited_for if handed is not None else ()) if part.number is not None]
    return tuple(
        Dependency(TaskKey(key.project, number), Bond.CHILD, standing_of(number, issues)) for number in numbers
    )
