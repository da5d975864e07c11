"""What the forge says of an issue and of the people around it."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from hashlib import sha256

from nightcrew.core.ids import INTERNAL_FROM, render_number

GHOST = "ghost"
"""The name shown for a deleted account. It never matches an allow list."""


class Permission(Enum):
    """What an account may do in a repository, weakest first."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    @property
    def can_write(self) -> bool:
        return self in (Permission.WRITE, Permission.MAINTAIN, Permission.ADMIN)


class Standing(Enum):
    """Whether an issue is open, or how it was closed. A merged pull request is completed, one closed without a merge
    is not planned."""

    OPEN = "open"
    COMPLETED = "completed"
    NOT_PLANNED = "not_planned"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or (`is_pull`, only where one is asked for by its number) a pull request seen as one. `body` is the raw
    Markdown, empty if none. Times are aware UTC. `closed_as` counts where it is closed. `blockers` and `children` are
    how many issues it is linked to as blocked by, and as sub-issues, open or not; None: the forge does not say."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    is_open: bool
    author: str
    created_at: datetime
    updated_at: datetime
    comment_count: int = 0
    url: str = ""
    closed_as: Standing = Standing.COMPLETED
    blockers: int | None = None
    children: int | None = None
    is_pull: bool = False

    @property
    def standing(self) -> Standing:
        return Standing.OPEN if self.is_open else self.closed_as

    def has_label(self, name: str) -> bool:
        return name.strip().lower() in {label.lower() for label in self.labels}

    @property
    def name(self) -> str:
        """As it is written: `#42`, or `i7` where it stands for an internal task, which no forge knows."""
        return render_number(self.number) if self.number > INTERNAL_FROM else f"#{self.number}"

    @property
    def text_mark(self) -> str:
        """A digest of title and text, to tell whether they are still what somebody read."""
        return sha256(f"{self.title}\0{self.body}".encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue or pull request. `id` is the forge's own number, `thread` the number of the issue or pull
    request that it stands on."""

    id: int
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    is_bot: bool = False
    thread: int = 0
