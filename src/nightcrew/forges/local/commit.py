"""Commits, and what lies between two of them, as the API shows them."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.diff import EMPTY_TREE, FileChange, diff_files
from nightcrew.forges.local.error import Refusal, conflict, not_found
from nightcrew.forges.local.git import Commit, Signature, is_sha
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.user import node_id, render_user

FILES_SHOWN = 300
COMMITS_SHOWN = 250


def render_signature(signature: Signature) -> dict[str, str]:
    return {"name": signature.name, "email": signature.email, "date": signature.date}


def _account(call: Call, signature: Signature) -> dict[str, Any] | None:
    row = call.store.find("SELECT * FROM user WHERE email = ? AND deleted = 0", signature.email)
    return render_user(call, row)


def verification() -> dict[str, Any]:
    return {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def render_commit(call: Call, commit: Commit) -> dict[str, Any]:
    url, html = f"{call.repo_url}/commits/{commit.sha}", f"{call.html_url}/commit/{commit.sha}"
    return {
        "sha": commit.sha,
        "node_id": node_id("Commit" + commit.sha, call.repo["id"]),
        "commit": {
            "author": render_signature(commit.author),
            "committer": render_signature(commit.committer),
            "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{call.repo_url}/git/trees/{commit.tree}"},
            "url": f"{call.repo_url}/git/commits/{commit.sha}",
            "comment_count": 0,
            "verification": verification(),
        },
        "url": url,
        "html_url": html,
        "comments_url": f"{url}/comments",
        "author": _account(call, commit.author),
        "committer": _account(call, commit.committer),
        "parents": [
            {"sha": sha, "url": f"{call.repo_url}/commits/{sha}", "html_url": f"{call.html_url}/commit/{sha}"}
            for sha in commit.parents
        ],
    }


def render_git_commit(call: Call, commit: Commit) -> dict[str, Any]:
    """The form that the git database endpoints and the timeline use."""
    url = f"{call.repo_url}/git/commits"
    return {
        "sha": commit.sha,
        "node_id": node_id("Commit" + commit.sha, call.repo["id"]),
        "url": f"{url}/{commit.sha}",
        "html_url": f"{call.html_url}/commit/{commit.sha}",
        "author": render_signature(commit.author),
        "committer": render_signature(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{call.repo_url}/git/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [
            {"sha": sha, "url": f"{url}/{sha}", "html_url": f"{call.html_url}/commit/{sha}"} for sha in commit.parents
        ],
        "verification": verification(),
    }


def render_file(call: Call, change: FileChange, *, at_sha: str) -> dict[str, Any]:
    path = quote(change.path)
    body: dict[str, Any] = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{call.html_url}/blob/{at_sha}/{path}",
        "raw_url": f"{call.html_url}/raw/{at_sha}/{path}",
        "contents_url": f"{call.repo_url}/contents/{path}?ref={at_sha}",
    }
    if change.patch is not None:
        body["patch"] = change.patch
    if change.previous_path is not None:
        body["previous_filename"] = change.previous_path
    return body


async def commit_named(call: Call, name: str) -> str:
    """The commit that a ref of the URL names, or a refusal as GitHub words it."""
    sha = await call.git.commit_of(name)
    if sha is None:
        await refuse_empty(call)
        raise Refusal(422, f"No commit found for SHA: {name}")
    return sha


async def refuse_empty(call: Call) -> None:
    """409, as GitHub has it, while there is no branch at all."""
    if not await call.git.heads():
        raise conflict("Git Repository is empty.")


async def get_commit(call: Call) -> Answer:
    sha = await commit_named(call, call.params["ref"])
    commit = await call.git.commit(sha)
    changes = await diff_files(call.git, commit.parents[0] if commit.parents else EMPTY_TREE, sha)
    return Answer(200, {**render_commit(call, commit), **_stats(changes), "files": _files(call, changes, sha)})


def _stats(changes: Sequence[FileChange]) -> dict[str, Any]:
    added, deleted = sum(c.additions for c in changes), sum(c.deletions for c in changes)
    return {"stats": {"total": added + deleted, "additions": added, "deletions": deleted}}


def _files(call: Call, changes: Sequence[FileChange], sha: str) -> list[dict[str, Any]]:
    return [render_file(call, change, at_sha=sha) for change in changes[:FILES_SHOWN]]


async def list_commits(call: Call) -> Answer:
    start = await commit_named(call, call.query.get("sha") or call.repo["default_branch"])
    commits = await call.git.commits(start)
    return page_of(call, [render_commit(call, commit) for commit in reversed(commits)])


async def compare(call: Call) -> Answer:
    """`base...head`, from their merge base, as `git diff base...head` counts it."""
    base_name, dots, head_name = call.params["basehead"].partition("...")
    own = f"{call.repo['owner']}:"
    base = await call.git.commit_of(base_name.removeprefix(own)) if dots else None
    head = await call.git.commit_of(head_name.removeprefix(own)) if dots else None
    if base is None or head is None:
        raise not_found()
    fork = await call.git.merge_base(base, head)
    if fork is None:
        raise Refusal(404, f"No common ancestor between {base_name} and {head_name}.")
    ahead, behind = await call.git.ahead_behind(base, head)
    status = ("diverged" if behind else "ahead") if ahead else ("behind" if behind else "identical")
    commits = await call.git.commits(f"{base}..{head}")
    changes = await diff_files(call.git, fork, head)
    html = f"{call.html_url}/compare/{quote(base_name)}...{quote(head_name)}"
    answer = page_of(call, [render_commit(call, commit) for commit in commits])
    if "per_page" not in call.query and "page" not in call.query:
        answer = Answer(200, [render_commit(call, commit) for commit in commits[-COMMITS_SHOWN:]])
    body = {
        "url": f"{call.repo_url}/compare/{quote(base_name)}...{quote(head_name)}",
        "html_url": html,
        "permalink_url": f"{call.html_url}/compare/{base[:7]}...{head[:7]}",
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "base_commit": render_commit(call, await call.git.commit(base)),
        "merge_base_commit": render_commit(call, await call.git.commit(fork)),
        "status": status,
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": answer.body,
        "files": _files(call, changes, head),
    }
    return Answer(200, body, answer.headers)


async def get_git_commit(call: Call) -> Answer:
    sha = call.params["sha"]
    if not is_sha(sha) or await call.git.kind_of(sha) != "commit":
        raise not_found()
    return Answer(200, render_git_commit(call, await call.git.commit(sha)))


ROUTES = [
    Route("GET", "~/compare/{basehead:path}", compare, needs="contents=read"),
    Route("GET", "~/git/commits/{sha}", get_git_commit, needs="contents=read"),
    Route("GET", "~/commits", list_commits, needs="contents=read"),
    Route("GET", "~/commits/{ref:path}", get_commit, needs="contents=read"),
]
