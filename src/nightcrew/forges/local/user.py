"""Users, bots and apps as the API shows them."""

import base64
from typing import Any
from urllib.parse import quote

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import not_found
from nightcrew.forges.local.store import Row


def node_id(kind: str, number: int) -> str:
    """An opaque global id, stable for one thing."""
    return base64.b64encode(f"{len(kind):03}:{kind}{number}".encode()).decode()


def load_user(call: Call, user_id: int | None) -> Row | None:
    return call.store.find("SELECT * FROM user WHERE id = ?", user_id) if user_id is not None else None


def find_user(call: Call, login: str) -> Row | None:
    return call.store.find("SELECT * FROM user WHERE login = ? AND deleted = 0", login)


def render_user(call: Call, row: Row | None) -> dict[str, Any] | None:
    """The short form; None for an account that was deleted."""
    if row is None or row["deleted"]:
        return None
    login = row["login"]
    url = f"{call.base}/users/{quote(login)}"
    return {
        "login": login,
        "id": row["id"],
        "node_id": node_id("User", row["id"]),
        "avatar_url": f"{call.base}/avatars/u/{row['id']}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{call.base}/apps/{login.removesuffix('[bot]')}"
        if row["type"] == "Bot"
        else f"{call.base}/{login}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": row["type"],
        "user_view_type": "public",
        "site_admin": bool(row["site_admin"]),
    }


def render_user_id(call: Call, user_id: int | None) -> dict[str, Any] | None:
    return render_user(call, load_user(call, user_id))


def association(call: Call, user_id: int) -> str:
    """How a user stands to the repository, in GitHub's words."""
    if user_id == call.repo["owner_id"]:
        return "OWNER"
    row = call.store.find(
        "SELECT 1 FROM collaborator WHERE repository_id = ? AND user_id = ? AND permission <> 'none'",
        call.repo["id"],
        user_id,
    )
    if row:
        return "COLLABORATOR"
    merged = call.store.find(
        "SELECT 1 FROM issue JOIN pull ON pull.issue_id = issue.id WHERE repository_id = ? AND user_id = ?"
        " AND merged_at IS NOT NULL",
        call.repo["id"],
        user_id,
    )
    return "CONTRIBUTOR" if merged else "NONE"


def render_app(call: Call, row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "id": row["id"],
        "slug": row["slug"],
        "node_id": node_id("App", row["id"]),
        "owner": render_user_id(call, row["owner_id"]),
        "name": row["name"],
        "description": "",
        "external_url": f"{call.base}/apps/{row['slug']}",
        "html_url": f"{call.base}/apps/{row['slug']}",
        "created_at": row["created_at"],
        "updated_at": row["created_at"],
        "permissions": {"checks": "write", "contents": "read", "metadata": "read"},
        "events": [],
    }


async def get_authenticated(call: Call) -> Answer:
    row = call.user.user
    return Answer(200, {**(render_user(call, row) or {}), **_profile(call, row)})


async def get_user(call: Call) -> Answer:
    row = find_user(call, call.params["username"])
    if row is None:
        raise not_found()
    return Answer(200, {**(render_user(call, row) or {}), **_profile(call, row)})


def _profile(call: Call, row: Row) -> dict[str, Any]:
    owned = call.store.count("SELECT count(*) FROM repository WHERE owner_id = ? AND private = 0", row["id"])
    nothing = dict.fromkeys(("company", "location", "email", "hireable", "bio", "twitter_username"))
    counts = {"public_repos": owned, "public_gists": 0, "followers": 0, "following": 0}
    created = {"created_at": row["created_at"], "updated_at": row["created_at"]}
    return {"name": row["name"], "blog": "", **nothing, **counts, **created}


ROUTES = [Route("GET", "/user", get_authenticated), Route("GET", "/users/{username}", get_user)]
