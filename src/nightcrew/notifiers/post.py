"""Sending a notice to somebody's server over HTTP, and what its answer means."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.ports.clock import Clock

TIMEOUT_S = 15.0
_LATER = frozenset({408, 425, 429})
_REFUSED = frozenset({401, 403, 404, 405, 410})


async def post(url: str, body: bytes, *, headers: Mapping[str, str], clock: Clock) -> None:
    """POST `body`, following no redirect (its signature and tokens are for this address alone). Errors as those of
    `ports.notifier`; none names more of the address than its host, since addresses can be secrets."""
    host = httpx.URL(url).host
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=True) as client:
            answer = await client.post(url, content=body, headers=dict(headers))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
        raise Unavailable(f"{host} cannot be reached: {type(error).__name__}") from error
    except httpx.HTTPError as error:
        raise OutcomeUnknown(f"{host} did not answer: {type(error).__name__}") from error
    status = answer.status_code
    if answer.is_success:
        return
    if status in _LATER or status >= 500:
        raise Unavailable(
            f"{host} answered {status}", retry_at=retry_at(answer.headers.get("retry-after"), clock.now())
        )
    if status in _REFUSED or answer.is_redirect:
        raise Denied(f"{host} answered {status}")
    raise Invalid(f"{host} answered {status}")


def retry_at(value: str | None, now: datetime) -> datetime | None:
    """When a `Retry-After` header says to come back: seconds, or a date (RFC 9110, 10.2.3). None if it does not."""
    if not value:
        return None
    if value.strip().isdecimal():
        return now + timedelta(seconds=min(int(value.strip()[:9]), 7 * 86_400))
    try:
        found = parsedate_to_datetime(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
