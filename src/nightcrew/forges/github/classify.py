"""What a refusing answer means: rate limit, permission, not found, gone, blocked, conflict, validation or trouble.

The status alone does not tell: 403 is a limit or a permission, 404 is an absence or a permission. The texts looked for
are those that people met and GitHub documents ("Rate limits for the REST API", "Troubleshooting the REST API").
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nightcrew.core.errors import Conflict, Denied, Invalid, Missing, PortError, Unavailable
from nightcrew.forges.github.client import Answer

WORDS_AT_MOST = 500
PERMISSIONS_HEADER = "x-accepted-github-permissions"

_LIMIT_WORDS = ("rate limit", "abuse detection", "blocked from content creation", "too many requests")
_PERMISSION_WORDS = ("not accessible by", "must have", "permission", "not authorized", "forbids access", "saml")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a refusing body says. `details` are the texts of its `errors`, `codes` their machine-readable codes."""

    message: str
    codes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it on one line."""
        more = "; ".join(detail for detail in self.details if detail)
        return f"{self.message} ({more})" if more else self.message

    def says(self, words: str) -> bool:
        return words.lower() in self.text.lower()


def parse_complaint(answer: Answer) -> Complaint:
    """Read a refusing body. `errors` may hold objects or plain strings; a body that is not JSON says nothing."""
    try:
        body = json.loads(answer.content)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return Complaint(f"HTTP {answer.status}")
    errors = body.get("errors")
    entries = errors if isinstance(errors, list) else [errors] if isinstance(errors, str) else []
    codes = tuple(_clean(entry["code"]) for entry in entries if isinstance(entry, dict) and entry.get("code"))
    details = tuple(_detail(entry) for entry in entries)
    message = _clean(body.get("message") or f"HTTP {answer.status}")
    block = body.get("block")
    if isinstance(block, dict):
        details += (_clean(block.get("reason") or ""), _clean(block.get("html_url") or ""))
    return Complaint(message, codes, details)


def _detail(entry: Any) -> str:
    if not isinstance(entry, dict):
        return _clean(entry)
    said = entry.get("message")
    return _clean(said) if said else _clean(" ".join(str(entry[key]) for key in ("field", "code") if entry.get(key)))


def _clean(text: Any) -> str:
    return _UNPRINTABLE.sub(" ", str(text)).strip()[:WORDS_AT_MOST]


def is_limited(answer: Answer) -> bool:
    """Whether this answer is a rate limit, primary or secondary. A permission error that happens to use up the last
    request of the hour is not one."""
    if answer.status == 429:
        return True
    if answer.status != 403:
        return False
    complaint = parse_complaint(answer)
    if "retry-after" in answer.headers or any(complaint.says(words) for words in _LIMIT_WORDS):
        return True
    used_up = answer.headers.get("x-ratelimit-remaining") == "0"
    return used_up and not any(complaint.says(words) for words in _PERMISSION_WORDS)


def parse_error(
    answer: Answer, *, what: str, mask: Callable[[str], str], retry_at: datetime | None = None
) -> PortError:
    """The typed error of an answer that is no success. `what` is the request in words; `retry_at` is used for limits
    and trouble."""
    complaint = parse_complaint(answer)
    said = mask(f"{what}: {complaint.text}")
    if is_limited(answer):
        until = f", again after {retry_at:%Y-%m-%d %H:%M:%S} UTC" if retry_at else ""
        return Unavailable(f"rate limit{until}: {said}", retry_at=retry_at)
    match answer.status:
        case 401:
            return Denied(f"{said}. The token is not valid: it may have expired or been revoked")
        case 403:
            needed = _clean(answer.headers.get(PERMISSIONS_HEADER, ""))
            return Denied(said + (f" (needs {needed})" if needed else ""), needed=needed)
        case 404:
            return Missing(f"{said}. It is not there, or the token may not see it")
        case 410:
            return Missing(said, gone=True)
        case 451:
            return Denied(f"blocked by the forge: {said}")
        case 409:
            return Conflict(said)
        case status if status >= 500:
            return Unavailable(said, retry_at=retry_at)
        case _:
            return Invalid(said, codes=complaint.codes)
