"""One request on its way to a noun: who asks, about which repository, with what; and the answer. No rule lives here."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from starlette.datastructures import QueryParams

from nightcrew.core.errors import Bug
from nightcrew.forges.local.error import Refusal, bad_json, forbidden, requires_authentication
from nightcrew.forges.local.fault import Faults
from nightcrew.forges.local.git import Git
from nightcrew.forges.local.limit import Standing
from nightcrew.forges.local.moment import render_moment
from nightcrew.forges.local.store import Row, Store

RANKS = ("none", "read", "triage", "write", "maintain", "admin")


def rank(permission: str) -> int:
    return RANKS.index(permission)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks. `permissions` limits a token (None: all that the user may); `app` is set for an app's token."""

    user: Row
    token_id: int
    app: Row | None = None
    permissions: Mapping[str, str] | None = None

    @property
    def id(self) -> int:
        return int(self.user["id"])

    @property
    def login(self) -> str:
        return str(self.user["login"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: JSON (`body`), or `raw` bytes of the given type. `links` are page relations."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    media_type: str = "application/json; charset=utf-8"


@dataclass(slots=True)
class Call:
    """All that a noun needs to answer one request."""

    method: str
    path: str
    base: str
    params: Mapping[str, Any]
    query: QueryParams
    content: bytes
    store: Store
    live: Store
    faults: Faults
    now: datetime
    log_key: bytes
    actor: Actor | None = None
    found: Row | None = None
    place: Git | None = None
    accept: str = ""
    authorization: str = ""
    visit: "Callable[[Row], Awaitable[Call | None]] | None" = None
    """The same call within another repository, with what was pushed there seen; None if it may not be seen."""
    standing: Standing | None = None
    cost: int = 1
    """What it takes of the limit, where that is not one."""

    @property
    def at(self) -> str:
        return render_moment(self.now)

    @property
    def repo(self) -> Row:
        if self.found is None:
            raise Bug(f"{self.path} has no repository")
        return self.found

    @property
    def git(self) -> Git:
        if self.place is None:
            raise Bug(f"{self.path} has no repository")
        return self.place

    @property
    def user(self) -> Actor:
        """Who asks; a request without a token is refused."""
        if self.actor is None:
            raise requires_authentication()
        return self.actor

    @property
    def repo_url(self) -> str:
        return f"{self.base}/repos/{self.full_name}"

    @property
    def html_url(self) -> str:
        return f"{self.base}/{self.full_name}"

    @property
    def full_name(self) -> str:
        return f"{self.repo['owner']}/{self.repo['name']}"

    def json(self) -> Any:
        if not self.content:
            return {}
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise bad_json() from error

    def body(self) -> dict[str, Any]:
        """The request's JSON object; anything else is refused."""
        content = self.json()
        if content is None:
            return {}
        if not isinstance(content, dict):
            raise Refusal(422, "Invalid request.\n\nFor 'links/0/schema', the body is not an object.")
        return content

    def permission_of(self, user_id: int) -> str:
        """What a user may do here: none, read, triage, write, maintain or admin."""
        if user_id == self.repo["owner_id"]:
            return "admin"
        row = self.store.find(
            "SELECT permission FROM collaborator WHERE repository_id = ? AND user_id = ?", self.repo["id"], user_id
        )
        floor = "none" if self.repo["private"] else "read"
        return max(floor, str(row["permission"]) if row else "none", key=rank)

    def may(self, permission: str) -> bool:
        """Whether who asks has at least this permission here."""
        if self.actor is None:
            return permission == "read" and not self.repo["private"]
        return rank(self.permission_of(self.actor.id)) >= rank(permission)

    def require(self, permission: str) -> None:
        if not self.may(permission):
            raise forbidden("Must have admin rights to Repository.")


Handle = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `path` starting with `~` is under a repository. `needs` is the token permission, with
    alternatives, as GitHub's X-Accepted-GitHub-Permissions names it; `role` what the person must be there."""

    method: str
    path: str
    handle: Handle
    needs: str = ""
    role: str = "read"
    resource: str = "core"
    is_signed: bool = False
    """Who asks shows a claim signed by an App, which the noun looks at."""


def text_of(body: Mapping[str, Any], field_name: str, default: str = "") -> str:
    """A string field; numbers become text, null the default."""
    value = body.get(field_name)
    return default if value is None else str(value)
