"""For how long is an agent, or one model of it, not used after a failure?

A cooldown counts how often in a row its length had to be guessed; one whose time the vendor named counts 0.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.model.cooldown import Cooldown

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

# kind: (base in seconds, maximum in seconds, whether only the model is meant). Kinds that are absent cool nothing.
TABLE: dict[FailureKind, tuple[int, int, bool]] = {
    FailureKind.RATE_LIMIT: (2 * _MINUTE, 4 * _HOUR, False),
    FailureKind.USAGE_WINDOW: (5 * _HOUR, 7 * _DAY, False),
    FailureKind.CREDITS: (1 * _HOUR, 8 * _HOUR, False),
    FailureKind.AUTH: (10 * _MINUTE, 1 * _DAY, False),
    FailureKind.MODEL_NOT_FOUND: (4 * _HOUR, 7 * _DAY, True),
    FailureKind.OVERLOADED: (2 * _MINUTE, 1 * _HOUR, True),
    FailureKind.NETWORK: (1 * _MINUTE, 30 * _MINUTE, False),
    FailureKind.BILLING: (1 * _DAY, 7 * _DAY, True),
    FailureKind.TRUNCATED: (10 * _MINUTE, 2 * _HOUR, True),
    FailureKind.PERMISSION: (30 * _MINUTE, 1 * _DAY, True),
    FailureKind.HANG: (10 * _MINUTE, 4 * _HOUR, True),
    FailureKind.CRASH: (5 * _MINUTE, 1 * _HOUR, True),
}


def cooldown_after(
    failure: Failure, *, agent: str, model: str, known: Iterable[Cooldown], now: datetime
) -> Cooldown | None:
    """The cooldown that a failure leads to: `min(base * 3^(n-1), max)`, n counting this kind for this agent and model;
    the vendor's own time wins where it is given, and while it is in force only a later one of the vendor takes its
    place. None if the kind cools nothing."""
    rule = TABLE.get(failure.kind)
    if rule is None:
        return None
    base_s, max_s, only_model = rule
    scope = model if only_model and model else None
    old = max(
        (row for row in known if row.agent == agent and row.model == scope and row.kind is failure.kind),
        key=lambda row: row.until_at,
        default=None,
    )
    named_at = failure.retry_at if failure.retry_at is not None and failure.retry_at > now else None
    if old is not None and old.count == 0 and old.until_at > (named_at or now):
        return old
    if named_at is not None:
        return Cooldown(agent, scope, failure.kind, named_at, 0, failure.detail)
    count = old.count + 1 if old else 1
    until_at = now + timedelta(seconds=min(base_s * 3 ** min(count - 1, 20), max_s))
    return Cooldown(agent, scope, failure.kind, until_at, count, failure.detail)


def cooled_until(cooldowns: Iterable[Cooldown], *, agent: str, model: str, now: datetime) -> Cooldown | None:
    """The cooldown in force for an agent and model that ends last, or None if it may be used now."""
    in_force = [cooldown for cooldown in cooldowns if cooldown.until_at > now and cooldown.covers(agent, model)]
    return max(in_force, key=lambda cooldown: cooldown.until_at, default=None)
