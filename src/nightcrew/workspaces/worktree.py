"""The port Workspace on real git: what may run at the same time, and which part answers which question.

Each task, checkout and project has a lock of its own, so that a slow repository or checkout delays nobody else.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nightcrew.core.branch import is_branch_name
from nightcrew.core.errors import Invalid, Missing, PortError
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.git import GitSettings
from nightcrew.core.model.merge import MergeMethod, UpdateMethod
from nightcrew.core.model.settings import CommitSettings, ProjectSettings
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
from nightcrew.workspaces import build, checkout, history, join, landing, push, revert, setup
from nightcrew.workspaces.begin import begin_merge
from nightcrew.workspaces.commit import author_of, render_message
from nightcrew.workspaces.compare import list_changed_paths
from nightcrew.workspaces.complaint import clean
from nightcrew.workspaces.file import find_document, replace_document
from nightcrew.workspaces.git import Git
from nightcrew.workspaces.inventory import list_folders
from nightcrew.workspaces.lease import give_up_lease, load_lease, take_lease
from nightcrew.workspaces.marker import Marker, Stage, write_marker
from nightcrew.workspaces.removal import remove_worktree
from nightcrew.workspaces.repository import Repository
from nightcrew.workspaces.retire import retire_shared
from nightcrew.workspaces.settle import Author, settle
from nightcrew.workspaces.signing import UNSIGNED, Signing
from nightcrew.workspaces.submodule import fill_submodules

NETWORK_TIMEOUT_S = 600.0
RETRY_WAITS_S = (2.0, 8.0)
"""Pauses before a fetch or push that the network broke is tried again: two more tries."""


class GitWorkspaces:
    """See `nightcrew.ports.workspace.Workspace`.

    `home` holds everything (see `repository`); `installation` tells this installation's worktrees from another's that
    shares or copied the home; `emails` are the patterns by which an author's address names an agent, beside the
    trailer; `git` is the program, `git_env` further variables for it.
    """

    def __init__(
        self,
        home: Path,
        clock: Clock,
        *,
        installation: str = "",
        emails: Sequence[str] = (CommitSettings().email,),
        git: str = "git",
        git_env: Mapping[str, str] | None = None,
        retry_waits_s: Sequence[float] = RETRY_WAITS_S,
        network_timeout_s: float = NETWORK_TIMEOUT_S,
    ) -> None:
        self._home = home.resolve()
        self._clock = clock
        self._installation = installation or str(self._home)
        self._emails = tuple(emails)
        self._git = Git(git, dict(git_env or {}))
        self._waits_s = tuple(retry_waits_s)
        self._network_timeout_s = network_timeout_s
        self._repositories: dict[str, Repository] = {}
        self._signing = UNSIGNED
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    def sign_with(self, settings: GitSettings) -> None:
        """Sign what is made and published from now on in this way."""
        self._signing = Signing(settings)
        for repository in self._repositories.values():
            repository.signing = self._signing

    def recognise(self, emails: Sequence[str]) -> None:
        """Further addresses that name agents. Those from before go on doing so: commits keep the address they have."""
        self._emails = tuple(dict.fromkeys((*self._emails, *emails)))

    async def fetch(self, project: str, remote: Remote, *, pulls: tuple[int, ...] = ()) -> None:
        repository = self._find(project)
        async with self._lock(project, "fetch"):
            await repository.ensure()
            await retire_shared(repository, at=self._clock.now())
            await push.fetch_branches(repository, remote, timeout_s=self._network_timeout_s, waits_s=self._waits_s)
            for number in pulls:
                await push.fetch_pull(repository, remote, number, timeout_s=self._network_timeout_s)
            known, place = {"url": clean(remote.url)}, repository.folder / "remote.json"
            if find_document(place) != known:
                replace_document(place, dict(known))

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        return await self._get(project).find_branch(branch)

    async def ensure_workspace(self, spec: WorkspaceSpec) -> Checkout:
        if not is_branch_name(spec.branch) or spec.number < 1:
            raise Invalid(f"{spec.branch!r} cannot be the branch of task {spec.number}")
        repository = self._get(spec.project)
        async with self._lock(spec.project, spec.number):
            what = f"the workspace of {spec.project}#{spec.number}"
            left = build.put_aside_unmarked(repository, spec.number)
            build.find_own_marker(repository, spec.number, installation=self._installation)
            lease = repository.lease(spec.number)
            entered = load_lease(lease).holder == spec.lease
            take_lease(lease, spec.lease, at=self._clock.now(), what=what)
            try:
                made = await build.ensure_worktree(
                    repository, spec, installation=self._installation, at=self._clock.now()
                )
                return replace(made, warnings=(*left, *made.warnings))
            except PortError:
                # All or nothing: a workspace that could not be had is not held either.
                if not entered:
                    give_up_lease(lease, spec.lease)
                raise

    async def prepare(
        self, spec: WorkspaceSpec, settings: ProjectSettings, *, log: Path, confinement: Confinement = UNCONFINED
    ) -> tuple[str, ...]:
        repository = self._get(spec.project)
        async with self._lock(spec.project, spec.number):
            marker = self._get_ready(repository, spec.number)
            if marker.prepared:
                return ()
            tree = repository.tree(spec.number)
            warnings = await fill_submodules(repository, self._git, spec.number, sha=marker.head_sha)
            copied, refused = setup.copy_files(settings.source, settings.copy_files, tree=tree)
            warnings += refused
            marker = replace(marker, copied=tuple(dict.fromkeys((*marker.copied, *copied))))
            write_marker(repository.marker(spec.number), marker)
            setup.exclude_files(repository.agents(spec.number), copied)
            for warning in warnings:
                setup.append_log(log, f"[{warning}]\n".encode("utf-8", "replace"))
            await setup.run_setup(settings.setup, tree=tree, log=log, confinement=confinement)
            write_marker(repository.marker(spec.number), replace(marker, prepared=True))
            return warnings

    async def collect(self, project: str, number: int, *, agent: str, commit: CommitSettings, message: str) -> Left:
        repository = self._get(project)
        async with self._lock(project, number):
            marker = self._get_ready(repository, number)
            await repository.ensure_agents(number)
            identity = author_of(agent, commit, at=self._clock.now())
            author = Author(identity, render_message(message, identity, commit))
            settled = await settle(repository, marker, at=self._clock.now(), author=author)
            write_marker(repository.marker(number), replace(marker, head_sha=settled.head))
            return Left(settled.head, settled.committed, settled.problems)

    async def release(self, project: str, number: int, *, lease: RunId | None) -> None:
        repository = self._find(project)
        if repository.is_there():
            give_up_lease(repository.lease(number), lease)

    async def push(
        self, project: str, remote: Remote, *, branch: str, sha: Sha, expected: Sha | None, replace: bool = False
    ) -> None:
        repository, goal = self._get(project), push.Goal(branch, sha, expected, replace)
        async with self._lock(project, f"push {branch}"):
            await push.push_branch(
                repository, remote, goal,
                timeout_s=self._network_timeout_s, waits_s=self._waits_s,
            )  # fmt: skip

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
        repository = self._get(project)
        if method is UpdateMethod.REBASE:
            answer = await join.rebase_onto(repository, head=head, base=base, since=since)
            if not isinstance(answer, MergeConflict):
                return answer
        return await join.merge_base_in(repository, head=head, base=base, message=message, commit=commit)

    async def build_merge(
        self, project: str, *, base: Sha, head: Sha, method: MergeMethod, message: str, commit: CommitSettings
    ) -> Sha | MergeConflict:
        return await landing.build_merge(
            self._get(project), base=base, head=head, method=method, message=message, commit=commit
        )

    async def move_branch(
        self, project: str, remote: Remote, *, branch: str, sha: Sha | None, expected: Sha | None
    ) -> None:
        async with self._lock(project, f"push {branch}"):
            await landing.move_branch(
                self._get(project), remote, branch, sha=sha, expected=expected, timeout_s=self._network_timeout_s
            )

    async def find_patch_id(self, project: str, *, base: Sha, head: Sha) -> str:
        return await join.find_patch_id(self._get(project), base=base, head=head)

    async def find_before(self, project: str, *, merge: Sha, head: Sha) -> Sha:
        return await revert.find_before(self._get(project), merge=merge, head=head)

    async def revert_merge(
        self, project: str, *, merge: Sha, before: Sha, base: Sha, message: str, commit: CommitSettings
    ) -> Sha | MergeConflict:
        return await revert.revert_merge(
            self._get(project), merge=merge, before=before, base=base, message=message, commit=commit
        )

    async def begin_merge(self, project: str, number: int, *, base: Sha, message: str) -> tuple[str, ...]:
        repository = self._get(project)
        async with self._lock(project, number):
            marker = self._get_ready(repository, number)
            return await begin_merge(repository, marker, base=base, message=message, at=self._clock.now())

    async def list_commits(self, project: str, *, base: Sha, head: Sha) -> tuple[Commit, ...]:
        return await history.list_commits(self._get(project), base=base, head=head, emails=self._emails)

    async def is_ancestor(self, project: str, *, ancestor: Sha, descendant: Sha) -> bool:
        repository = self._get(project)
        await repository.check_there(ancestor, descendant)
        return await repository.is_ancestor(ancestor, descendant)

    async def find_merge_base(self, project: str, one: Sha, other: Sha) -> Sha | None:
        repository = self._get(project)
        await repository.check_there(one, other)
        return await build.find_merge_base(repository, one, other)

    async def load_diff(self, project: str, *, base: Sha, head: Sha, limit: int = 200_000) -> str:
        return await history.load_diff(self._get(project), base=base, head=head, limit=limit)

    async def list_tree(self, project: str, sha: Sha, *, limit: int = 5_000) -> tuple[str, ...]:
        return await history.list_tree(self._get(project), sha, limit=limit)

    async def find_file(self, project: str, sha: Sha, path: str, *, limit: int = 100_000) -> str | None:
        return await history.find_file(self._get(project), sha, path, limit=limit)

    async def list_changed_paths(
        self, project: str, folder: Path, *, base: Sha, names: tuple[str, ...]
    ) -> tuple[str, ...]:
        return await list_changed_paths(self._get(project), folder, base=base, names=names)

    async def ensure_review_checkout(self, project: str, run: RunId, sha: Sha) -> Path:
        async with self._lock(project, f"checkout {run}"):
            return await checkout.ensure_checkout(self._get(project), run, sha=sha)

    async def ensure_merge_checkout(self, project: str, key: str, *, base: Sha, head: Sha) -> Path | MergeConflict:
        async with self._lock(project, f"checkout {key}"):
            return await checkout.ensure_merge(self._get(project), key, base=base, head=head)

    async def remove_checkout(self, project: str, key: str) -> None:
        repository = self._find(project)
        async with self._lock(project, f"checkout {key}"):
            if repository.is_there():
                await asyncio.to_thread(checkout.remove_checkout, repository, key)

    async def remove_workspace(self, project: str, number: int, *, merged: bool) -> tuple[str, ...]:
        repository = self._find(project)
        async with self._lock(project, number):
            if not repository.is_there():
                return ()
            return await remove_worktree(
                repository, number, installation=self._installation, merged=merged, at=self._clock.now()
            )

    def list_folders(self, project: str) -> tuple[WorkFolder, ...]:
        return list_folders(self._find(project), installation=self._installation)

    def git_folders(self, project: str, number: int) -> GitFolders:
        repository = self._find(project)
        return GitFolders(repository.agents(number), repository.admin(number), repository.engine / "objects")

    def path(self, project: str, number: int) -> Path:
        return self._find(project).tree(number)

    def _find(self, project: str) -> Repository:
        return self._repositories.setdefault(project, Repository(self._home, project, self._git, signing=self._signing))

    def _get(self, project: str) -> Repository:
        return self._find(project).get()

    def _get_ready(self, repository: Repository, number: int) -> Marker:
        left = build.put_aside_unmarked(repository, number)
        marker = build.find_own_marker(repository, number, installation=self._installation)
        if marker is None or marker.stage is not Stage.READY:
            raise Missing(left[0] if left else f"{repository.project}#{number} has no workspace; make it first")
        return marker

    def _lock(self, project: str, what: int | str) -> asyncio.Lock:
        return self._locks.setdefault((project, str(what)), asyncio.Lock())
