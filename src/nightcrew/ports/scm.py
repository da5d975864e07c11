"""Where pull requests, checks and merges live."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, Comparison, ForgeEntry, MergeAnswer, Pull, Remark, Required, Review
from nightcrew.core.model.report import Finding
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.core.model.thread import Thread


@dataclass(frozen=True, slots=True)
class Repository:
    """What the forge says of a repository. `slug` is its present name (it may have been renamed)."""

    id: int
    slug: str
    default_branch: str
    is_private: bool
    can_push: bool
    merge_methods: frozenset[MergeMethod]
    web_url: str = ""


@dataclass(frozen=True, slots=True)
class Remote:
    """Where git fetches and pushes, and the variables (never arguments) that carry its credentials to git."""

    url: str
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewPull:
    """A pull request to open: branches of the same repository."""

    title: str
    body: str
    head_ref: str
    base_ref: str
    draft: bool = False


@dataclass(frozen=True, slots=True)
class NewStatus:
    """A commit status. `state` is error, failure, pending or success; `description` at most 140 characters."""

    context: str
    state: str
    description: str
    target_url: str = ""


class Scm(Protocol):
    """Pull requests and merging in a project (`owner/repo`). Same guarantees and errors as Tracker."""

    async def fetch_repository(self, project: str) -> Repository:
        """The repository. Missing if it is not there or not visible."""
        ...

    async def fetch_prints(self, bases: Mapping[str, str]) -> Mapping[str, str]:
        """For each of these projects (with its base branch) that can be seen, a text that changes when an issue, a
        comment, a pull request, its head or the base branch does; checks and statuses do not change it. Few requests
        however many projects. Denied where the forge cannot do it."""
        ...

    async def fetch_remote(self, project: str) -> Remote:
        """Where git talks to, with credentials that hold for the next operation."""
        ...

    async def fetch_pull(self, project: str, number: int) -> Pull:
        """One pull request, as now."""
        ...

    async def find_pull(self, project: str, *, head_ref: str, base_ref: str = "") -> Pull | None:
        """The newest pull request from this branch of this repository: an open one first, else the latest closed."""
        ...

    async def create_pull(self, project: str, new: NewPull) -> Pull:
        """Open a pull request. If one is already open for the same branches, that one is returned."""
        ...

    async def update_pull(
        self, project: str, number: int, *, title: str | None = None, body: str | None = None
    ) -> None:
        """Replace title or body. Idempotent."""
        ...

    async def set_pull_base(self, project: str, number: int, *, base_ref: str) -> None:
        """Send it to another branch. Idempotent. Invalid where there is no such branch, or it has all of the head."""
        ...

    async def mark_ready(self, project: str, number: int) -> None:
        """Take a draft out of draft. Idempotent. Denied where the forge cannot do it with these credentials."""
        ...

    async def list_pull_paths(self, project: str, number: int) -> tuple[str, ...]:
        """Every path the pull request touches, old names of renames included."""
        ...

    async def list_reviews(self, project: str, number: int) -> tuple[Review, ...]:
        """All submitted reviews, oldest first."""
        ...

    async def list_remarks(self, project: str, number: int) -> tuple[Remark, ...]:
        """Every review comment on a line, oldest first."""
        ...

    async def list_threads(self, project: str, number: int) -> tuple[Thread, ...]:
        """Every review thread of a pull request with all that was said in it, oldest first. It is asked for anew each
        time, at one point of GraphQL's own limit or more: ask when `list_remarks` or the pull request changed. Denied
        where the forge cannot tell threads."""
        ...

    async def reply_to_thread(self, project: str, number: int, thread: Thread, *, body: str) -> int:
        """Add a remark to a thread; its id, as `list_remarks` has it. Not idempotent: after OutcomeUnknown look at
        list_threads. Missing if the thread is gone."""
        ...

    async def resolve_thread(self, project: str, thread: Thread) -> None:
        """Mark a thread as resolved. Idempotent. Missing if it is gone, Denied without write access."""
        ...

    async def request_reviews(self, project: str, number: int, logins: tuple[str, ...]) -> None:
        """Ask these people for a review, again where they gave one. Idempotent. Invalid where one of them cannot be
        asked."""
        ...

    async def compare(self, project: str, *, base: str, head: str) -> Comparison:
        """How two commits (or branches) stand to each other. Missing if either is not there."""
        ...

    async def post_review(
        self, project: str, number: int, *, sha: Sha, body: str, findings: tuple[Finding, ...] = ()
    ) -> int:
        """A review of state COMMENT on exactly `sha`, with its findings as line comments where the diff has the line
        and in the body where not. Returns its id. Not idempotent: after OutcomeUnknown look at list_reviews."""
        ...

    async def list_checks(self, project: str, sha: Sha) -> tuple[Check, ...]:
        """Check runs and commit statuses of a SHA joined: the newest of each name and source, all pages.
        Denied if the credentials cannot read check runs."""
        ...

    async def rerun_check(self, project: str, check: Check) -> RerunAnswer:
        """Have a failed check run run again, with the other failed jobs of its workflow run. After OutcomeUnknown it
        may be asked again, and answers `running` or `spent` then, where the forge counts attempts. Conflict while its
        workflow run is not finished, Denied without the permission, Invalid where nobody can (a commit status)."""
        ...

    async def post_status(self, project: str, sha: Sha, status: NewStatus) -> None:
        """Set a commit status. Repeating it is harmless."""
        ...

    async def fetch_required(self, project: str, branch: str) -> Required:
        """What rulesets and classic protection demand of a branch, joined. Raises where either cannot be read and
        that could hide a demand."""
        ...

    async def merge_pull(
        self, project: str, number: int, *, sha: Sha, method: MergeMethod, title: str, message: str
    ) -> MergeAnswer:
        """Merge, pinned to `sha`. Every refusal but for want of rights (Denied) is an answer, its kind told.
        OutcomeUnknown after a lost answer: read the pull request back."""
        ...

    async def find_queue_entry(self, project: str, number: int) -> ForgeEntry | None:
        """The place of a pull request in the forge's own merge queue; None if it is not in it. Asked for anew each
        time, at one point of GraphQL's own limit. Denied where the forge has no such queue."""
        ...

    async def enqueue_pull(self, project: str, number: int, *, sha: Sha) -> None:
        """Put it into the forge's merge queue, pinned to `sha`; a push takes it out. Invalid where the forge refuses.
        After OutcomeUnknown look at find_queue_entry."""
        ...

    async def dequeue_pull(self, project: str, number: int) -> None:
        """Take it out of the forge's merge queue. Idempotent: fine if it is not in it."""
        ...

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        """The SHA of a branch, None if there is no such branch."""
        ...

    async def list_branches(self, project: str, *, prefix: str) -> Mapping[str, Sha]:
        """The branches whose names begin with this, and where they are."""
        ...

    async def delete_branch(self, project: str, branch: str) -> None:
        """Delete a branch. Idempotent: absent is fine."""
        ...

    async def set_pull_open(self, project: str, number: int, *, is_open: bool) -> None:
        """Close (unmerged) or reopen. Idempotent."""
        ...

    async def fetch_check_log(self, project: str, check: Check, *, hosts: tuple[str, ...] = ()) -> str:
        """The log or output of a check, as text, cut at its end to 200,000 characters; empty if there is none. The
        address of a commit status is only asked where it is on the forge itself or on one of `hosts`, and without
        credentials."""
        ...
