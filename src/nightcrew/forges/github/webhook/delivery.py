"""One delivery as GitHub sends it: whether it is signed, whether it matters, and which repository it is about.

GitHub's "Validating webhook deliveries": the header X-Hub-Signature-256 is `sha256=` and the HMAC of the raw body.
Nothing of a body is read before that has been compared.
"""

import hashlib
import hmac
import json
from urllib.parse import parse_qs

from nightcrew.core.ids import is_slug

SIGNATURE, EVENT, DELIVERY = b"x-hub-signature-256", b"x-github-event", b"x-github-delivery"
LARGEST_BYTES = 25 * 1024 * 1024
"""GitHub sends no payload that is larger ("Webhook events and payloads")."""

EVENTS = frozenset(
    {
        "branch_protection_rule", "check_run", "check_suite", "issue_comment", "issues", "label", "member",
        "merge_group", "pull_request", "pull_request_review", "pull_request_review_comment",
        "pull_request_review_thread", "push", "repository", "repository_ruleset", "status", "workflow_run",
    }
)  # fmt: skip
"""Those after which a look may find something new."""


def render_signature(body: bytes, secret: str) -> str:
    """What the header must hold for this body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def is_signed(body: bytes, header: bytes, secret: str) -> bool:
    """Whether the header is the signature of the raw body, compared in constant time."""
    return hmac.compare_digest(render_signature(body, secret).encode(), header)


def find_project(body: bytes, content_type: str) -> str | None:
    """The repository (`owner/name`) that a signed body names; None where it names none or cannot be read. A hook is
    set up to send JSON, or JSON within a form."""
    try:
        if content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
            text = parse_qs(body.decode(), max_num_fields=10, strict_parsing=True).get("payload", [""])[0]
        else:
            text = body.decode()
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return None
    repository = payload.get("repository") if isinstance(payload, dict) else None
    name = repository.get("full_name") if isinstance(repository, dict) else None
    return name if isinstance(name, str) and is_slug(name) else None
