"""What the forge says of a pull request, its checks and its reviews."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Observed
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.refusal import RefusalKind


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. `mergeable` is None while the forge does not know; `is_fork`: its head is in another
    repository."""

    number: int
    title: str
    body: str
    head_ref: str
    head_sha: Sha
    base_ref: str
    base_sha: Sha
    is_open: bool
    is_merged: bool
    is_draft: bool
    mergeable: bool | None
    mergeable_state: str
    merge_commit_sha: Sha | None
    labels: tuple[str, ...]
    author: str
    is_fork: bool = False
    url: str = ""


class CheckState(Enum):
    """What a check says; only the newest answer of a name counts."""

    SUCCESS = "success"
    NEUTRAL = "neutral"
    SKIPPED = "skipped"
    PENDING = "pending"
    FAILURE = "failure"

    @property
    def satisfies(self) -> bool:
        """Whether it satisfies a required check, by GitHub's rule."""
        return self in (CheckState.SUCCESS, CheckState.NEUTRAL, CheckState.SKIPPED)


HIDDEN = "hidden"
"""The source of an entry that stands for checks which cannot be read; its summary says why. It is no check itself, and
always pending."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one SHA, newest answer of its name and source. `source` is `check_run` or `status`; `app` is the
    slug of the GitHub App that made a check run. `job_id` is set when a job log can be fetched; `annotations` are what
    a failed check run says about places (`path:line: text`), the first of them; `run_id` is its number. `mark`
    differs between two answers of one check."""

    name: str
    state: CheckState
    source: str
    summary: str = ""
    url: str = ""
    app: str = ""
    job_id: int | None = None
    annotations: tuple[str, ...] = ()
    run_id: int | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Required:
    """What the branch's rules demand: contexts (empty: none), approving reviews, whether a merge queue is used, and
    whether every commit has to be signed. `methods` are the ways of merging that they leave, by the repository's
    settings as well where those are known."""

    contexts: tuple[str, ...] = ()
    approvals: int = 0
    merge_queue: bool = False
    signatures: bool = False
    methods: frozenset[MergeMethod] = frozenset(MergeMethod)


class ReviewState(Enum):
    """GitHub's states of a review."""

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


@dataclass(frozen=True, slots=True)
class Review:
    """A review on the forge by a person or bot; Nightcrew's own are known by `id`, never by `author`."""

    id: int
    author: str
    state: ReviewState
    body: str
    commit_sha: str
    submitted_at: datetime | None
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A review comment on a line of a pull request. `line` is None where the diff does not show it any more; `review`
    is the id of the review that it belongs to; `reply_to` the remark that began its thread, None if it is that itself;
    `hunk` the part of the diff above it."""

    id: int
    review: int | None
    author: str
    path: str
    line: int | None
    body: str
    created_at: datetime
    is_bot: bool = False
    reply_to: int | None = None
    hunk: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a head stands to a base: commits that only the head has, commits that only the base has, and where they
    part."""

    ahead: int
    behind: int
    merge_base: Sha


@dataclass(frozen=True, slots=True)
class ForgeEntry:
    """The place of a pull request in the forge's own merge queue, from 1, and its state in the forge's words."""

    position: int
    state: str


@dataclass(frozen=True, slots=True)
class PullView:
    """One pull request as observed in one pass, every part for the head SHA of `pull`. `paths`: files it changes
    (old and new names of renames). `author_agents`: agents that wrote what is
    in base..head, or what was rewritten there."""

    pull: Pull
    checks: Observed[tuple[Check, ...]]
    required: Observed[Required]
    reviews: Observed[tuple[Review, ...]]
    """By people with write access."""
    paths: Observed[tuple[str, ...]]
    author_agents: Observed[frozenset[str]]
    base_sha: Observed[Sha]
    """The base branch as it is now on the forge."""
    remarks: Observed[tuple[Remark, ...]] = Known(())
    """On lines, by people with write access and by bots, oldest first; never Nightcrew's own."""
    has_base: Observed[bool] = Known(True)
    """Whether the head contains that; only looked for where `merge.strategy` asks for it."""
    unsigned: Observed[int] = Known(0)
    """How many commits of base..head bear no signature; only looked for where the branch's rules demand one."""
    gone: Observed[tuple[str, ...]] = Known(())
    """Which of its branches (head, base, and the base that the task began at) are not on the forge any more; only
    looked for where it was closed, or goes to another base."""
    base_checks: Observed[tuple[Check, ...]] = Known(())
    """Those of `base_sha`; only looked for where a check of the head failed."""
    forge_entry: Observed[ForgeEntry | None] = Known(None)
    """Only looked for where the branch's rules demand the forge's own merge queue."""
    bot_reviews: tuple[Review, ...] = ()
    """Those by bots, which never count for the merge; none while `reviews` are not known."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The merge call succeeded; `sha` is the merge commit as the forge names it."""

    sha: Sha


@dataclass(frozen=True, slots=True)
class MergeRefused:
    """The forge refused the merge. `why` in its own words, `kind` what they mean."""

    why: str
    kind: RefusalKind = RefusalKind.OTHER


MergeAnswer = Merged | MergeRefused
