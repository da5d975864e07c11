"""The keys of `cooldowns:`: for how long each kind of failure cools whom. Defaults are the core's own table."""

from typing import Any, Literal

from pydantic import model_validator

from nightcrew.config.render import render_duration
from nightcrew.config.section import Section
from nightcrew.config.value import Duration, bad_value, key
from nightcrew.core.failures import FailureKind, Scope
from nightcrew.core.model.cooldown import COOLDOWN_RULES, CooldownRule

_RANGE: dict[str, Any] = {"ge": 1, "le": 31 * 86_400}


class CooldownKeys(Section):
    """One kind of failure: `min(base * 3^(n-1), max)`, n counting in a row. A time that the vendor names wins."""

    base: Duration | None = key("The first time, and where the counting starts.", None, **_RANGE)
    max: Duration | None = key("The longest.", None, **_RANGE)
    scope: Literal["agent", "account", "model"] | None = key(
        "Who is cooled where the vendor does not say: the agent, all models of the provider's account, or one model.",
        None,
    )


def _kind(kind: FailureKind, words: str) -> CooldownKeys:
    rule = COOLDOWN_RULES[kind]
    times = f"{render_duration(rule.base_s)} to {render_duration(rule.max_s)}"
    made: CooldownKeys = key(f"{words}: {times}, {rule.scope.value}.", CooldownKeys())
    return made


class CooldownTable(Section):
    """How long agents and models rest, by kind of failure."""

    rate_limit: CooldownKeys = _kind(FailureKind.RATE_LIMIT, "Too many requests at once")
    usage_window: CooldownKeys = _kind(FailureKind.USAGE_WINDOW, "A window of the plan (5 hours, a week) is used up")
    credits: CooldownKeys = _kind(FailureKind.CREDITS, "Prepaid money is gone")
    auth: CooldownKeys = _kind(FailureKind.AUTH, "The login or key is not accepted")
    model_not_found: CooldownKeys = _kind(
        FailureKind.MODEL_NOT_FOUND, "There is no such model, or not for this account"
    )
    overloaded: CooldownKeys = _kind(FailureKind.OVERLOADED, "The vendor's servers are overloaded")
    network: CooldownKeys = _kind(FailureKind.NETWORK, "The vendor was not reached")
    billing: CooldownKeys = _kind(FailureKind.BILLING, "A billing period or plan is used up")
    truncated: CooldownKeys = _kind(FailureKind.TRUNCATED, "Answers are cut")
    permission: CooldownKeys = _kind(FailureKind.PERMISSION, "The CLI or vendor refuses something")
    hang: CooldownKeys = _kind(FailureKind.HANG, "No answer, or silence")
    timeout: CooldownKeys = _kind(FailureKind.TIMEOUT, "The deadline passed")
    crash: CooldownKeys = _kind(FailureKind.CRASH, "The CLI failed, with words that no pattern knows as well")
    bad_output: CooldownKeys = _kind(FailureKind.BAD_OUTPUT, "No readable report")

    @model_validator(mode="after")
    def _base_is_below_max(self) -> "CooldownTable":
        for kind, rule in build_cooldowns(self).items():
            if rule.base_s > rule.max_s:
                base, longest = render_duration(rule.base_s), render_duration(rule.max_s)
                raise bad_value(f"{kind.value}: base {base} is longer than max {longest}")
        return self


def build_cooldowns(table: CooldownTable) -> dict[FailureKind, CooldownRule]:
    """The built-in rules with what the table changes."""
    rules: dict[FailureKind, CooldownRule] = {}
    for kind, rule in COOLDOWN_RULES.items():
        keys: CooldownKeys = getattr(table, kind.value)
        rules[kind] = CooldownRule(
            base_s=rule.base_s if keys.base is None else keys.base,
            max_s=rule.max_s if keys.max is None else keys.max,
            scope=rule.scope if keys.scope is None else Scope(keys.scope),
            forgiven_after=rule.forgiven_after,
        )
    return rules
