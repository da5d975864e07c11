"""Where authors work: git worktrees, and everything the engine does with git."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.merge import MergeMethod, UpdateMethod
from nightcrew.core.model.settings import CommitSettings, ProjectSettings
from nightcrew.ports.scm import Remote


@dataclass(frozen=True, slots=True)
class WorkspaceSpec:
    """The workspace of a task. `branch` is its branch; `base_ref` the branch it starts from; `start` the SHA to start
    at when the branch already has work (the pull request's head), else None for the fetched base; `lease` the run
    that writes to it."""

    project: str
    number: int
    branch: str
    base_ref: str
    lease: RunId
    start: Sha | None = None


@dataclass(frozen=True, slots=True)
class Checkout:
    """A ready workspace: its folder, the base SHA its branch started from, HEAD now, and warnings for the task."""

    path: Path
    base_sha: Sha
    head_sha: Sha
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Left:
    """What a run left: HEAD now, and whether uncommitted work had to be committed for it. `problems` are words for
    the task (a hook's output, files left out)."""

    head_sha: Sha
    committed_for_it: bool
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of base..head. `agents` are those named by Nightcrew's trailer or author on it; `is_signed`: it bears
    a signature, of which nobody has asked whether it is good."""

    sha: Sha
    subject: str
    author: str
    agents: frozenset[str]
    is_signed: bool = False


@dataclass(frozen=True, slots=True)
class GitFolders:
    """Where the git of a task's workspace keeps things: the repository that carries the worktrees, the worktree's own
    part of it, and the objects that it borrows (those of a throw-away checkout as well)."""

    common: Path
    own: Path
    borrowed: Path


def _as_they_are(argv: Sequence[str]) -> Sequence[str]:
    return argv


@dataclass(frozen=True, slots=True)
class Confinement:
    """What surrounds a command of the project: `wrap` puts a sandbox around its words, `env` is its environment there.
    Without a sandbox there is nothing to do."""

    wrap: Callable[[Sequence[str]], Sequence[str]] = _as_they_are
    env: Mapping[str, str] | None = None


UNCONFINED = Confinement()


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """A folder that lies where the workspaces or throw-away checkouts of a project do. `number` is the task whose
    workspace this installation made there (None: it did not, or it is a checkout), `holder` the run that may write to
    it; `checkout` the key of a throw-away checkout."""

    path: Path
    number: int | None = None
    holder: RunId | None = None
    checkout: str = ""


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two commits do not merge; the paths in conflict."""

    paths: tuple[str, ...]


class Workspace(Protocol):
    """A bare repository a project that is the engine's own, one a task for its agents, and the worktrees of tasks.

    The engine never runs git under hooks, filters, fsmonitor or configuration that an agent could write. Nothing is
    removed that holds work not saved elsewhere. Errors: Unavailable (network, time limit), Conflict (another run
    holds the lease; remote moved), Missing, Invalid, Denied.
    """

    async def fetch(self, project: str, remote: Remote, *, pulls: tuple[int, ...] = ()) -> None:
        """Bring all branches of the remote into the engine's repository, which is made at first. With `pulls`, the
        heads of these pull requests too, which may be in forks: with object checks on."""
        ...

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        """The SHA of a branch as last fetched."""
        ...

    async def ensure_workspace(self, spec: WorkspaceSpec) -> Checkout:
        """Have the worktree whole, on its branch, leased to `spec.lease`. Adopts or repairs what a crash left; asking
        twice is asking once. Conflict names the holder if another run has the lease."""
        ...

    async def prepare(
        self, spec: WorkspaceSpec, settings: ProjectSettings, *, log: Path, confinement: Confinement = UNCONFINED
    ) -> tuple[str, ...]:
        """Make a fresh workspace usable: the setup commands (in their confinement) and named files, once a workspace,
        each with its limit; output is appended to `log`. Returns warnings; Invalid if a setup command fails."""
        ...

    async def collect(self, project: str, number: int, *, agent: str, commit: CommitSettings, message: str) -> Left:
        """Commit what a run left uncommitted (as the agent), and bring the branch's commits into the engine's
        repository with object checks on. A rebase or merge left in progress is ended first, its work kept."""
        ...

    async def release(self, project: str, number: int, *, lease: RunId | None) -> None:
        """Give up the lease. Idempotent; a lease of another run is left alone. None gives up whoever's it is: for a
        task of whose runs nothing is known any more, once their sessions were ended."""
        ...

    async def push(
        self, project: str, remote: Remote, *, branch: str, sha: Sha, expected: Sha | None, replace: bool = False
    ) -> None:
        """Have `branch` on the remote at `sha`: fast-forward from `expected` (None: it does not exist). Verified by
        reading the remote. Conflict if it is elsewhere. With `replace`, `sha` need not contain `expected`: the remote
        compares it (a lease). Otherwise never forces. Idempotent."""
        ...

    async def bring_in(
        self,
        project: str,
        *,
        head: Sha,
        base: Sha,
        method: UpdateMethod,
        message: str,
        commit: CommitSettings,
        since: Sha | None = None,
    ) -> Sha | MergeConflict:
        """A commit that has the base and what head changes, made in the engine's repository: no branch and no worktree
        is touched. Head itself if it has the base. A rebase leaves out what `since` has, and becomes a merge where it
        is not clean, if that is. The same question has the same answer."""
        ...

    async def build_merge(
        self, project: str, *, base: Sha, head: Sha, method: MergeMethod, message: str, commit: CommitSettings
    ) -> Sha | MergeConflict:
        """The commit that base would be at with head merged into it by that method, made in the engine's repository: no
        branch is touched. Its first parent is base, but where `rebase` makes several. The same question has the same
        answer."""
        ...

    async def move_branch(
        self, project: str, remote: Remote, *, branch: str, sha: Sha | None, expected: Sha | None
    ) -> None:
        """Have a branch of the remote at exactly `sha` (None: not there), if the remote itself finds it at `expected`
        (None: not there). Only a scratch branch of the queue is ever rewritten or deleted; of any other `sha` has to
        contain `expected` (Invalid). Verified by reading the remote. Conflict if it is elsewhere, Denied or Invalid
        where the remote's rules refuse it. Idempotent."""
        ...

    async def find_patch_id(self, project: str, *, base: Sha, head: Sha) -> str:
        """A digest of what head changes since it left base, the same wherever that change stands; empty where it
        cannot be told."""
        ...

    async def find_before(self, project: str, *, merge: Sha, head: Sha) -> Sha:
        """Where the base was before a pull request with this head came into it as the commit `merge`, in whatever way.
        Missing if either is not there."""
        ...

    async def revert_merge(
        self, project: str, *, merge: Sha, before: Sha, base: Sha, message: str, commit: CommitSettings
    ) -> Sha | MergeConflict:
        """A commit on `base` without what before..merge changed, made in the engine's repository alone; `base` itself
        where nothing of that is left. The same question has the same answer."""
        ...

    async def begin_merge(self, project: str, number: int, *, base: Sha, message: str) -> tuple[str, ...]:
        """Leave the merge of base into the task's branch in its worktree, conflicts in place, for its author to
        conclude: the paths in conflict. Nothing is done if the branch has the base. Uncommitted work is saved before.
        Missing without a workspace."""
        ...

    async def list_commits(self, project: str, *, base: Sha, head: Sha) -> tuple[Commit, ...]:
        """base..head, oldest first."""
        ...

    async def is_ancestor(self, project: str, *, ancestor: Sha, descendant: Sha) -> bool:
        """Whether one commit is contained in another, in the engine's repository. Missing if either is not there."""
        ...

    async def find_merge_base(self, project: str, one: Sha, other: Sha) -> Sha | None:
        """The best common ancestor."""
        ...

    async def load_diff(self, project: str, *, base: Sha, head: Sha, limit: int = 200_000) -> str:
        """The diff of head against its merge base with base, as text, cut at `limit` characters."""
        ...

    async def list_tree(self, project: str, sha: Sha, *, limit: int = 5_000) -> tuple[str, ...]:
        """Paths of the files of a commit, at most `limit`."""
        ...

    async def find_file(self, project: str, sha: Sha, path: str, *, limit: int = 100_000) -> str | None:
        """The text of one file of a commit, cut at `limit` characters; None if it is not there or not text."""
        ...

    async def list_changed_paths(
        self, project: str, folder: Path, *, base: Sha, names: tuple[str, ...]
    ) -> tuple[str, ...]:
        """The files at or below `names` (paths from the top) in which `folder`, a workspace or checkout as it is now,
        differs from the commit `base`: other content, kind or mode, there or not there. Sorted. What cannot be
        compared (too large, too many, not readable) differs. No link is followed."""
        ...

    async def ensure_review_checkout(self, project: str, run: RunId, sha: Sha) -> Path:
        """A throw-away checkout of exactly `sha` for one run. Idempotent."""
        ...

    async def ensure_merge_checkout(self, project: str, key: str, *, base: Sha, head: Sha) -> Path | MergeConflict:
        """A throw-away checkout of the merge of head into base, without touching any branch."""
        ...

    async def remove_checkout(self, project: str, key: str) -> None:
        """Remove a throw-away checkout (by run id or key). Idempotent."""
        ...

    async def remove_workspace(self, project: str, number: int, *, merged: bool) -> tuple[str, ...]:
        """Remove a task's worktree and local branch. What is uncommitted or not on the remote is first saved under
        `refs/nightcrew/salvage/…`; returns the refs made. Idempotent. `merged`: the branch's commits were merged."""
        ...

    def list_folders(self, project: str) -> tuple[WorkFolder, ...]:
        """What lies there, whoever made it. Only looks. Unavailable if it cannot be read."""
        ...

    def git_folders(self, project: str, number: int) -> GitFolders:
        """Where the git of a task's workspace keeps things, whether they are there or not."""
        ...

    def path(self, project: str, number: int) -> Path:
        """Where the workspace of a task is, or would be."""
        ...
