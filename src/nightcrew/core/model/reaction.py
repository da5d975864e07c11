"""What is done by itself about an event on a pull request: its kinds, the rule of each, and what is on record.

Only kinds that are built stand here. What a rule leads to is `policy/reacting`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha
from nightcrew.core.model.notice import Priority


class ReactionKind(Enum):
    """An event on a pull request."""

    CI_FAILED = "ci_failed"
    CHANGES_REQUESTED = "changes_requested"
    REVIEW_COMMENTS = "review_comments"
    APPROVED_AND_GREEN = "approved_and_green"


class ReactionAction(Enum):
    """`send`: to the author's agent; `notify`: a comment on the pull request, once; `merge`: through the gate;
    `nothing`: it only stands in the words of why the task waits."""

    SEND = "send"
    NOTIFY = "notify"
    MERGE = "merge"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ReactionRule:
    """What is done about one kind. `retries` is how often it is sent for one pull request before a person is asked;
    `escalate_after_s` how long it may stay unresolved at one head; `message` goes to the agent with it; `bots`:
    remarks of bots count as well; `priority` is that of what a person is told; `rerun`:
    failed checks run once more first."""

    action: ReactionAction = ReactionAction.SEND
    retries: int = 2
    escalate_after_s: float = 1800.0
    message: str = ""
    bots: bool = False
    priority: Priority = Priority.ACTION
    rerun: bool = True


@dataclass(frozen=True, slots=True)
class ReactionSettings:
    """The rules of a project. What people ask for is sent more often than what machines find: they ask anew."""

    ci_failed: ReactionRule = ReactionRule()
    changes_requested: ReactionRule = ReactionRule(retries=5)
    review_comments: ReactionRule = ReactionRule(retries=5)
    approved_and_green: ReactionRule = ReactionRule(ReactionAction.MERGE)

    def rule(self, kind: ReactionKind) -> ReactionRule:
        match kind:
            case ReactionKind.CI_FAILED:
                return self.ci_failed
            case ReactionKind.CHANGES_REQUESTED:
                return self.changes_requested
            case ReactionKind.REVIEW_COMMENTS:
                return self.review_comments
            case ReactionKind.APPROVED_AND_GREEN:
                return self.approved_and_green


@dataclass(frozen=True, slots=True)
class ReactionKey:
    """What counters and deadlines are kept for: one kind at one head of one pull request of a task."""

    pull: int
    head_sha: Sha
    kind: ReactionKind


@dataclass(frozen=True, slots=True)
class Reaction:
    """What is on record about a key. `seen_at` is when it was first seen, whatever flapped since; `sent` how often it
    went to the agent since a person last reset the task, the last time at `sent_at`; `told_at` when a person was told.
    """

    key: ReactionKey
    seen_at: datetime
    sent: int = 0
    sent_at: datetime | None = None
    told_at: datetime | None = None
