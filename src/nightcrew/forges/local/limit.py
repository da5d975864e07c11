"""How much may be asked: GitHub's primary limits and, when switched on, the secondary ones, on the forge's clock."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightcrew.forges.local.error import Refusal

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
CONTENT = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
    "Please retry your request again later."
)
WRITES = frozenset({"POST", "PATCH", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class LimitPolicy:
    """Ceilings; None means not enforced. `github()` gives the documented numbers of github.com."""

    core_per_hour: int = 5000
    anonymous_per_hour: int = 60
    search_per_minute: int = 30
    graphql_per_hour: int = 5000
    points_per_minute: int | None = None
    content_per_minute: int | None = None
    content_per_hour: int | None = None
    retry_after: bool = True
    status: int = 403

    @classmethod
    def github(cls) -> "LimitPolicy":
        return cls(points_per_minute=900, content_per_minute=80, content_per_hour=500)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one user stands with one resource."""

    resource: str
    limit: int
    used: int
    reset_at: datetime

    @property
    def remaining(self) -> int:
        return max(self.limit - self.used, 0)

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(int(self.reset_at.timestamp())),
            "X-RateLimit-Used": str(min(self.used, self.limit)),
            "X-RateLimit-Resource": self.resource,
        }

    def body(self) -> dict[str, int]:
        reset = int(self.reset_at.timestamp())
        return {"limit": self.limit, "used": self.used, "remaining": self.remaining, "reset": reset}


@dataclass(slots=True)
class _Window:
    reset_at: datetime
    used: int = 0


@dataclass(slots=True)
class Limits:
    """Counts per user (0 for requests without a token) and resource."""

    policy: LimitPolicy = field(default_factory=LimitPolicy)
    _windows: dict[tuple[int, str], _Window] = field(default_factory=dict)
    _points: dict[tuple[int, str], deque[tuple[datetime, int]]] = field(default_factory=dict)
    _content: dict[int, deque[datetime]] = field(default_factory=dict)

    def standing(self, user_id: int, resource: str, now: datetime) -> Standing:
        window = self._window(user_id, resource, now)
        return Standing(resource, self._ceiling(user_id, resource), window.used, window.reset_at)

    def count(self, user_id: int, resource: str, now: datetime, *, cost: int = 1) -> None:
        self._window(user_id, resource, now).used += cost

    def exhaust(self, user_id: int, now: datetime, *, reset_at: datetime, resource: str = "core") -> None:
        """Use a user's primary limit up; it comes back at `reset_at`."""
        window = self._window(user_id, resource, now)
        window.used, window.reset_at = self._ceiling(user_id, resource), reset_at

    def refuse_primary(self, user_id: int, resource: str, now: datetime) -> Refusal | None:
        # GraphQL says so in its own words, with status 200.
        if resource == "graphql" or self.standing(user_id, resource, now).remaining > 0:
            return None
        who = f"user ID {user_id}" if user_id else "127.0.0.1"
        return Refusal(self.policy.status, f"API rate limit exceeded for {who}.")

    def refuse_secondary(self, user_id: int, method: str, endpoint: str, now: datetime) -> Refusal | None:
        """Count the request's points, and its content if it makes any; a refusal once either is over its ceiling."""
        policy = self.policy
        if policy.points_per_minute is not None:
            points = self._points.setdefault((user_id, endpoint), deque())
            while points and points[0][0] <= now - timedelta(minutes=1):
                points.popleft()
            if sum(cost for _, cost in points) >= policy.points_per_minute:
                return self._secondary(SECONDARY, points[0][0] + timedelta(minutes=1), now)
            points.append((now, 5 if method in WRITES else 1))
        return self._refuse_content(user_id, now) if method in WRITES else None

    def _refuse_content(self, user_id: int, now: datetime) -> Refusal | None:
        made = self._content.setdefault(user_id, deque())
        while made and made[0] <= now - timedelta(hours=1):
            made.popleft()
        minute = [at for at in made if at > now - timedelta(minutes=1)]
        policy = self.policy
        if policy.content_per_minute is not None and len(minute) >= policy.content_per_minute:
            return self._secondary(CONTENT, minute[0] + timedelta(minutes=1), now)
        if policy.content_per_hour is not None and len(made) >= policy.content_per_hour:
            return self._secondary(CONTENT, made[0] + timedelta(hours=1), now)
        made.append(now)
        return None

    def _secondary(self, message: str, free_at: datetime, now: datetime) -> Refusal:
        wait = str(max(int((free_at - now).total_seconds()), 1))
        headers = {"Retry-After": wait} if self.policy.retry_after else None
        return Refusal(self.policy.status, message, headers=headers)

    def _ceiling(self, user_id: int, resource: str) -> int:
        if resource == "search":
            return self.policy.search_per_minute
        if resource == "graphql":
            return self.policy.graphql_per_hour
        return self.policy.core_per_hour if user_id else self.policy.anonymous_per_hour

    def _window(self, user_id: int, resource: str, now: datetime) -> _Window:
        window = self._windows.get((user_id, resource))
        if window is None or window.reset_at <= now:
            span = timedelta(minutes=1) if resource == "search" else timedelta(hours=1)
            window = self._windows[user_id, resource] = _Window(now + span)
        return window
