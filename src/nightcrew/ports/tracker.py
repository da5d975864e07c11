"""Where issues live."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.core.model.issue import Comment, Issue, Permission


@dataclass(frozen=True, slots=True)
class LabelSpec:
    """How a label looks when it has to be created: six hex digits, and at most 100 characters."""

    color: str
    description: str


class Tracker(Protocol):
    """Issues, labels and comments of a project (`owner/repo`).

    Lists never have pull requests among issues. Reads follow all pages, and are whole or raise: a failed or cut list is
    never a shorter list. Reads whose answer has not changed cost no counted request and return the very same object
    again. Errors: Unavailable (with retry_at where told), Denied, Missing, Invalid, Conflict, OutcomeUnknown (writes
    only: sent, and no answer).
    """

    async def fetch_login(self, project: str = "") -> str:
        """The account that the credentials belong to, with which this project is served."""
        ...

    async def list_open_issues(self, project: str) -> tuple[Issue, ...]:
        """All open issues, whatever their age."""
        ...

    async def list_updated_issues(self, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
        """Issues in any state updated at or after `known_at`, newest change first. Overlap is the caller's affair."""
        ...

    async def fetch_issue(self, project: str, number: int) -> Issue:
        """One issue, or a pull request seen as one (`is_pull`). Missing if it is deleted, transferred away, or not
        visible."""
        ...

    async def list_blockers(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        """The issues that this one is linked to as blocked by, of other repositories too, open or not. Missing where
        the forge has no such links (or there is no such issue)."""
        ...

    async def list_children(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        """Its sub-issues, open or not. Missing as with `list_blockers`."""
        ...

    async def add_child(self, project: str, number: int, child: int) -> None:
        """Make an issue of the same repository a sub-issue of this one. Invalid if it is one already, of any issue;
        after OutcomeUnknown look at list_children. Missing as with `list_blockers`."""
        ...

    async def list_comments(self, project: str, number: int) -> tuple[Comment, ...]:
        """All comments, oldest first."""
        ...

    async def list_updated_comments(self, project: str, *, known_at: datetime) -> tuple[Comment, ...]:
        """Comments on any issue or pull request of the project (the conversation, not remarks on lines) that were
        written or edited at or after `known_at`, newest change first. Overlap is the caller's affair."""
        ...

    async def create_issue(self, project: str, *, title: str, body: str, labels: tuple[str, ...] = ()) -> Issue:
        """Open an issue. Not idempotent."""
        ...

    async def create_comment(self, project: str, number: int, *, body: str) -> Comment:
        """Add a comment. Not idempotent: after OutcomeUnknown look at list_comments."""
        ...

    async def update_comment(self, project: str, comment_id: int, *, body: str) -> None:
        """Replace a comment's text. Idempotent. Missing if someone deleted it."""
        ...

    async def list_labels(self, project: str) -> tuple[str, ...]:
        """The names of all labels that the project has."""
        ...

    async def ensure_labels(self, project: str, labels: Mapping[str, LabelSpec]) -> None:
        """Create those that do not exist (names compare without case); leave the others as they are. Idempotent."""
        ...

    async def add_label(self, project: str, number: int, name: str) -> None:
        """Put one label on an issue and leave the others alone. Idempotent."""
        ...

    async def remove_label(self, project: str, number: int, name: str) -> None:
        """Take one label off an issue and leave the others alone. Idempotent: absent is fine."""
        ...

    async def set_issue_open(self, project: str, number: int, *, is_open: bool) -> None:
        """Close (as completed) or reopen. Idempotent."""
        ...

    async def find_label_actor(self, project: str, number: int, name: str) -> str | None:
        """Who last put this label on the issue, from its timeline; None if the timeline does not tell."""
        ...

    async def find_reopener(self, project: str, number: int) -> str | None:
        """Who last opened this issue again, from its timeline; None if the timeline does not tell."""
        ...

    async def fetch_permission(self, project: str, login: str) -> Permission:
        """What an account may do. Unknown accounts and strangers have NONE or READ; bots are told as they are."""
        ...
