"""Coming to terms with what an agent left: whatever HEAD, branch, index or unfinished operation it is in, the worktree
ends on its own branch, that branch contains what the run was started at, and no work is lost.

The rules, in the order in which they are looked at:

- A rebase in progress is undone: the branch is where it was before, the half-done state is salvaged.
- A merge, cherry-pick or revert in progress is finished if no conflict marks are left, else salvaged and undone.
- What counts is the worktree's HEAD. If the branch has more than that, the branch counts (a bisect, a look at an old
  commit). If they went apart, HEAD counts and the branch's own commits are salvaged.
- What counts must contain the commit that the run started at. If the run rewrote it (amend, rebase), both are joined by
  a merge commit with the rewritten files, so that a plain push still works. If it went back behind it, or left the
  history altogether, it is salvaged and the branch returns to the start.
"""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.core.ids import Sha
from nightcrew.workspaces.commit import make_commit, nightcrew
from nightcrew.workspaces.git import Identity
from nightcrew.workspaces.link import (
    Link,
    Operation,
    branch_ref,
    end_operation,
    ensure_link,
    find_tip,
    is_linked,
    load_link,
)
from nightcrew.workspaces.marker import Marker
from nightcrew.workspaces.ref import write_ref
from nightcrew.workspaces.repository import Repository
from nightcrew.workspaces.salvage import salvage_commit, salvage_snapshot
from nightcrew.workspaces.snapshot import Snapshot, install_index, reset_tree, take_snapshot


@dataclass(frozen=True, slots=True)
class Author:
    """In whose name leftovers are committed, and with what message (trailers included)."""

    identity: Identity
    message: str


@dataclass(frozen=True, slots=True)
class Settled:
    """HEAD now, whether leftovers were committed, whether any were left as they are, and words about the rest."""

    head: Sha
    committed: bool
    is_dirty: bool
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Case:
    """One worktree being settled. `undo` is set when its files have to be as in the tip; `why` says for what."""

    repository: Repository
    marker: Marker
    at: datetime
    link: Link
    head: Sha
    tip: Sha
    problems: list[str] = field(default_factory=list)
    undo: str = ""
    parents: tuple[Sha, ...] = ()

    async def keep(self, sha: Sha, words: str) -> None:
        ref = await salvage_commit(self.repository, self.marker.number, sha, at=self.at)
        self.problems.append(f"{words}; it is saved as {ref}")


async def settle(repository: Repository, marker: Marker, *, at: datetime, author: Author | None) -> Settled:
    """Do it. Without an author, leftovers on a sound branch stay in the files, uncommitted."""
    link, tip, refused = await _take_over(repository, marker)
    head = link.head or tip or marker.head_sha
    case = _Case(repository, marker, at, link, head, head, problems=list(refused))
    with repository.temporary() as folder:
        snapshot = await take_snapshot(repository, marker.number, head=head, scratch=Path(folder), copied=marker.copied)
        await _judge_operation(case, snapshot)
        await _judge_branch(case, tip)
        join = await _judge_start(case)
        return await _conclude(case, snapshot, author=author, join=join)


async def _take_over(repository: Repository, marker: Marker) -> tuple[Link, Sha | None, tuple[str, ...]]:
    """The link and the branch's tip, after their commits were brought over. Commits that do not pass the object check
    are as if they were not there: what the files hold is then counted from the last commit that was good."""
    link, tip = load_link(repository, marker.number), find_tip(repository, marker.number, marker.branch)
    known = list(dict.fromkeys(sha for sha in (*link.commits, tip) if sha is not None))
    try:
        await repository.transfer(marker.number, known)
        return link, tip, ()
    except Invalid:
        pass
    problems = []
    bad: set[Sha | None] = set()
    for sha in known:
        try:
            await repository.transfer(marker.number, [sha])
        except Invalid as error:
            bad.add(sha)
            problems.append(f"commit {sha[:10]} was left out: {error}")
    return link.without(bad), None if tip in bad else tip, tuple(problems)


async def _judge_operation(case: _Case, snapshot: Snapshot) -> None:
    match case.link.operation:
        case Operation.REBASE:
            case.undo = "a rebase was left unfinished and was undone"
            if case.link.autostash is not None:
                await case.keep(case.link.autostash, "the rebase had put uncommitted work away")
        case (Operation.MERGE | Operation.PICK) as operation:
            if snapshot.unresolved:
                paths = ", ".join(snapshot.unresolved[:5])
                case.undo = f"a {operation.value} was left with conflicts in {paths} and was undone"
            else:
                case.parents = case.link.merging
        case Operation.BISECT:
            case.problems.append("a bisect was left unfinished and was ended")
        case None:
            pass


async def _judge_branch(case: _Case, tip: Sha | None) -> None:
    repository = case.repository
    if case.link.operation is Operation.REBASE:
        case.tip = case.link.before or tip or case.head
        if not await repository.is_ancestor(case.head, case.tip):
            await case.keep(case.head, "the unfinished rebase had made commits")
    if tip is None or await repository.is_ancestor(tip, case.tip):
        return
    if await repository.is_ancestor(case.tip, tip):
        case.tip = tip
        case.undo = case.undo or "the workspace stood at an older commit and was brought back to its branch"
    else:
        await case.keep(tip, "the branch had commits that the workspace's HEAD does not have")


async def _judge_start(case: _Case) -> bool:
    """Whether the tip has to be joined with the start; moves the tip to the start where it does not count."""
    repository, marker = case.repository, case.marker
    if await repository.is_ancestor(marker.start_sha, case.tip):
        return False
    if await repository.is_ancestor(case.tip, marker.start_sha):
        case.tip = marker.start_sha
        case.undo = case.undo or "the branch had been moved back behind its start and was restored"
        return False
    if await repository.is_ancestor(marker.base_sha, case.tip):
        return True
    await case.keep(case.tip, "the workspace's HEAD has nothing to do with the commit it was started at")
    case.tip = marker.start_sha
    case.undo = case.undo or "the branch was restored to its start"
    return False


async def _conclude(case: _Case, snapshot: Snapshot, *, author: Author | None, join: bool) -> Settled:
    repository, marker = case.repository, case.marker
    committed, is_dirty, result = False, snapshot.is_dirty, case.tip
    moves = case.undo != "" or case.tip != case.head
    if moves:
        if snapshot.is_dirty:
            why = case.undo or "the workspace was brought back to its branch"
            ref = await salvage_snapshot(repository, marker.number, snapshot, head=case.head, at=case.at, why=why)
            case.problems.append(f"{why}; uncommitted work is saved as {ref}")
        elif case.undo:
            case.problems.append(case.undo)
        await reset_tree(repository, marker.number, to=case.tip, index=snapshot.index)
        is_dirty = False
    elif author is not None and (snapshot.is_dirty or case.parents):
        parents = (case.tip, *case.parents)
        result = await make_commit(
            repository, tree=snapshot.tree, parents=parents, message=author.message, author=author.identity
        )
        committed, is_dirty = True, False
    if join:
        result = await _join(case, result)
    # Without an author a merge that only waits for its commit is left as it is, for the next run to conclude.
    waits = author is None and case.link.operation in (Operation.MERGE, Operation.PICK) and not moves
    await _write(case, result, snapshot=None if is_dirty else snapshot, keep_operation=waits)
    return Settled(result, committed, is_dirty, (*case.problems, *snapshot.problems))


async def _join(case: _Case, tip: Sha) -> Sha:
    case.problems.append("the run rewrote commits that were pushed before; they were joined, not replaced")
    return await make_commit(
        case.repository,
        tree=await case.repository.tree_of(tip),
        parents=(case.marker.start_sha, tip),
        message="Join the rewritten commits with those pushed before\n",
        author=nightcrew(case.at),
    )


async def _write(case: _Case, result: Sha, *, snapshot: Snapshot | None, keep_operation: bool) -> None:
    """Refs, HEAD and index, in an order in which a crash leaves a state that settles to the same."""
    repository, number, branch = case.repository, case.marker.number, case.marker.branch
    await repository.set_ref(collected_ref(number), result)
    write_ref(repository.agents(number), branch_ref(branch), result)
    if not keep_operation:
        end_operation(repository, number)
    if not is_linked(repository, number, branch):
        case.problems.extend(ensure_link(repository, number, branch))
    if snapshot is not None:
        install_index(repository, number, snapshot.index)


def collected_ref(number: int) -> str:
    """Where the engine's repository keeps the last collected state of a task's branch."""
    return f"refs/nightcrew/heads/{number}"
