"""What the merge queue builds and lands: merges made as commits, and branches of the remote moved with a lease.

As everywhere in the engine's repository no worktree is touched, no hook runs, and the same question gets the same
answer.
"""

from nightcrew.core.branch import QUEUE_PREFIX, is_branch_name
from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import MergeConflict
from nightcrew.workspaces.commit import make_commit, render_engine_message
from nightcrew.workspaces.exchange import Exchange, send_exchange
from nightcrew.workspaces.git import NIGHTCREW, NIGHTCREW_EMAIL, Identity
from nightcrew.workspaces.join import latest_time, merge_trees, rebase_onto
from nightcrew.workspaces.push import find_tip
from nightcrew.workspaces.repository import Repository


async def build_merge(
    repository: Repository, *, base: Sha, head: Sha, method: MergeMethod, message: str, commit: CommitSettings
) -> Sha | MergeConflict:
    """Base with head merged in: one commit of two parents, one of base alone (by the author of head), or the commits of
    head on top of base. Where a rebase is not clean, or there are merges in it, it is a merge."""
    await repository.check_there(base, head)
    if method is MergeMethod.REBASE:
        answer = await rebase_onto(repository, head=head, base=base)
        if not isinstance(answer, MergeConflict):
            return answer
    merged = await merge_trees(repository, base, head)
    if merged.stages:
        return MergeConflict(merged.paths)
    at_s = await latest_time(repository, base, head)
    squashes = method is MergeMethod.SQUASH
    who = await _author(repository, head, at_s) if squashes else Identity(NIGHTCREW, NIGHTCREW_EMAIL, at_s)
    return await make_commit(
        repository,
        tree=merged.tree,
        parents=(base,) if squashes else (base, head),
        message=render_engine_message(message, Identity(NIGHTCREW, NIGHTCREW_EMAIL, at_s), commit),
        author=who,
    )


async def _author(repository: Repository, head: Sha, at_s: int) -> Identity:
    told = await repository.run("show", "-s", "--format=%an%x00%ae", head)
    name, _, email = told.stdout.decode("utf-8", "replace").strip().partition("\0")
    return Identity(name, email, at_s)


async def move_branch(
    repository: Repository, remote: Remote, branch: str, *, sha: Sha | None, expected: Sha | None, timeout_s: float
) -> None:
    """Have the branch at `sha`, or not there. The remote itself compares with `expected`; whether that was so is read
    back from it, so that an answer that got lost is no second push."""
    if not is_branch_name(branch):
        raise Invalid(f"{branch!r} cannot be the name of a branch")
    if not branch.startswith(QUEUE_PREFIX):
        await _check_forward(repository, branch, sha=sha, expected=expected)
    failure = None
    if await find_tip(repository, remote, branch, timeout_s=timeout_s) == expected != sha:
        exchange = Exchange(f"refs/heads/{branch}", sha, expected, doing=f"moving {branch}")
        failure = await send_exchange(repository, remote, exchange, timeout_s=timeout_s)
    there = await find_tip(repository, remote, branch, timeout_s=timeout_s)
    if there == sha:
        return
    if failure is not None and there == expected:
        raise failure
    raise Conflict(
        f"{branch} on the remote is at {there or 'no commit'}, not at {expected or 'none'}; nothing was moved"
    )


async def _check_forward(repository: Repository, branch: str, *, sha: Sha | None, expected: Sha | None) -> None:
    if sha is None or expected is None:
        raise Invalid(f"{branch} is no scratch branch, and is only moved forward")
    try:
        await repository.check_there(expected)
    except Missing as error:
        raise Conflict(f"{branch} is expected at {expected[:10]}, which was never fetched") from error
    if not await repository.is_ancestor(expected, sha):
        raise Invalid(f"{sha[:10]} does not contain {expected[:10]}: {branch} would have to be forced")
