"""What the parts of the fake workspaces stand on: repositories in memory, and what agents, people and faults do."""

import hashlib
from dataclasses import replace
from pathlib import Path

from nightcrew.core.errors import Missing, PortError
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod, UpdateMethod
from nightcrew.ports.clock import Clock
from tests.fakes.forge_state import Commit as ForgeCommit
from tests.fakes.forge_state import ForgeState
from tests.fakes.workspace_state import FakeCommit, FakeRepository, FakeTree, changed


class FakeGround:
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

    def path(self, project: str, number: int) -> Path:
        return self.home / "worktrees" / project.replace("/", "__") / f"{project.rpartition('/')[2]}-{number}"

    # How it is done.

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
