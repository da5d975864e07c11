"""GitHub's limits, obeyed: while one is in force no request is made, and the caller is told until when at once.

Primary: a budget per hour and resource, told by headers. Secondary: told by a 403 or 429, with Retry-After or without;
without, at least a minute and growing ("Best practices for using the REST API"). The forge's own clock decides how long
a reset is away, since ours may be wrong.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github.classify import is_limited
from nightcrew.forges.github.client import Answer
from nightcrew.ports.clock import Clock

FIRST_WAIT_S = 60.0
LONGEST_WAIT_S = 3600.0
_ALL = "all"


class Limits:
    """What is closed until when, for one forge and one token."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._closed_until: dict[str, datetime] = {}
        self._strikes = {True: 0, False: 0}

    def check(self, url: str) -> None:
        """Raises Unavailable(retry_at) while a limit is in force for requests like this one."""
        until = self.closed_until(resource_of(url))
        if until is not None:
            raise Unavailable(f"rate limit of the forge, again after {until:%Y-%m-%d %H:%M:%S} UTC", retry_at=until)

    def closed_until(self, resource: str) -> datetime | None:
        """Until when nothing is asked of this resource; None if it may be."""
        now = self._clock.now()
        until = max((self._closed_until[name] for name in (_ALL, resource) if name in self._closed_until), default=now)
        return until if until > now else None

    def closed(self) -> Mapping[str, datetime]:
        """The limits in force."""
        return {name: until for name, until in self._closed_until.items() if until > self._clock.now()}

    def close(self, name: str, until: datetime) -> None:
        """A limit that is known to be in force until then."""
        self._closed_until[name] = max(until, self._closed_until.get(name, until))

    def observe(self, answer: Answer, *, is_write: bool) -> datetime | None:
        """Take note of an answer; if it is a limit, from when on to try again."""
        resource = answer.headers.get("x-ratelimit-resource") or resource_of(answer.url)
        used_up = answer.headers.get("x-ratelimit-remaining") == "0"
        if not is_limited(answer):
            if answer.status < 400:
                self._strikes[is_write] = 0
            if used_up:
                self._close(resource, self._until_reset(answer))
            return None
        self._strikes[is_write] += 1
        after = parse_retry_after(answer)
        if after is None and used_up and "x-ratelimit-reset" in answer.headers:
            return self._close(resource, self._until_reset(answer))
        growing = min(FIRST_WAIT_S * 2 ** (self._strikes[is_write] - 1), LONGEST_WAIT_S)
        return self._close(_ALL, max(after, 1.0) if after is not None else growing)

    def _close(self, resource: str, wait_s: float) -> datetime:
        self.close(resource, self._clock.now() + timedelta(seconds=wait_s))
        return self._closed_until[resource]

    def _until_reset(self, answer: Answer) -> float:
        """Seconds to the reset as the forge sees it, and one more; a minute if it does not say."""
        reset_s = self.find_reset_s(answer)
        return FIRST_WAIT_S if reset_s is None else reset_s

    def find_reset_s(self, answer: Answer) -> float | None:
        """The same; None if it does not say."""
        try:
            reset = datetime.fromtimestamp(int(answer.headers["x-ratelimit-reset"]), UTC)
        except (KeyError, ValueError, OverflowError, OSError):
            return None
        there = _parse_date(answer.headers.get("date", "")) or self._clock.now()
        return min(max((reset - there).total_seconds(), 0.0), 2 * LONGEST_WAIT_S) + 1.0


def resource_of(url: str) -> str:
    """Which of GitHub's budgets a request is charged to."""
    path = urlsplit(url).path
    if path.endswith("/graphql"):
        return "graphql"
    return "search" if "/search/" in path else "core"


def parse_retry_after(answer: Answer) -> float | None:
    """Seconds to wait by the header of that name, which holds seconds or a date; None without it."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(min(int(text), 24 * 3600))
    at, there = _parse_date(text), _parse_date(answer.headers.get("date", ""))
    return (at - there).total_seconds() if at is not None and there is not None else None


def _parse_date(text: str) -> datetime | None:
    try:
        parsed = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
