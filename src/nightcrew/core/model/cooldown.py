"""Until when an agent, or some models of it, are not used; and how long that is, by kind of failure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.failures import FailureKind, Scope
from nightcrew.core.ids import RunId

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Cooldown:
    """One row of the only table that answers "may this agent be used now". `model` None means the whole agent; a `*` in
    it stands for anything, so that `opencode/*` is every model of that provider. `count` says how often in a row its
    length had to be guessed, `successes` how many runs in a row ended well since; `since_at` is when it was set, `run`
    the run that it was last counted for."""

    agent: str
    model: str | None
    kind: FailureKind
    until_at: datetime
    count: int
    why: str
    since_at: datetime | None = None
    successes: int = 0
    run: RunId | None = None

    def covers(self, agent: str, model: str) -> bool:
        return self.agent == agent and (self.model is None or _matches(self.model, model))


def _matches(pattern: str, model: str) -> bool:
    if "*" not in pattern:
        return pattern == model
    first, *rest = pattern.split("*")
    if not model.startswith(first):
        return False
    at = len(first)
    for part in rest:
        found = model.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return rest[-1] == "" or model.endswith(rest[-1])


@dataclass(frozen=True, slots=True)
class CooldownRule:
    """How long a kind of failure cools, `min(base * 3^(n-1), max)`, and whom, where the words do not say. After so many
    successes in a row (`forgiven_after`) it counts anew: one shows that a limit has passed, but a model that fails
    every second time is not mended by every other one."""

    base_s: float
    max_s: float
    scope: Scope
    forgiven_after: int = 1


COOLDOWN_RULES: Mapping[FailureKind, CooldownRule] = {
    FailureKind.RATE_LIMIT: CooldownRule(2 * _MINUTE, 4 * _HOUR, Scope.MODEL),
    FailureKind.USAGE_WINDOW: CooldownRule(5 * _HOUR, 7 * _DAY, Scope.MODEL),
    FailureKind.CREDITS: CooldownRule(1 * _HOUR, 8 * _HOUR, Scope.ACCOUNT),
    FailureKind.AUTH: CooldownRule(10 * _MINUTE, 1 * _DAY, Scope.ACCOUNT),
    FailureKind.MODEL_NOT_FOUND: CooldownRule(4 * _HOUR, 7 * _DAY, Scope.MODEL),
    FailureKind.OVERLOADED: CooldownRule(2 * _MINUTE, 1 * _HOUR, Scope.MODEL),
    FailureKind.NETWORK: CooldownRule(1 * _MINUTE, 30 * _MINUTE, Scope.ACCOUNT),
    FailureKind.BILLING: CooldownRule(1 * _DAY, 7 * _DAY, Scope.MODEL),
    FailureKind.TRUNCATED: CooldownRule(10 * _MINUTE, 2 * _HOUR, Scope.MODEL, 3),
    FailureKind.PERMISSION: CooldownRule(30 * _MINUTE, 1 * _DAY, Scope.MODEL),
    FailureKind.HANG: CooldownRule(10 * _MINUTE, 4 * _HOUR, Scope.MODEL, 3),
    FailureKind.TIMEOUT: CooldownRule(5 * _MINUTE, 1 * _HOUR, Scope.MODEL, 3),
    FailureKind.CRASH: CooldownRule(5 * _MINUTE, 1 * _HOUR, Scope.MODEL),
    FailureKind.BAD_OUTPUT: CooldownRule(2 * _MINUTE, 4 * _HOUR, Scope.MODEL, 3),
}
"""The built-in table. Kinds that are absent are about the task, and cool nobody."""
