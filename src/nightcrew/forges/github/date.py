"""What time the forge has: the `Date` of any answer (RFC 9110, 6.6.1), to the second. It takes no token."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from nightcrew.core.errors import Unavailable

TIMEOUT_S = 10.0


async def fetch_date(base_url: str, *, timeout_s: float = TIMEOUT_S) -> datetime:
    """Unavailable if it does not answer, or does not say."""
    try:
        async with httpx.AsyncClient(timeout=timeout_s) as client:
            answer = await client.head(base_url.rstrip("/") + "/")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(f"{base_url} cannot be reached: {str(error) or type(error).__name__}") from error
    try:
        return parsedate_to_datetime(answer.headers["date"]).astimezone(UTC)
    except (KeyError, ValueError) as error:
        raise Unavailable(f"{base_url} does not say what time it is") from error
