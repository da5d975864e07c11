"""Commits that the engine makes of others, in memory: merges, builds of the queue, reverts."""

import hashlib

from nightcrew.core.branch import QUEUE_PREFIX, is_branch_name
from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod, UpdateMethod
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import (
    MergeConflict,
)
from tests.fakes.workspace_ground import FakeGround
from tests.fakes.workspace_state import FakeCommit


class FakeMerging(FakeGround):
    """The part of the port that merges."""

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
