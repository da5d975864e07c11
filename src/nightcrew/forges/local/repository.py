"""Repositories as the API shows them, their collaborators and their branches."""

from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route, rank
from nightcrew.forges.local.commit import render_commit
from nightcrew.forges.local.error import Refusal, forbidden
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.rule import render_branch_protection
from nightcrew.forges.local.user import find_user, node_id, render_user, render_user_id

REPOSITORY = "SELECT repository.*, user.login AS owner FROM repository JOIN user ON user.id = owner_id"

# Where the parts of a repository are, as GitHub's bodies list them: key to the rest of its URL.
_URLS = {
    "archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}", "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}", "contributors_url": "/contributors", "deployments_url": "/deployments",
    "downloads_url": "/downloads", "events_url": "/events", "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks", "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}", "issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}", "languages_url": "/languages", "merges_url": "/merges",
    "milestones_url": "/milestones{/number}", "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}", "releases_url": "/releases{/id}", "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}", "subscribers_url": "/subscribers", "subscription_url": "/subscription",
    "tags_url": "/tags", "teams_url": "/teams", "trees_url": "/git/trees{/sha}",
}  # fmt: skip


def render_minimal(call: Call) -> dict[str, Any]:
    """What other bodies hold of their repository."""
    repo = call.repo
    return {
        "id": repo["id"],
        "node_id": node_id("Repository", repo["id"]),
        "name": repo["name"],
        "full_name": call.full_name,
        "private": bool(repo["private"]),
        "owner": render_user_id(call, repo["owner_id"]),
        "html_url": call.html_url,
        "description": repo["description"],
        "fork": False,
        "url": call.repo_url,
        **{key: call.repo_url + rest for key, rest in _URLS.items()},
    }


def render_repository(call: Call) -> dict[str, Any]:
    repo = call.repo
    issues = call.store.count(
        "SELECT count(*) FROM issue WHERE repository_id = ? AND state = 'open' AND deleted = 0", repo["id"]
    )
    clone = call.git.path.absolute().as_uri()
    zero = ("forks_count", "stargazers_count", "watchers_count", "size", "forks", "watchers")
    return {
        **render_minimal(call),
        "git_url": clone,
        "ssh_url": clone,
        "clone_url": clone,
        "svn_url": call.html_url,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        **dict.fromkeys(zero, 0),
        "default_branch": repo["default_branch"],
        "open_issues_count": issues,
        "open_issues": issues,
        "topics": [],
        "has_issues": bool(repo["has_issues"]),
        **dict.fromkeys(("has_projects", "has_downloads", "has_wiki", "has_pages", "has_discussions"), False),
        "archived": bool(repo["archived"]),
        "disabled": False,
        "is_template": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "visibility": "private" if repo["private"] else "public",
        "pushed_at": repo["pushed_at"],
        "created_at": repo["created_at"],
        "updated_at": repo["updated_at"],
        **({"permissions": _permissions(call)} if call.actor else {}),
    }


def _permissions(call: Call) -> dict[str, bool]:
    return {
        "admin": call.may("admin"), "maintain": call.may("maintain"), "push": call.may("write"),
        "triage": call.may("triage"), "pull": call.may("read"),
    }  # fmt: skip


async def get_repository(call: Call) -> Answer:
    body = {**render_repository(call), "network_count": 0, "subscribers_count": 0}
    if call.may("write"):
        flags = ("allow_merge_commit", "allow_squash_merge", "allow_rebase_merge", "delete_branch_on_merge")
        body |= {name: bool(call.repo[name]) for name in flags}
        body |= {"allow_auto_merge": False, "allow_update_branch": False, "use_squash_pr_title_as_default": False}
        body |= {"squash_merge_commit_title": "COMMIT_OR_PR_TITLE", "squash_merge_commit_message": "COMMIT_MESSAGES"}
        body |= {"merge_commit_title": "MERGE_MESSAGE", "merge_commit_message": "PR_TITLE"}
    return Answer(200, body)


async def get_permission(call: Call) -> Answer:
    """What a user may do here, in the old words (admin, write, read, none), with the fine one as `role_name`."""
    if not call.may("write"):
        raise forbidden("Must have push access to view collaborator permission.")
    row = find_user(call, call.params["username"])
    if row is None:
        raise Refusal(404, f"{call.params['username']} is not a user")
    role = call.permission_of(row["id"])
    old = {"maintain": "write", "triage": "read"}.get(role, role)
    powers = {name: rank(role) >= rank(need) for name, need in _POWERS.items()}
    user = {**(render_user(call, row) or {}), "permissions": powers, "role_name": role}
    return Answer(200, {"permission": old, "role_name": role, "user": user})


_POWERS = {"admin": "admin", "maintain": "maintain", "push": "write", "triage": "triage", "pull": "read"}


async def list_collaborators(call: Call) -> Answer:
    call.require("write")
    rows = call.store.all(
        "SELECT user.* FROM user WHERE deleted = 0 AND (id = ? OR id IN (SELECT user_id FROM collaborator"
        " WHERE repository_id = ? AND permission <> 'none')) ORDER BY id",
        call.repo["owner_id"],
        call.repo["id"],
    )
    people = []
    for row in rows:
        role = call.permission_of(row["id"])
        powers = {name: rank(role) >= rank(need) for name, need in _POWERS.items()}
        people.append({**(render_user(call, row) or {}), "permissions": powers, "role_name": role})
    return page_of(call, people)


async def list_branches(call: Call) -> Answer:
    heads = await call.git.heads()
    return page_of(
        call,
        [
            {
                "name": name,
                "commit": {"sha": sha, "url": f"{call.repo_url}/commits/{sha}"},
                "protected": render_branch_protection(call, name)["enabled"],
            }
            for name, sha in sorted(heads.items())
        ],
    )


async def get_branch(call: Call) -> Answer:
    name = call.params["branch"]
    sha = await call.git.branch(name)
    if sha is None:
        raise Refusal(404, "Branch not found")
    protection = render_branch_protection(call, name)
    url = f"{call.repo_url}/branches/{name}"
    body = {
        "name": name,
        "commit": render_commit(call, await call.git.commit(sha)),
        "_links": {"self": url, "html": f"{call.html_url}/tree/{name}"},
        "protected": protection["enabled"],
        "protection": protection,
        "protection_url": f"{url}/protection",
    }
    return Answer(200, body)


ROUTES = [
    Route("GET", "~", get_repository, needs="metadata=read"),
    Route("GET", "~/collaborators", list_collaborators, needs="metadata=read"),
    Route("GET", "~/collaborators/{username}/permission", get_permission, needs="metadata=read"),
    Route("GET", "~/branches", list_branches, needs="contents=read"),
    Route("GET", "~/branches/{branch:path}", get_branch, needs="contents=read"),
]
