"""Bringing a base into a branch, in the engine's repository: no worktree is touched, no hook runs, no ref is moved.

The same two commits always come to the same new one, so that what a crash cut short is not made twice.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from nightcrew.core.errors import Invalid
from nightcrew.core.ids import Sha
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.workspace import MergeConflict
from nightcrew.process import Completed
from nightcrew.workspaces.build import find_merge_base
from nightcrew.workspaces.commit import make_commit, render_engine_message
from nightcrew.workspaces.git import NIGHTCREW, NIGHTCREW_EMAIL, Identity, identity_environment
from nightcrew.workspaces.repository import Repository

_CONFLICT = 1


@dataclass(frozen=True, slots=True)
class MergedTree:
    """What `git merge-tree` makes of two commits: the tree, with marks in the files in conflict, and for each of these
    its stages as lines of `git update-index --index-info`."""

    tree: str
    stages: tuple[bytes, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        named = {os.fsdecode(stage.partition(b"\t")[2]) for stage in self.stages}
        return tuple(sorted(named))


async def merge_trees(
    repository: Repository, ours: Sha, theirs: Sha, *, env: Mapping[str, str] | None = None
) -> MergedTree:
    """The three-way merge of two commits (git-merge-tree(1), its -z output). Invalid if they share no history."""
    done = await repository.run("merge-tree", "--write-tree", "-z", ours, theirs, env=env, ok=(0, _CONFLICT, 128))
    return _parse(repository, done, doing=f"merging {theirs[:10]} into {ours[:10]}")


def _parse(repository: Repository, done: Completed, *, doing: str) -> MergedTree:
    tree, *rest = done.stdout.split(b"\0")
    if done.returncode == 0:
        return MergedTree(tree.decode("ascii").strip())
    if done.returncode != _CONFLICT or not tree:
        if "unrelated histories" in done.complaint:
            raise Invalid(f"{doing}: they have no common history")
        raise repository.complain(done, doing=doing)
    # Stages end at the first empty field; messages for people follow.
    stages = rest[: rest.index(b"")] if b"" in rest else rest
    return MergedTree(tree.decode("ascii"), tuple(stages))


async def merge_base_in(
    repository: Repository, *, head: Sha, base: Sha, message: str, commit: CommitSettings
) -> Sha | MergeConflict:
    """A commit with head and base for parents; head itself if it has the base already."""
    await repository.check_there(head, base)
    if await repository.is_ancestor(base, head):
        return head
    merged = await merge_trees(repository, head, base)
    if merged.stages:
        return MergeConflict(merged.paths)
    who = Identity(NIGHTCREW, NIGHTCREW_EMAIL, await latest_time(repository, head, base))
    return await make_commit(
        repository,
        tree=merged.tree,
        parents=(head, base),
        message=render_engine_message(message, who, commit),
        author=who,
    )


async def rebase_onto(repository: Repository, *, head: Sha, base: Sha, since: Sha | None = None) -> Sha | MergeConflict:
    """The commits of base..head, without those of `since`, one after the other on top of base, each by its own author
    and with its own words. MergeConflict where that has one, or where there are merges among them, which could not be
    told again."""
    await repository.check_there(head, base)
    if await repository.is_ancestor(base, head):
        return head
    fork = await find_merge_base(repository, head, base)
    if fork is None:
        raise Invalid(f"{base[:10]} and {head[:10]} have no common history")
    without = (f"^{since}",) if since is not None and not await repository.list_absent((since,)) else ()
    listed = await repository.run("rev-list", "--reverse", "--topo-order", "--parents", f"{base}..{head}", *without)
    lines = [line.split() for line in listed.text.splitlines()]
    if any(len(line) != 2 for line in lines):
        return MergeConflict(())
    tip = base
    for name, parent in lines:
        made = await _replay(repository, tip=tip, commit=Sha(name), parent=Sha(parent))
        if isinstance(made, MergeConflict):
            return made
        tip = made
    return tip


async def _replay(repository: Repository, *, tip: Sha, commit: Sha, parent: Sha) -> Sha | MergeConflict:
    """One commit on top of another: a merge of both over the commit's parent. A commit that is there already in
    substance is left out."""
    stand_in = await _commit_like(repository, tree=await repository.tree_of(parent), parents=(), like=commit)
    ours = await _commit_like(repository, tree=await repository.tree_of(tip), parents=(stand_in,), like=commit)
    theirs = await _commit_like(repository, tree=await repository.tree_of(commit), parents=(stand_in,), like=commit)
    merged = await merge_trees(repository, ours, theirs)
    if merged.stages:
        return MergeConflict(merged.paths)
    if merged.tree == await repository.tree_of(tip):
        return tip
    return await _commit_like(repository, tree=merged.tree, parents=(tip,), like=commit, is_published=True)


async def _commit_like(
    repository: Repository, *, tree: str, parents: tuple[Sha, ...], like: Sha, is_published: bool = False
) -> Sha:
    """A commit with the author, time and words of another."""
    told = await repository.run("show", "-s", "--format=%an%x00%ae%x00%at%x00%B", like)
    name, email, at_s, words = told.stdout.split(b"\0", 3)
    author = Identity(name.decode("utf-8", "replace"), email.decode("utf-8", "replace"), int(at_s))
    args = [part for parent in parents for part in ("-p", parent)]
    signing = repository.signing
    made = await repository.run(
        *signing.words(is_published=is_published), *args, "-F", "-", tree, doing="making a commit",
        env=identity_environment(author, committer=signing.committer(author.at_s)), stdin=words,
    )  # fmt: skip
    return Sha(made.text.strip())


async def latest_time(repository: Repository, *shas: Sha) -> int:
    """When the newest of the commits was made, in seconds since the epoch."""
    told = await repository.run("show", "-s", "--format=%ct", *shas)
    return max(int(word) for word in told.text.split())


async def find_patch_id(repository: Repository, *, base: Sha, head: Sha) -> str:
    """What head changes since it left base, as one digest that does not depend on where the change stands
    (git-patch-id(1)); empty where it cannot be told: binary files are not in it, and nothing is no change."""
    await repository.check_there(base, head)
    since = await find_merge_base(repository, base, head) or base
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index")
    counted = await repository.run("diff", *options, "--numstat", "-z", since, head, "--")
    if counted.stdout.startswith(b"-\t-\t") or b"\0-\t-\t" in counted.stdout:
        return ""
    diff = await repository.run("diff", *options, "--src-prefix=a/", "--dst-prefix=b/", since, head, "--")
    if diff.truncated:
        return ""
    told = await repository.run("patch-id", "--stable", stdin=diff.stdout)
    return told.text.split(" ")[0].strip()
