"""Who asks, which repository is meant, and whether that may be: tokens, renames, privacy, permissions."""

import base64
import binascii
import hashlib
import json
from datetime import datetime

from starlette.requests import Request

from nightcrew.forges.local.call import Actor, Call, Route, rank
from nightcrew.forges.local.error import Refusal, bad_credentials, blocked, forbidden, not_found
from nightcrew.forges.local.moment import parse_moment
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row, Store

_LEVELS = {"read": 1, "write": 2, "admin": 3}


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _token_of(header: str | None) -> str | None:
    scheme, _, rest = (header or "").partition(" ")
    if scheme.lower() in {"bearer", "token"}:
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return None if not header else ""


def find_actor(store: Store, header: str | None, now: datetime) -> Actor | None:
    """The owner of the token of an Authorization header; None for no header, or a token that is not good."""
    token = _token_of(header)
    if not token:
        return None
    row = store.find("SELECT * FROM token WHERE digest = ?", digest(token))
    if row is None:
        return None
    ends = parse_moment(row["expires_at"]) if row["expires_at"] else None
    user = store.get("SELECT * FROM user WHERE id = ?", row["user_id"])
    if user["deleted"] or (ends is not None and ends <= now):
        return None
    app = store.get("SELECT * FROM app WHERE id = ?", row["app_id"]) if row["app_id"] else None
    permissions = json.loads(row["permissions"]) if row["permissions"] else None
    return Actor(user, int(row["id"]), app, permissions)


def get_actor(store: Store, header: str | None, now: datetime) -> Actor | None:
    """The same, but a token that is unknown or has run out is a 401."""
    actor = find_actor(store, header, now)
    if actor is None and header:
        raise bad_credentials()
    return actor


def find_repository(call: Call, request: Request) -> None:
    """Set the repository of the URL. 404 also for a private one without access; a former name redirects."""
    store, params = call.store, call.params
    if "repository_id" in params:
        row = store.find(f"{REPOSITORY} WHERE repository.id = ?", params["repository_id"])
    else:
        row = store.find(f"{REPOSITORY} WHERE login = ? AND repository.name = ?", params["owner"], params["repo"])
    moved = None
    if row is None and "owner" in params:
        moved = store.find(
            f"{REPOSITORY} JOIN former_name ON repository_id = repository.id"
            " WHERE former_name.owner = ? AND former_name.name = ?",
            params["owner"],
            params["repo"],
        )
    call.found = row or moved
    if call.found is None or not call.may("read"):
        raise not_found()
    if moved is not None:
        raise _moved(call, request, moved)
    if call.repo["block"]:
        reason = json.loads(call.repo["block"])
        raise blocked(reason["reason"], created_at=reason["created_at"], html_url=f"{call.base}/tos")


def _moved(call: Call, request: Request, row: Row) -> Refusal:
    rest = request.url.path.removeprefix(request.scope.get("root_path", "")).split("/", 4)[4:]
    url = "/".join([f"{call.base}/repositories/{row['id']}", *rest])
    url += f"?{request.url.query}" if request.url.query else ""
    read = call.method in {"GET", "HEAD"}
    message = "Moved Permanently" if read else "Temporary Redirect"
    return Refusal(301 if read else 307, message, headers={"Location": url}, url=url)


def reload_repository(call: Call) -> None:
    call.found = call.store.get(f"{REPOSITORY} WHERE repository.id = ?", call.repo["id"])


def check_permission(call: Call, route: Route) -> None:
    """403 when the token may not do this, or the person may not; the header names what the token needs."""
    actor = call.actor
    if actor is not None and actor.permissions is not None and route.needs:
        given = actor.permissions
        if not any(_grants(given, need) for need in route.needs.split("; ")):
            kind = "integration" if actor.app else "personal access token"
            raise forbidden(f"Resource not accessible by {kind}", needs=route.needs)
    if rank(route.role) > rank("read") and not call.may(route.role):
        raise forbidden("Must have admin rights to Repository.")


def _grants(given: object, need: str) -> bool:
    name, _, level = need.partition("=")
    if name == "metadata":
        return True
    have = given.get(name) if isinstance(given, dict) else None
    return _LEVELS.get(str(have), 0) >= _LEVELS[level]
