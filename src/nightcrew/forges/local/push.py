"""Noticing what plain git did to a repository since the last look: moved, forced, deleted and merged branches.

Run before each request on a repository, so that a push is seen by the next read. It records; it never moves a branch.
"""

import re
from collections.abc import Mapping

from nightcrew.forges.local.call import Call
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.issue import set_state
from nightcrew.forges.local.rule import requirements
from nightcrew.forges.local.store import Row

OPEN_PULLS = (
    "SELECT pull.*, issue.number, issue.state, issue.user_id, issue.is_pull FROM pull JOIN issue ON issue.id = issue_id"
    " WHERE repository_id = ? AND issue.state = 'open' ORDER BY number"
)
COMMITS_READ = 250
_CLOSING = re.compile(
    r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?P<repo>[\w.-]+/[\w.-]+)?#|https?://[^\s/]+/(?P<url>[\w.-]+/[\w.-]+)/issues/)"
    r"(?P<number>\d{1,9})\b"
)


async def observe_pushes(call: Call) -> None:
    """Compare the branches now with those last seen, and record what follows for pull requests and issues."""
    now = await call.git.heads()
    seen = {
        row["name"]: row["sha"]
        for row in call.live.all("SELECT name, sha FROM branch WHERE repository_id = ?", call.repo["id"])
    }
    if now == seen:
        return
    for pull in call.live.all(OPEN_PULLS, call.repo["id"]):
        await _observe_pull(call, pull, now)
    default = call.repo["default_branch"]
    old, new = seen.get(default), now.get(default)
    if old and new and old != new and await call.git.is_ancestor(old, new):
        for commit in await call.git.commits(f"{old}..{new}", limit=COMMITS_READ):
            close_mentioned(call, commit.message, commit_id=commit.sha)
    with call.live.transaction():
        call.live.run("DELETE FROM branch WHERE repository_id = ?", call.repo["id"])
        for name, sha in now.items():
            call.live.insert("branch", repository_id=call.repo["id"], name=name, sha=sha)
        call.live.update("repository", call.repo["id"], pushed_at=call.at)


async def _observe_pull(call: Call, pull: Row, now: Mapping[str, str]) -> None:
    head, base = now.get(pull["head_ref"]), now.get(pull["base_ref"])
    if base is None and (below := _merged_from(call, pull["base_ref"])) and (base := now.get(below)):
        # As on GitHub: what stood on the branch of a merged pull request goes to where that one was merged.
        with call.live.transaction():
            call.live.update("pull", pull["id"], base_ref=below, base_sha=base)
            record_event(call, pull["issue_id"], "base_ref_changed", actor_id=_pusher(call))
            touch(call, pull["issue_id"])
        pull = call.live.get(f"{OPEN_PULLS.partition(' ORDER')[0]} AND pull.id = ?", call.repo["id"], pull["id"])
    if head is None or base is None:
        with call.live.transaction():
            _close(call, pull)
            if head is None:
                record_event(call, pull["issue_id"], "head_ref_deleted", actor_id=_pusher(call))
        return
    base_moved = base != pull["base_sha"]
    forward = head == pull["head_sha"] or await call.git.is_ancestor(pull["head_sha"], head)
    if head != pull["head_sha"]:
        await _observe_head(call, pull, head, forward=forward)
    contained = await call.git.is_ancestor(head, base)
    if contained and base_moved and forward:
        await _observe_merge(call, pull, head, base=base)
    elif contained:
        with call.live.transaction():
            _close(call, pull)
    elif base_moved:
        call.live.update("pull", pull["id"], base_sha=base)


def _merged_from(call: Call, branch: str) -> str:
    """Where the last pull request from this branch was merged to; empty if none was."""
    found = call.live.find(
        "SELECT base_ref FROM pull JOIN issue ON issue.id = issue_id WHERE repository_id = ? AND head_ref = ?"
        " AND merged_at IS NOT NULL ORDER BY pull.id DESC",
        call.repo["id"],
        branch,
    )
    return str(found["base_ref"]) if found is not None else ""


async def _observe_head(call: Call, pull: Row, head: str, *, forward: bool) -> None:
    await call.git.set_ref(f"refs/pull/{pull['number']}/head", head)
    with call.live.transaction():
        call.live.update("pull", pull["id"], head_sha=head)
        touch(call, pull["issue_id"])
        if not forward:
            record_event(call, pull["issue_id"], "head_ref_force_pushed", commit_id=head, actor_id=pull["user_id"])
        if requirements(call, pull["base_ref"]).dismiss_stale:
            call.live.run(
                "UPDATE review SET state = 'DISMISSED' WHERE issue_id = ? AND state = 'APPROVED'", pull["issue_id"]
            )


async def _observe_merge(call: Call, pull: Row, head: str, *, base: str) -> None:
    """The base was pushed with the head in it: the pull request counts as merged."""
    path = await call.git.text("rev-list", "--ancestry-path", "--first-parent", "--reverse", f"{head}..{base}")
    sha = path.splitlines()[0] if path else head
    with call.live.transaction():
        call.live.update("pull", pull["id"], merged_at=call.at, merged_by=_pusher(call), merge_commit_sha=sha)
        record_event(call, pull["issue_id"], "merged", commit_id=sha, actor_id=_pusher(call))
        _close(call, pull)


def _close(call: Call, pull: Row) -> None:
    call.live.update(
        "issue", pull["issue_id"], state="closed", closed_at=call.at, closed_by=_pusher(call), updated_at=call.at
    )
    record_event(call, pull["issue_id"], "closed", actor_id=_pusher(call))


def _pusher(call: Call) -> int:
    # Plain git over a file path has no account: what it does is booked on the owner.
    return call.actor.id if call.actor and call.may("write") else int(call.repo["owner_id"])


def close_mentioned(call: Call, text: str, *, commit_id: str | None = None) -> list[int]:
    """Close the open issues that `text` says it closes; their numbers."""
    closed = []
    for found in _CLOSING.finditer(text):
        where = found["repo"] or found["url"]
        if where and where.lower() != call.full_name.lower():
            continue
        issue = call.live.find(
            "SELECT * FROM issue WHERE repository_id = ? AND number = ? AND state = 'open' AND is_pull = 0"
            " AND deleted = 0",
            call.repo["id"],
            int(found["number"]),
        )
        if issue is not None:
            set_state(call, issue, "closed", commit_id=commit_id)
            closed.append(int(issue["number"]))
    return closed
