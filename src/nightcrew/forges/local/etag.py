"""Validators: bound to the URL and the token, weak as soon as the client takes gzip, compared weakly."""

import hashlib


def make_etag(body: bytes, *, url: str, token_id: int) -> str:
    """The opaque part in its quotes, without the weakness mark."""
    digest = hashlib.sha256(b"\0".join((url.encode(), str(token_id).encode(), body)))
    return f'"{digest.hexdigest()}"'


def matches(if_none_match: str, etag: str) -> bool:
    """Weak comparison of a request's If-None-Match with an opaque tag."""
    return any(part.strip().removeprefix("W/") in {etag, "*"} for part in if_none_match.split(","))
