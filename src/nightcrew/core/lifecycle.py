"""The one status machine: which statuses there are, which moves exist, and the evidence that each move needs.

A status is written on the forge as the label `status:<status>`. Every change of status that Nightcrew makes goes
through `transition`; a person may set any label, and then the person wins.
"""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from nightcrew.core.errors import Bug

LABEL_PREFIX = "status:"


class Status(Enum):
    """Where a task is."""

    NEW = "new"
    ROUTED = "routed"
    IN_PROGRESS = "in_progress"
    NEEDS_REVIEW = "needs_review"
    IN_REVIEW = "in_review"
    DONE = "done"
    BLOCKED = "blocked"

    @property
    def label(self) -> str:
        return LABEL_PREFIX + self.value


class Evidence(Enum):
    """What must have been seen before a move; each names a fact, not an intention."""

    INTAKE = "someone with write access asked for it"
    ROUTE = "a route is recorded"
    RUN_STARTED = "an author run is recorded"
    PULL_REQUEST = "the branch is pushed and its pull request is open"
    REVIEW_STARTED = "a reviewer run is recorded for the head"
    RUN_FAILED = "the run ended without usable work"
    CHANGES_REQUESTED = "a verdict or a person asks for changes, or the checks of the head failed"
    HEAD_MOVED = "the head or its base is no longer the one under review"
    MERGED = "the pull request is merged and the merge is on the base"
    FINISHED = "the issue was closed"
    NEEDS_PERSON = "a person has to decide; the reason is recorded"
    PERSON = "a person set the label or gave the command"
    REVIEW_FAILED = "the reviewer run ended without a verdict"
    CONFLICT = "the branch conflicts with its base"
    DELEGATED = "parts of it are handed to sub-tasks"


@dataclass(frozen=True, slots=True)
class Edge:
    """One move of the table."""

    source: Status
    target: Status
    evidence: Evidence


_S, _E = Status, Evidence

TABLE: tuple[Edge, ...] = (
    Edge(_S.NEW, _S.ROUTED, _E.ROUTE),
    Edge(_S.NEW, _S.BLOCKED, _E.NEEDS_PERSON),
    Edge(_S.ROUTED, _S.IN_PROGRESS, _E.RUN_STARTED),
    Edge(_S.ROUTED, _S.BLOCKED, _E.NEEDS_PERSON),
    Edge(_S.IN_PROGRESS, _S.NEEDS_REVIEW, _E.PULL_REQUEST),
    Edge(_S.IN_PROGRESS, _S.ROUTED, _E.RUN_FAILED),
    Edge(_S.IN_PROGRESS, _S.ROUTED, _E.DELEGATED),
    Edge(_S.IN_PROGRESS, _S.BLOCKED, _E.NEEDS_PERSON),
    Edge(_S.NEEDS_REVIEW, _S.IN_REVIEW, _E.REVIEW_STARTED),
    Edge(_S.NEEDS_REVIEW, _S.ROUTED, _E.CHANGES_REQUESTED),
    Edge(_S.NEEDS_REVIEW, _S.ROUTED, _E.CONFLICT),
    Edge(_S.NEEDS_REVIEW, _S.BLOCKED, _E.NEEDS_PERSON),
    Edge(_S.NEEDS_REVIEW, _S.DONE, _E.MERGED),
    Edge(_S.IN_REVIEW, _S.NEEDS_REVIEW, _E.HEAD_MOVED),
    Edge(_S.IN_REVIEW, _S.NEEDS_REVIEW, _E.REVIEW_FAILED),
    Edge(_S.IN_REVIEW, _S.ROUTED, _E.CHANGES_REQUESTED),
    Edge(_S.IN_REVIEW, _S.ROUTED, _E.CONFLICT),
    Edge(_S.IN_REVIEW, _S.DONE, _E.MERGED),
    Edge(_S.IN_REVIEW, _S.BLOCKED, _E.NEEDS_PERSON),
    Edge(_S.BLOCKED, _S.DONE, _E.MERGED),
    *(Edge(status, _S.DONE, _E.FINISHED) for status in Status if status is not _S.DONE),
    *(Edge(source, target, _E.PERSON) for source in Status for target in Status if source is not target),
)

_MOVES = frozenset((edge.source, edge.target, edge.evidence) for edge in TABLE)


def allows(source: Status, target: Status, evidence: Evidence) -> bool:
    """Whether the table has this move for this evidence."""
    return (source, target, evidence) in _MOVES


def transition(source: Status, target: Status, evidence: Evidence) -> Edge:
    """The edge of a move; raises Bug if the table has none, since our own code asked for it."""
    if not allows(source, target, evidence):
        raise Bug(f"no move {source.value} → {target.value} because {evidence.value}")
    return Edge(source, target, evidence)


_BY_LABEL = {status.label: status for status in Status}


@lru_cache(maxsize=4096)
def parse_status_labels(labels: tuple[str, ...]) -> tuple[Status, ...]:
    """The statuses that a set of labels names, in the order of the life of a task.

    Label names are compared without regard to case, as GitHub does (`STATUS:Blocked` is blocked); an unknown
    `status:` label names no status.
    """
    named = {label.strip().lower() for label in labels}
    return tuple([status for label, status in _BY_LABEL.items() if label in named])
