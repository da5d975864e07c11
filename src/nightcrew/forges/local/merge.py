"""Merging a pull request, and bringing its branch up to date. Every refusal and every commit rests on git."""

from collections.abc import Sequence

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import Refusal, conflict, flaw, invalid, not_mergeable
from nightcrew.forges.local.event import record_event
from nightcrew.forges.local.fault import FaultKind
from nightcrew.forges.local.gate import merge_blocks, method_block
from nightcrew.forges.local.git import Commit, Signature
from nightcrew.forges.local.issue import set_state
from nightcrew.forges.local.merge_queue import DEMANDED
from nightcrew.forges.local.mergeability import forge_signature, try_merge
from nightcrew.forges.local.pull import get_pull
from nightcrew.forges.local.pull_view import PULL
from nightcrew.forges.local.push import close_mentioned, observe_pushes
from nightcrew.forges.local.rule import requirements
from nightcrew.forges.local.store import Row

NOT_MERGEABLE = "Pull Request is not mergeable"
DRAFT = "Pull Request is still a draft"
BASE_MOVED = "Base branch was modified. Review and try the merge again."
HEAD_MOVED = "Head branch was modified. Review and try the merge again."
_METHODS = {
    "merge": ("allow_merge_commit", "Merge commits are not allowed on this repository."),
    "squash": ("allow_squash_merge", "Squash merges are not allowed on this repository."),
    "rebase": ("allow_rebase_merge", "Rebase merges are not allowed on this repository."),
}


async def merge(call: Call) -> Answer:
    """200 with the new commit; 409 when `sha` is not the head; 405 with the reason for everything else."""
    row, body = get_pull(call), call.body()
    method = body.get("merge_method") or "merge"
    if method not in _METHODS:
        raise invalid(flaw("PullRequest", "invalid", "merge_method"))
    await _refuse(call, row, sha=body.get("sha"), method=method)
    commits = await call.git.commits(f"{row['base_sha']}..{row['head_sha']}")
    title, text = body.get("commit_title"), body.get("commit_message")
    sha = await _write(call, row, commits, method=method, title=title, text=text)
    moved = await call.git.move_ref(f"refs/heads/{row['base_ref']}", new=sha, old=row["base_sha"])
    if not moved:
        raise not_mergeable(BASE_MOVED)
    _record_merge(call, row, sha)
    if call.repo["delete_branch_on_merge"]:
        await _delete_branch(call, row)
    await observe_pushes(call)
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


async def _refuse(call: Call, row: Row, *, sha: str | None, method: str) -> None:
    if row["merged_at"] or row["state"] == "closed":
        raise not_mergeable(NOT_MERGEABLE)
    if row["draft"]:
        raise not_mergeable(DRAFT)
    if sha is not None and sha != row["head_sha"]:
        raise conflict(HEAD_MOVED)
    setting, refusal = _METHODS[method]
    if not call.repo[setting]:
        raise not_mergeable(refusal)
    barred = method_block(call, row, method)
    if barred:
        raise not_mergeable(barred)
    if requirements(call, row["base_ref"]).merge_queue:
        raise not_mergeable(DEMANDED)
    if call.faults.take(FaultKind.BASE_MOVED, call.method, call.path):
        raise not_mergeable(BASE_MOVED)
    if not await try_merge(call, row):
        raise not_mergeable(NOT_MERGEABLE)
    blocks = await merge_blocks(call, row)
    if blocks:
        raise not_mergeable(" ".join(blocks))


async def _write(
    call: Call, row: Row, commits: Sequence[Commit], *, method: str, title: str | None, text: str | None
) -> str:
    if method == "rebase":
        return await _rebase(call, row, commits)
    tree = await call.git.merge_tree(row["base_sha"], row["head_sha"])
    if tree is None:
        raise not_mergeable(NOT_MERGEABLE)
    if method == "squash":
        own_title, own_text = squash_message(row, commits)
        parents, who = [row["base_sha"]], _signature(call, row["user_id"])
    else:
        own_title = f"Merge pull request #{row['number']} from {call.repo['owner']}/{row['head_ref']}"
        own_text = row["title"]
        parents, who = [row["base_sha"], row["head_sha"]], _signature(call, call.user.id)
    message = (title or own_title) + "\n\n" + (own_text if text is None else text)
    return await call.git.commit_tree(
        tree, parents, message=message.strip() + "\n", author=who, committer=forge_signature(call)
    )


def squash_message(row: Row, commits: Sequence[Commit]) -> tuple[str, str]:
    """GitHub's default: the one commit's own words, else the title and a list of the commits."""
    if len(commits) == 1:
        return (f"{commits[0].subject} (#{row['number']})", commits[0].rest)
    text = "\n\n".join(f"* {commit.message}" for commit in commits)
    return (f"{row['title']} (#{row['number']})", text)


def _signature(call: Call, user_id: int) -> Signature:
    user = call.store.get("SELECT * FROM user WHERE id = ?", user_id)
    return Signature(user["name"] or user["login"], user["email"], call.now.isoformat())


async def _rebase(call: Call, row: Row, commits: Sequence[Commit]) -> str:
    """Replay the commits one by one. The three-way merge of each is git's, over a base made for it."""
    tip = str(row["base_sha"])
    stamp = forge_signature(call)
    for commit in commits:
        if len(commit.parents) > 1:
            continue
        tip_tree = (await call.git.commit(tip)).tree
        parent_tree = (await call.git.commit(commit.parents[0])).tree if commit.parents else None
        if parent_tree is None:
            raise not_mergeable("This branch can't be rebased")
        base = await call.git.commit_tree(parent_tree, [], message="base", author=stamp, committer=stamp)
        ours = await call.git.commit_tree(tip_tree, [base], message="ours", author=stamp, committer=stamp)
        theirs = await call.git.commit_tree(commit.tree, [base], message="theirs", author=stamp, committer=stamp)
        tree = await call.git.merge_tree(ours, theirs)
        if tree is None:
            raise not_mergeable("This branch can't be rebased")
        if tree != tip_tree:
            message = commit.message + "\n"
            tip = await call.git.commit_tree(tree, [tip], message=message, author=commit.author, committer=stamp)
    if tip == row["base_sha"]:
        raise not_mergeable("This branch can't be rebased")
    return tip


def _record_merge(call: Call, row: Row, sha: str) -> None:
    issue = call.store.get("SELECT * FROM issue WHERE id = ?", row["issue_id"])
    with call.store.transaction():
        call.store.update("pull", row["id"], merged_at=call.at, merged_by=call.user.id, merge_commit_sha=sha)
        record_event(call, row["issue_id"], "merged", commit_id=sha)
        set_state(call, issue, "closed")
        if row["base_ref"] == call.repo["default_branch"]:
            close_mentioned(call, row["body"] or "")


async def _delete_branch(call: Call, row: Row) -> None:
    if not await call.git.delete_ref(f"refs/heads/{row['head_ref']}", old=row["head_sha"]):
        return
    record_event(call, row["issue_id"], "head_ref_deleted")
    # Pull requests that were stacked on the branch now go to where it went.
    base = await call.git.branch(row["base_ref"])
    stacked = f"{PULL} WHERE repository_id = ? AND issue.state = 'open' AND base_ref = ?"
    for other in call.store.all(stacked, call.repo["id"], row["head_ref"]):
        call.store.update("pull", other["id"], base_ref=row["base_ref"], base_sha=base)
        record_event(call, other["issue_id"], "automatic_base_change_succeeded")


async def check_merged(call: Call) -> Answer:
    row = get_pull(call)
    if row["merged_at"] is None:
        raise Refusal(404, "Not Found")
    return Answer(204)


async def update_branch(call: Call) -> Answer:
    """Merge the base into the head branch: 202, and done."""
    row = get_pull(call)
    expected = call.body().get("expected_head_sha")
    if expected is not None and expected != row["head_sha"]:
        text = f"expected head sha didn't match current head ref (expected {expected}, was {row['head_sha']})."
        raise Refusal(422, text, errors=[])
    if row["state"] == "closed":
        raise Refusal(422, "Pull request is closed", errors=[])
    if await call.git.is_ancestor(row["base_sha"], row["head_sha"]):
        raise Refusal(422, "There are no new commits on the base branch.", errors=[])
    tree = await call.git.merge_tree(row["head_sha"], row["base_sha"])
    if tree is None:
        raise Refusal(422, "merge conflict between base and head", errors=[])
    sha = await call.git.commit_tree(
        tree,
        [row["head_sha"], row["base_sha"]],
        message=f"Merge branch '{row['base_ref']}' into {row['head_ref']}\n",
        author=_signature(call, call.user.id),
        committer=forge_signature(call),
    )
    if not await call.git.move_ref(f"refs/heads/{row['head_ref']}", new=sha, old=row["head_sha"]):
        raise Refusal(422, "expected head sha didn't match current head ref.", errors=[])
    await observe_pushes(call)
    url = f"{call.repo_url}/pulls/{row['number']}"
    return Answer(202, {"message": "Updating pull request branch.", "url": url})


ROUTES = [
    Route("GET", "~/pulls/{number:int}/merge", check_merged, needs="contents=read"),
    Route("PUT", "~/pulls/{number:int}/merge", merge, needs="contents=write", role="write"),
    Route("PUT", "~/pulls/{number:int}/update-branch", update_branch, needs="pull_requests=write", role="write"),
]
