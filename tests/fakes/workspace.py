"""Workspaces in memory: commits are objects with their files, a worktree is a dict, and nothing is on the disk.

The remote is a dict of branches, or the branches of a forge in memory, so that what is pushed can be merged there.
Tests play the agent with `edit`, `commit`, `detach` and people with `publish`; `fail` scripts errors.
"""

from pathlib import Path

from nightcrew.core.branch import is_branch_name
from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.settings import CommitSettings, ProjectSettings
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import (
    UNCONFINED,
    Checkout,
    Confinement,
    GitFolders,
    Left,
    MergeConflict,
    WorkFolder,
    WorkspaceSpec,
)
from tests.fakes.workspace_history import FakeHistory
from tests.fakes.workspace_merge import FakeMerging
from tests.fakes.workspace_state import FakeCommit, FakeRepository, FakeTree


class FakeWorkspaces(FakeMerging, FakeHistory):
    """The whole port."""

    async def fetch(self, project: str, remote: Remote, *, pulls: tuple[int, ...] = ()) -> None:
        error = self._enter("fetch", project)
        self._import(project)
        repository = self.repository(project)
        repository.known |= {sha for number in pulls for sha in repository.history(repository.pulls[number])}
        repository.fetched = dict(repository.remote)
        for sha in repository.fetched.values():
            repository.known |= repository.history(sha)
        self._leave(error)

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        self._leave(self._enter("find_branch", project))
        return self._fetched(project).get(branch)

    async def ensure_workspace(self, spec: WorkspaceSpec) -> Checkout:
        error = self._enter("ensure_workspace", spec.project)
        branches, repository = self._fetched(spec.project), self.repository(spec.project)
        if not is_branch_name(spec.branch) or not is_branch_name(spec.base_ref):
            raise Invalid(f"{spec.branch!r} or {spec.base_ref!r} cannot be the name of a branch")
        if repository.leases.get(spec.number, spec.lease) != spec.lease:
            raise Conflict(f"{spec.project}#{spec.number} is in use by run {repository.leases[spec.number]}")
        if not branches:
            raise Invalid(f"{spec.project} has no commits yet")
        if spec.base_ref not in branches:
            raise Missing(f"{spec.project} has no branch {spec.base_ref!r}")
        if spec.start is not None:
            self._check(repository, spec.start)
        repository.leases[spec.number] = spec.lease
        warnings = self._adopt(repository, spec) if spec.number in repository.trees else self._make(repository, spec)
        self._leave(error)
        tree = repository.trees[spec.number]
        return Checkout(self.path(spec.project, spec.number), tree.base, tree.head, warnings)

    async def prepare(
        self, spec: WorkspaceSpec, settings: ProjectSettings, *, log: Path, confinement: Confinement = UNCONFINED
    ) -> tuple[str, ...]:
        error = self._enter("prepare", spec.project)
        tree = self._tree(spec.project, spec.number)
        fresh, tree.prepared = not tree.prepared, True
        self._leave(error)
        return self.prepare_warnings if fresh else ()

    async def collect(self, project: str, number: int, *, agent: str, commit: CommitSettings, message: str) -> Left:
        error = self._enter("collect", project)
        repository, tree = self.repository(project), self._tree(project, number)
        problems = self._undo_merge(repository, number, tree)
        merging, tree.merging = tree.merging, None
        dirty = tree.files != repository.commits[tree.head].files or merging is not None
        if dirty:
            author = f"{agent} <{commit.email.replace('{agent}', agent)}>"
            subject = message.splitlines()[0] if message else ""
            parents = (tree.head,) if merging is None else (tree.head, merging)
            made = FakeCommit(parents, tree.files, subject, author, frozenset({agent}))
            tree.head = self._add(repository, made)
        if not repository.contains(tree.head, tree.start):
            problems.append(self._settle(repository, number, tree))
        repository.known |= repository.history(tree.head)
        repository.collected[number] = tree.head
        self._leave(error)
        return Left(tree.head, dirty, tuple(problems))

    async def release(self, project: str, number: int, *, lease: RunId | None) -> None:
        error = self._enter("release", project)
        leases = self.repository(project).leases
        if number in leases and lease in (None, leases[number]):
            del leases[number]
        self._leave(error)

    async def push(
        self, project: str, remote: Remote, *, branch: str, sha: Sha, expected: Sha | None, replace: bool = False
    ) -> None:
        error = self._enter("push", project)
        repository = self.repository(project)
        if not is_branch_name(branch):
            raise Invalid(f"{branch!r} cannot be the name of a branch")
        self._check(repository, sha)
        self._import(project)
        there = repository.remote.get(branch)
        if there != sha:
            if there != expected or (there is not None and not replace and not repository.contains(sha, there)):
                raise Conflict(f"{branch} on the remote is at {there}; nothing was forced")
            self._set_remote(project, branch, sha)
        self._fetched(project)[branch] = sha
        self._leave(error)

    async def ensure_review_checkout(self, project: str, run: RunId, sha: Sha) -> Path:
        error = self._enter("ensure_review_checkout", project)
        self._checked(project, sha).checkouts[run] = (sha,)
        self._leave(error)
        return self.home / "checkouts" / project.replace("/", "__") / run

    async def ensure_merge_checkout(self, project: str, key: str, *, base: Sha, head: Sha) -> Path | MergeConflict:
        error = self._enter("ensure_merge_checkout", project)
        repository = self._checked(project, base, head)
        fork = repository.merge_base(base, head)
        if fork is None:
            raise Invalid("no common history; they cannot be merged")
        clashing = repository.clashes(fork, base, head)
        self._leave(error)
        if clashing:
            return MergeConflict(clashing)
        repository.checkouts[key] = (base, head)
        return self.home / "checkouts" / project.replace("/", "__") / key

    async def remove_checkout(self, project: str, key: str) -> None:
        error = self._enter("remove_checkout", project)
        self.repository(project).checkouts.pop(key, None)
        self._leave(error)

    async def remove_workspace(self, project: str, number: int, *, merged: bool) -> tuple[str, ...]:
        error = self._enter("remove_workspace", project)
        repository = self.repository(project)
        tree = repository.trees.get(number)
        refs: list[str] = []
        if tree is not None:
            if holder := repository.leases.get(number):
                raise Conflict(f"the workspace is in use by run {holder}; nothing was removed")
            saved: set[Sha] = set()
            for sha in (repository.fetched or {}).values():
                saved |= repository.history(sha)
            if merged and number in repository.collected:
                saved |= repository.history(repository.collected[number])
            if tree.head not in saved:
                refs.append(self._salvage(repository, number, tree.head))
            if tree.files != repository.commits[tree.head].files:
                made = self._add(repository, FakeCommit((tree.head,), tree.files, "Saved work"))
                refs.append(self._salvage(repository, number, made))
            del repository.trees[number]
        self._leave(error)
        return tuple(refs)

    def list_folders(self, project: str) -> tuple[WorkFolder, ...]:
        repository = self.repository(project)
        trees = [
            WorkFolder(self.path(project, number), number, repository.leases.get(number)) for number in repository.trees
        ]
        checkouts = self.home / "checkouts" / project.replace("/", "__")
        return (*trees, *(WorkFolder(checkouts / key, checkout=key) for key in repository.checkouts))

    def git_folders(self, project: str, number: int) -> GitFolders:
        common = self.home / "repos" / project.replace("/", "__")
        own = common / "agents" / f"{number}.git"
        return GitFolders(own, own / "worktrees" / f"{number}", common / "objects")

    # How it is done.

    def _make(self, repository: FakeRepository, spec: WorkspaceSpec) -> tuple[str, ...]:
        base = self._fetched(spec.project)[spec.base_ref]
        start = spec.start or base
        fork = repository.merge_base(start, base) or base
        files = dict(repository.commits[start].files)
        repository.trees[spec.number] = FakeTree(spec.branch, fork, start, start, files)
        return ()

    def _adopt(self, repository: FakeRepository, spec: WorkspaceSpec) -> tuple[str, ...]:
        tree = repository.trees[spec.number]
        tree.branch = spec.branch
        warnings = self._undo_merge(repository, spec.number, tree)
        dirty = tree.files != repository.commits[tree.head].files
        if spec.start is not None and not repository.contains(tree.head, spec.start):
            if not repository.contains(spec.start, tree.head):
                warnings.append(f"its own commits are saved as {self._salvage(repository, spec.number, tree.head)}")
            if dirty:
                made = self._add(repository, FakeCommit((tree.head,), tree.files, "Saved work"))
                warnings.append(f"uncommitted work is saved as {self._salvage(repository, spec.number, made)}")
            tree.head, tree.files = spec.start, dict(repository.commits[spec.start].files)
            tree.merging = None
        elif dirty:
            warnings.append("uncommitted changes of an earlier run are still in the workspace")
        tree.start = spec.start or tree.start
        return tuple(warnings)

    def _undo_merge(self, repository: FakeRepository, number: int, tree: FakeTree) -> list[str]:
        """A merge whose files still have marks is saved and undone; one without waits for its commit."""
        if tree.merging is None or not any("<<<<<<< " in text for text in tree.files.values()):
            return []
        saved = self._salvage(repository, number, self._add(repository, FakeCommit((tree.head,), tree.files, "Saved")))
        tree.files, tree.merging = dict(repository.commits[tree.head].files), None
        return [f"a merge was left with conflicts and was undone; uncommitted work is saved as {saved}"]

    def _settle(self, repository: FakeRepository, number: int, tree: FakeTree) -> str:
        """HEAD does not contain the start: joined if it was rewritten, else back to the start."""
        if repository.contains(tree.start, tree.head) or not repository.contains(tree.head, tree.base):
            words = "the branch was restored to its start"
            if not repository.contains(tree.start, tree.head):
                words += f"; its commits are saved as {self._salvage(repository, number, tree.head)}"
            tree.head, tree.files = tree.start, dict(repository.commits[tree.start].files)
            return words
        joined = FakeCommit((tree.start, tree.head), tree.files, "Join the rewritten commits")
        tree.head = self._add(repository, joined)
        return "the run rewrote commits that were pushed before; they were joined, not replaced"
