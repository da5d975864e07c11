"""Answers that refuse, in the exact shapes that GitHub uses. Which request is refused is decided elsewhere."""

from collections.abc import Mapping
from typing import Any

DOCS = "https://docs.github.com/rest"


class Refusal(Exception):
    """Ends the handling of a request with this status and body."""

    def __init__(self, status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        self.body: dict[str, Any] = {"message": message, **more, "documentation_url": DOCS, "status": str(status)}


def not_found() -> Refusal:
    return Refusal(404, "Not Found")


def bad_credentials() -> Refusal:
    return Refusal(401, "Bad credentials")


def requires_authentication() -> Refusal:
    return Refusal(401, "Requires authentication")


def bad_json() -> Refusal:
    return Refusal(400, "Problems parsing JSON")


def gone(message: str) -> Refusal:
    return Refusal(410, message)


def forbidden(message: str, *, needs: str = "") -> Refusal:
    return Refusal(403, message, headers={"X-Accepted-GitHub-Permissions": needs} if needs else None)


def blocked(reason: str, *, created_at: str, html_url: str) -> Refusal:
    """451, with the block as people saw it (rest-api-description#3314)."""
    return Refusal(
        451,
        "Repository access blocked",
        block={"reason": reason, "created_at": created_at, "html_url": html_url},
    )


def flaw(resource: str, code: str, field: str = "", message: str = "") -> dict[str, str]:
    """One entry of `errors` in its object form."""
    entry = {"resource": resource, "code": code}
    if field:
        entry["field"] = field
    if message:
        entry["message"] = message
    return entry


def invalid(*flaws: Mapping[str, Any], message: str = "Validation Failed") -> Refusal:
    """422 whose `errors` are objects."""
    return Refusal(422, message, errors=list(flaws))


def unprocessable(*texts: str) -> Refusal:
    """422 whose `errors` are strings, as reviews answer (hubtty#33)."""
    return Refusal(422, "Unprocessable Entity", errors=list(texts))


def not_mergeable(message: str) -> Refusal:
    return Refusal(405, message)


def conflict(message: str) -> Refusal:
    return Refusal(409, message)
