"""Workspaces in memory: commits are objects with their files, a worktree is a dict, and nothing is on the disk.

The remote is a dict of branches, or the branches of a forge in memory, so that what is pushed can be merged there.
Tests play the agent with `edit`, `commit`, `detach` and people with `publish`; `fail` scripts errors.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

from nightcrew.core.branch import QUEUE_PREFIX, is_branch_name
from nightcrew.core.errors import Conflict, Invalid, Missing, PortError
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.merge import MergeMethod, UpdateMethod
from nightcrew.core.model.settings import CommitSettings, ProjectSettings
from nightcrew.core.path_pattern import is_at_or_below
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import (
    UNCONFINED,
    Checkout,
    Commit,
    Confinement,
    GitFolders,
    Left,
    MergeConflict,
    WorkFolder,
    WorkspaceSpec,
)
from tests.fakes.forge_state import Commit as ForgeCommit
from tests.fakes.forge_state import ForgeState
from tests.fakes.workspace_state import FakeCommit, FakeRepository, FakeTree, changed


class FakeWorkspaces:
    """`calls` lists (method, project) of every port call; `prepare_warnings` is what the next prepares return."""

    def __init__(self, clock: Clock, *, home: Path = Path("/nightcrew"), forge: ForgeState | None = None) -> None:
        self.clock, self.home, self.forge = clock, home, forge
        self.repositories: dict[str, FakeRepository] = {}
        self.calls: list[tuple[str, str]] = []
        self.prepare_warnings: tuple[str, ...] = ()
        self._faults: list[tuple[str, PortError, bool]] = []
        self._count = 0
        self.patch_ids: dict[Sha, str] = {}  # in the place of those that would be found
        self.built: dict[tuple[Sha, Sha, MergeMethod], Sha] = {}
        self.reverted: dict[tuple[Sha, Sha, Sha], Sha] = {}
        self.brought_in: dict[tuple[Sha, Sha, UpdateMethod], Sha] = {}

    # What tests do.

    def fail(self, method: str, error: PortError, *, times: int = 1, after: bool = False) -> None:
        """The next `times` calls of a port method raise; with `after`, once they have taken effect."""
        self._faults += [(method, error, after)] * times

    def repository(self, project: str) -> FakeRepository:
        return self.repositories.setdefault(project, FakeRepository())

    def publish(
        self, project: str, files: dict[str, str | None], *, branch: str = "main", message: str = "Change"
    ) -> Sha:
        """A person's commit on a branch of the remote, made from `main` where it is new."""
        repository = self.repository(project)
        self._import(project)
        before = repository.remote.get(branch) or repository.remote.get("main")
        sha = self._commit(repository, (before,) if before else (), files, message)
        self._set_remote(project, branch, sha)
        return sha

    def edit(self, project: str, number: int, files: dict[str, str | None]) -> None:
        """An agent changes files and does not commit."""
        tree = self.repository(project).trees[number]
        tree.files = changed(tree.files, files)

    def commit(self, project: str, number: int, *, agent: str = "", message: str = "agent's commit") -> Sha:
        """An agent commits what it changed."""
        repository = self.repository(project)
        tree = repository.trees[number]
        author = f"{agent} <{agent}@nightcrew.invalid>" if agent else "A Person <person@example.com>"
        parents = (tree.head,) if tree.merging is None else (tree.head, tree.merging)
        tree.merging = None
        tree.head = self._add(repository, FakeCommit(parents, tree.files, message, author, frozenset({agent} - {""})))
        return tree.head

    def move_head(self, project: str, number: int, sha: Sha) -> None:
        """An agent resets its branch to another commit."""
        repository = self.repository(project)
        tree = repository.trees[number]
        tree.head, tree.files = sha, dict(repository.commits[sha].files)

    # The port.

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
        problems: list[str] = []
        if tree.merging is not None and any("<<<<<<< " in text for text in tree.files.values()):
            problems.append("a merge was left with conflicts and was undone")
            tree.files, tree.merging = dict(repository.commits[tree.head].files), None
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
        error = self._enter("bring_in", project)
        repository = self._checked(project, head, base)
        fork = repository.merge_base(head, since if since is not None and method is UpdateMethod.REBASE else base)
        if fork is None:
            raise Invalid("they have no common history")
        clashing = repository.clashes(fork, head, base)
        self._leave(error)
        if repository.contains(head, base):
            return head
        if clashing:
            return MergeConflict(clashing)
        files, key = repository.merged(fork, head, base), (head, base, method)
        if method is UpdateMethod.REBASE:
            before = repository.history(base) | (repository.history(since) if since is not None else set())
            told = [repository.commits[sha] for sha in repository.history(head) - before]
            agents = frozenset(agent for made in told for agent in made.agents)
            made = FakeCommit((base,), files, repository.commits[head].subject, agents=agents)
        else:
            made = FakeCommit((head, base), files, message, "Nightcrew <engine@service.nightcrew.invalid>")
        if key not in self.brought_in:
            self.brought_in[key] = self._add(repository, made)
        repository.known.add(self.brought_in[key])
        return self.brought_in[key]

    async def build_merge(
        self, project: str, *, base: Sha, head: Sha, method: MergeMethod, message: str, commit: CommitSettings
    ) -> Sha | MergeConflict:
        error = self._enter("build_merge", project)
        repository = self._checked(project, base, head)
        fork = repository.merge_base(base, head)
        if fork is None:
            raise Invalid("they have no common history")
        clashing = repository.clashes(fork, base, head)
        self._leave(error)
        if clashing:
            return MergeConflict(clashing)
        parents = (base, head) if method is MergeMethod.MERGE else (base,)
        made = FakeCommit(parents, repository.merged(fork, base, head), message.split("\n", maxsplit=1)[0])
        key = (base, head, method)
        if key not in self.built:
            self.built[key] = self._add(repository, made)
        repository.known.add(self.built[key])
        return self.built[key]

    async def move_branch(
        self, project: str, remote: Remote, *, branch: str, sha: Sha | None, expected: Sha | None
    ) -> None:
        error = self._enter("move_branch", project)
        repository = self.repository(project)
        if not is_branch_name(branch):
            raise Invalid(f"{branch!r} cannot be the name of a branch")
        if sha is not None:
            self._check(repository, sha)
        if not branch.startswith(QUEUE_PREFIX):
            if sha is None or expected is None:
                raise Invalid(f"{branch} is only moved forward")
            if expected not in repository.known:
                raise Conflict(f"{branch} is expected at a commit that was never fetched")
            if not repository.contains(sha, expected):
                raise Invalid(f"{branch} would have to be forced")
        self._import(project)
        there = repository.remote.get(branch)
        if there != sha:
            if there != expected:
                raise Conflict(f"{branch} on the remote is at {there}; nothing was moved")
            self._set_remote(project, branch, sha)
        self._leave(error)

    async def find_patch_id(self, project: str, *, base: Sha, head: Sha) -> str:
        self._leave(self._enter("find_patch_id", project))
        repository = self._checked(project, base, head)
        old = repository.commits[repository.merge_base(base, head) or base].files
        new = repository.commits[head].files
        paths = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
        said = repr([(path, old.get(path), new.get(path)) for path in paths])
        return self.patch_ids.get(head, hashlib.sha1(said.encode()).hexdigest() if paths else "")

    async def find_before(self, project: str, *, merge: Sha, head: Sha) -> Sha:
        self._leave(self._enter("find_before", project))
        return self._checked(project, merge, head).commits[merge].parents[0]

    async def revert_merge(
        self, project: str, *, merge: Sha, before: Sha, base: Sha, message: str, commit: CommitSettings
    ) -> Sha | MergeConflict:
        error = self._enter("revert_merge", project)
        repository = self._checked(project, merge, before, base)
        self._leave(error)
        clashing = repository.clashes(merge, base, before)
        if clashing:
            return MergeConflict(clashing)
        files, key = repository.merged(merge, base, before), (base, merge, before)
        if files == repository.commits[base].files:
            return base
        if key not in self.reverted:
            made = FakeCommit((base,), files, message.splitlines()[0], "Nightcrew <engine@service.nightcrew.invalid>")
            self.reverted[key] = self._add(repository, made)
        repository.known.add(self.reverted[key])
        return self.reverted[key]

    async def begin_merge(self, project: str, number: int, *, base: Sha, message: str) -> tuple[str, ...]:
        error = self._enter("begin_merge", project)
        repository, tree = self._checked(project, base), self._tree(project, number)
        if repository.contains(tree.head, base):
            self._leave(error)
            return ()
        fork = repository.merge_base(tree.head, base)
        if fork is None:
            raise Invalid("they have no common history")
        if tree.files != repository.commits[tree.head].files:
            made = self._add(repository, FakeCommit((tree.head,), tree.files, "Saved work"))
            self._salvage(repository, number, made)
        tree.files, tree.merging = repository.merged(fork, tree.head, base), base
        self._leave(error)
        return repository.clashes(fork, tree.head, base)

    async def list_commits(self, project: str, *, base: Sha, head: Sha) -> tuple[Commit, ...]:
        self._leave(self._enter("list_commits", project))
        repository = self._checked(project, base, head)
        new = repository.history(head) - repository.history(base)
        ordered = sorted(new, key=lambda sha: (len(repository.history(sha)), sha))
        facts = [(sha, repository.commits[sha]) for sha in ordered]
        return tuple(Commit(sha, made.subject, made.author, made.agents) for sha, made in facts)

    async def is_ancestor(self, project: str, *, ancestor: Sha, descendant: Sha) -> bool:
        self._leave(self._enter("is_ancestor", project))
        return self._checked(project, ancestor, descendant).contains(descendant, ancestor)

    async def find_merge_base(self, project: str, one: Sha, other: Sha) -> Sha | None:
        self._leave(self._enter("find_merge_base", project))
        return self._checked(project, one, other).merge_base(one, other)

    async def load_diff(self, project: str, *, base: Sha, head: Sha, limit: int = 200_000) -> str:
        self._leave(self._enter("load_diff", project))
        repository = self._checked(project, base, head)
        old = repository.commits[repository.merge_base(base, head) or base].files
        new = repository.commits[head].files
        lines = []
        for path in sorted({*old, *new}):
            if old.get(path) != new.get(path):
                lines += [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}", "@@"]
                lines += [f"-{line}" for line in old.get(path, "").splitlines()]
                lines += [f"+{line}" for line in new.get(path, "").splitlines()]
        return "\n".join(lines)[:limit]

    async def list_tree(self, project: str, sha: Sha, *, limit: int = 5_000) -> tuple[str, ...]:
        self._leave(self._enter("list_tree", project))
        files = self._checked(project, sha).commits[sha].files
        return tuple(sorted(files, key=str.encode))[:limit]

    async def find_file(self, project: str, sha: Sha, path: str, *, limit: int = 100_000) -> str | None:
        self._leave(self._enter("find_file", project))
        text = self._checked(project, sha).commits[sha].files.get(path)
        return None if text is None else text[:limit]

    async def list_changed_paths(
        self, project: str, folder: Path, *, base: Sha, names: tuple[str, ...]
    ) -> tuple[str, ...]:
        self._leave(self._enter("list_changed_paths", project))
        repository = self._checked(project, base)
        trees = {self.path(project, number): tree.files for number, tree in repository.trees.items()}
        then, now = repository.commits[base].files, trees.get(folder)
        if now is None:
            now = repository.commits[repository.checkouts[folder.name][0]].files
        named = (path for path in {*then, *now} if any(is_at_or_below(path, name) for name in names))
        return tuple(sorted(path for path in named if then.get(path) != now.get(path)))

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

    def path(self, project: str, number: int) -> Path:
        return self.home / "worktrees" / project.replace("/", "__") / f"{project.rpartition('/')[2]}-{number}"

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
        warnings: list[str] = []
        if tree.merging is not None:  # a start that was cut short: it is begun anew
            tree.files, tree.merging = dict(repository.commits[tree.head].files), None
        dirty = tree.files != repository.commits[tree.head].files
        if spec.start is not None and not repository.contains(tree.head, spec.start):
            if not repository.contains(spec.start, tree.head):
                warnings.append(f"its own commits are saved as {self._salvage(repository, spec.number, tree.head)}")
            if dirty:
                made = self._add(repository, FakeCommit((tree.head,), tree.files, "Saved work"))
                warnings.append(f"uncommitted work is saved as {self._salvage(repository, spec.number, made)}")
            tree.head, tree.files = spec.start, dict(repository.commits[spec.start].files)
        elif dirty:
            warnings.append("uncommitted changes of an earlier run are still in the workspace")
        tree.start = spec.start or tree.start
        return tuple(warnings)

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

    def _salvage(self, repository: FakeRepository, number: int, sha: Sha) -> str:
        for ref, saved in repository.salvage.items():
            if saved == sha:
                return ref
        stem = f"refs/nightcrew/salvage/{number}/{self.clock.now():%Y%m%dT%H%M%SZ}"
        ref, count = stem, 1
        while ref in repository.salvage:
            count += 1
            ref = f"{stem}-{count}"
        repository.salvage[ref] = sha
        repository.known |= repository.history(sha)
        return ref

    def _commit(
        self, repository: FakeRepository, parents: tuple[Sha, ...], files: dict[str, str | None], message: str
    ) -> Sha:
        before = repository.commits[parents[0]].files if parents else {}
        return self._add(repository, FakeCommit(parents, changed(before, files), message))

    def _add(self, repository: FakeRepository, made: FakeCommit) -> Sha:
        self._count += 1
        sha = Sha(hashlib.sha1(f"workspace {self._count}".encode()).hexdigest())
        repository.commits[sha] = replace(made, files=dict(made.files))
        return sha

    def _import(self, project: str) -> None:
        """What the forge in memory has; a commit of it knows its paths only, so its id stands for their text."""
        if self.forge is None or project not in self.forge.projects:
            return
        theirs, repository = self.forge.projects[project], self.repository(project)
        repository.remote = dict(theirs.branches)
        todo = [sha for sha in theirs.branches.values() if sha not in repository.commits]
        while todo:
            sha = todo[-1]
            made = theirs.commits[sha]
            if missing := [parent for parent in made.parents if parent not in repository.commits]:
                todo.extend(missing)
                continue
            todo.pop()
            before = repository.commits[made.parents[0]].files if made.parents else {}
            files = {**before, **{path: str(sha) for path in made.paths}}
            repository.commits[sha] = FakeCommit(made.parents, files, made.message.split("\n")[0])

    def _set_remote(self, project: str, branch: str, sha: Sha | None) -> None:
        repository = self.repository(project)
        if sha is None:
            repository.remote.pop(branch, None)
            if self.forge is not None and project in self.forge.projects:
                self.forge.projects[project].branches.pop(branch, None)
            return
        repository.remote[branch] = sha
        if self.forge is None or project not in self.forge.projects:
            return
        theirs = self.forge.projects[project]
        for new in repository.history(sha) - set(theirs.commits):
            made = repository.commits[new]
            before = repository.commits[made.parents[0]].files if made.parents else {}
            paths = sorted(path for path in {*before, *made.files} if before.get(path) != made.files.get(path))
            theirs.commits[new] = ForgeCommit(made.parents, tuple(paths), made.subject)
        theirs.branches[branch] = sha
        self.forge.note_push(project, branch)

    def _fetched(self, project: str) -> dict[str, Sha]:
        branches = self.repository(project).fetched
        if branches is None:
            raise Missing(f"{project} was not fetched yet")
        return branches

    def _checked(self, project: str, *shas: Sha) -> FakeRepository:
        self._fetched(project)
        for sha in shas:
            self._check(self.repository(project), sha)
        return self.repository(project)

    def _check(self, repository: FakeRepository, sha: Sha) -> None:
        if sha not in repository.known:
            raise Missing(f"there is no commit {sha!r} here; fetch first")

    def _tree(self, project: str, number: int) -> FakeTree:
        self._fetched(project)
        if number not in self.repository(project).trees:
            raise Missing(f"{project}#{number} has no workspace; make it first")
        return self.repository(project).trees[number]

    def _enter(self, method: str, project: str) -> PortError | None:
        """Count the call; raise a scripted error, or return one that is due once the call has taken effect."""
        self.calls.append((method, project))
        fault = next((fault for fault in self._faults if fault[0] == method), None)
        if fault is None:
            return None
        self._faults.remove(fault)
        if not fault[2]:
            raise fault[1]
        return fault[1]

    def _leave(self, error: PortError | None) -> None:
        if error is not None:
            raise error
