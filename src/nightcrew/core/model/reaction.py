"""What is done by itself about an event on a pull request or a run: its kinds, the rule of each, what is on record.

Only kinds that are built stand here. What a rule leads to is `policy/reacting`.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.notice import Priority

_DAY_S = 86_400.0


class ReactionKind(Enum):
    """An event: on a pull request, about the run of an agent, or (the last) about a whole project."""

    CI_FAILED = "ci_failed"
    CHANGES_REQUESTED = "changes_requested"
    REVIEW_COMMENTS = "review_comments"
    MERGE_CONFLICT = "merge_conflict"
    BEHIND_BASE = "behind_base"
    APPROVED_AND_GREEN = "approved_and_green"
    PR_CLOSED = "pr_closed"
    AGENT_STUCK = "agent_stuck"
    AGENT_NEEDS_INPUT = "agent_needs_input"
    AGENT_EXITED = "agent_exited"
    ALL_COMPLETE = "all_complete"


class ReactionAction(Enum):
    """`send`: to the author's agent (a base: into the branch); `notify`: a person is told, once; `merge`: through the
    gate; `nothing`: it only stands in the words of why the task waits."""

    SEND = "send"
    NOTIFY = "notify"
    MERGE = "merge"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ReactionRule:
    """What is done about one kind. `retries` is how often it is sent for one pull request before a person is asked;
    `escalate_after_s` how long it may stay unresolved at one head, or in one run, before they are told (0: never);
    `message` goes to the agent with it, or to the person in the place of the usual words; `bots`: what bots say counts
    as well; `priority` is that of what a person is told; `rerun`: failed checks run once more first; `log_hosts`: where
    else than on the forge the log of a commit status may be read."""

    action: ReactionAction = ReactionAction.SEND
    retries: int = 2
    escalate_after_s: float = 1800.0
    message: str = ""
    bots: bool = False
    priority: Priority = Priority.ACTION
    rerun: bool = True
    log_hosts: tuple[str, ...] = ()


def _told(priority: Priority, escalate_after_s: float = 0.0) -> ReactionRule:
    return ReactionRule(ReactionAction.NOTIFY, escalate_after_s=escalate_after_s, priority=priority)


@dataclass(frozen=True, slots=True)
class ReactionSettings:
    """The rules of a project. What people ask for is sent more often than what machines find: they ask anew."""

    ci_failed: ReactionRule = ReactionRule()
    changes_requested: ReactionRule = ReactionRule(retries=5)
    review_comments: ReactionRule = ReactionRule(retries=5)
    merge_conflict: ReactionRule = ReactionRule(retries=3, escalate_after_s=900.0)
    behind_base: ReactionRule = ReactionRule(retries=10)
    approved_and_green: ReactionRule = ReactionRule(ReactionAction.MERGE)
    pr_closed: ReactionRule = field(default_factory=lambda: _told(Priority.ACTION))
    agent_stuck: ReactionRule = field(default_factory=lambda: _told(Priority.URGENT, 600.0))
    agent_needs_input: ReactionRule = field(default_factory=lambda: _told(Priority.URGENT, _DAY_S))
    agent_exited: ReactionRule = field(default_factory=lambda: _told(Priority.WARNING))
    all_complete: ReactionRule = field(default_factory=lambda: _told(Priority.INFO))

    def rule(self, kind: ReactionKind) -> ReactionRule:
        """The rule of a kind, which is kept under its name."""
        rule: ReactionRule = getattr(self, kind.value)
        return rule


@dataclass(frozen=True, slots=True)
class ReactionKey:
    """What counters and deadlines are kept for: one kind at one head of one pull request of a task; or, with `run`, one
    kind about one run, with pull 0 and no head."""

    pull: int
    head_sha: Sha
    kind: ReactionKind
    run: RunId | None = None


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
