"""Taking a merge back: one commit on top of the base, made in the engine's repository. No worktree is touched and no
ref is moved. The same base and merge always come to the same commit."""

from nightcrew.core.ids import Sha
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.workspace import MergeConflict
from nightcrew.workspaces.build import find_merge_base
from nightcrew.workspaces.commit import make_commit, render_engine_message
from nightcrew.workspaces.git import NIGHTCREW, NIGHTCREW_EMAIL, Identity
from nightcrew.workspaces.join import find_patch_id, merge_trees
from nightcrew.workspaces.repository import Repository


async def find_before(repository: Repository, *, merge: Sha, head: Sha) -> Sha:
    """Where the base was before a pull request with this head came into it as `merge`: the first parent of a merge or
    of a squash; and for one that was rebased, as many commits back as it has, if these make the same change."""
    await repository.check_there(merge, head)
    first, *others = (await repository.run("rev-list", "--parents", "--max-count=1", merge)).text.split()[1:]
    before = Sha(first)
    if others:
        return before
    change = await find_patch_id(repository, base=before, head=head)
    if not change or change == await find_patch_id(repository, base=before, head=merge):
        return before
    fork = await find_merge_base(repository, before, head)
    if fork is None:
        return before
    count = (await repository.run("rev-list", "--count", "--no-merges", f"{fork}..{head}")).text.strip()
    older = await repository.run("rev-list", "--first-parent", f"--skip={count}", "--max-count=1", merge)
    start = Sha(older.text.strip())
    is_same = bool(start) and change == await find_patch_id(repository, base=start, head=merge)
    return start if is_same else before


async def revert_merge(
    repository: Repository, *, merge: Sha, before: Sha, base: Sha, message: str, commit: CommitSettings
) -> Sha | MergeConflict:
    """A commit on `base` without what before..merge changed; `base` itself if nothing of that is left there.
    MergeConflict where what came later stands in the way."""
    await repository.check_there(merge, before, base)
    stamp = int((await repository.run("show", "-s", "--format=%ct", base)).text)
    who = Identity(NIGHTCREW, NIGHTCREW_EMAIL, stamp)
    # A merge of the base with the state before, over the merge itself: what lies between the two is taken away.
    over = await _stand_in(repository, merge, parents=(), who=who)
    ours = await _stand_in(repository, base, parents=(over,), who=who)
    theirs = await _stand_in(repository, before, parents=(over,), who=who)
    merged = await merge_trees(repository, ours, theirs)
    if merged.stages:
        return MergeConflict(merged.paths)
    if merged.tree == await repository.tree_of(base):
        return base
    words = render_engine_message(message, who, commit)
    return await make_commit(repository, tree=merged.tree, parents=(base,), message=words, author=who)


async def _stand_in(repository: Repository, like: Sha, *, parents: tuple[Sha, ...], who: Identity) -> Sha:
    """A commit with the tree of another, in a history that is made up for the merge."""
    tree = await repository.tree_of(like)
    return await make_commit(repository, tree=tree, parents=parents, message="stand-in", author=who, is_published=False)
