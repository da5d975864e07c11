"""For how long is an agent, or one model of it, not used after a failure, and when is a failure forgotten?

A cooldown counts how often in a row its length had to be guessed; one whose time the vendor named counts 0. Counting is
by agent, model and kind of failure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nightcrew.core.failures import Failure, FailureKind, Scope
from nightcrew.core.model.cooldown import COOLDOWN_RULES, Cooldown, CooldownRule
from nightcrew.core.model.run import Run

TABLE = COOLDOWN_RULES
_FREE = "free"
_CLOCK_SLACK = timedelta(minutes=1)
_OF_FREE_TIER = frozenset({FailureKind.RATE_LIMIT, FailureKind.USAGE_WINDOW, FailureKind.PERMISSION})

_OFTEN_OF_THE_TASK = frozenset(
    {FailureKind.CRASH, FailureKind.HANG, FailureKind.TIMEOUT, FailureKind.TRUNCATED, FailureKind.BAD_OUTPUT}
)

NEEDS_PERSON = frozenset(
    {
        FailureKind.CREDITS,
        FailureKind.AUTH,
        FailureKind.BILLING,
        FailureKind.MODEL_NOT_FOUND,
        FailureKind.PERMISSION,
    }
)
"""Kinds that mostly do not pass by waiting: a person is told, once until it worked again."""


def cooldown_after(
    failure: Failure,
    *,
    agent: str,
    model: str,
    known: Iterable[Cooldown],
    now: datetime,
    rules: Mapping[FailureKind, CooldownRule] = COOLDOWN_RULES,
) -> Cooldown | None:
    """The cooldown that a failure leads to: `min(base * 3^(n-1), max)`, n counting this kind for this agent and model;
    the vendor's own time wins where it is given, and while it is in force only a later one of the vendor takes its
    place. None if the failure cools nobody."""
    rule = rules.get(failure.kind)
    if rule is None or failure.scope is Scope.NOBODY:
        return None
    covered = whom(failure.scope or rule.scope, model, kind=failure.kind)
    old = find_row(known, agent=agent, model=covered, kind=failure.kind)
    named_at = failure.retry_at if failure.retry_at is not None and failure.retry_at > now else None
    if old is not None and old.count == 0 and old.until_at > (named_at or now):
        return old
    if named_at is not None:
        return Cooldown(agent, covered, failure.kind, named_at, 0, failure.detail, now)
    count = old.count + 1 if old else 1
    until_at = now + timedelta(seconds=min(rule.base_s * 3 ** min(count - 1, 20), rule.max_s))
    return Cooldown(agent, covered, failure.kind, until_at, count, failure.detail, now)


def charge(
    run: Run,
    known: Iterable[Cooldown],
    *,
    now: datetime,
    rules: Mapping[FailureKind, CooldownRule] = COOLDOWN_RULES,
    of_task: Iterable[Run] = (),
) -> Cooldown | None:
    """The row to write after a run that failed, None if there is nothing to write. A run counts once however often it
    is collected; one that was at work before a guessed cooldown was set met what that one is for, and adds nothing.
    Where another agent failed in the same way before, by the runs `of_task`, the task is to blame, and the agent stays
    free for others."""
    failure = run.outcome.failure if run.outcome is not None else None
    if failure is None or is_of_the_task(run, of_task):
        return None
    rows = tuple(known)
    fresh = cooldown_after(failure, agent=run.agent, model=run.model, known=rows, now=now, rules=rules)
    if fresh is None:
        return None
    old = find_row(rows, agent=fresh.agent, model=fresh.model, kind=fresh.kind)
    if old is not None and (fresh is old or old.run == run.id or (fresh.count and _is_same_trouble(run, old, now))):
        return None
    return replace(fresh, run=run.id)


def is_of_the_task(run: Run, of_task: Iterable[Run]) -> bool:
    """Whether a failure that no vendor explained is one that another agent had on the same task before."""
    failure = run.outcome.failure if run.outcome is not None else None
    if failure is None or failure.kind not in _OFTEN_OF_THE_TASK or failure.retry_at is not None:
        return False
    return any(
        other.agent != run.agent
        and other.task == run.task
        and other.created_at <= run.created_at
        and other.outcome is not None
        and other.outcome.failure is not None
        and other.outcome.failure.kind is failure.kind
        for other in of_task
    )


def credit(run: Run, known: Iterable[Cooldown], *, now: datetime) -> tuple[Cooldown, ...]:
    """The rows that change after a run that ended well, each with one success more. A cooldown in force stays: it came
    up while this run was at work already, and says more about what comes next."""
    rows = [row for row in known if row.covers(run.agent, run.model) and row.until_at <= now and row.run != run.id]
    return tuple(replace(row, successes=row.successes + 1, run=run.id) for row in rows)


def is_forgiven(row: Cooldown, rules: Mapping[FailureKind, CooldownRule] = COOLDOWN_RULES) -> bool:
    """Whether enough runs ended well since, so that the next failure counts anew."""
    rule = rules.get(row.kind)
    return row.successes >= (rule.forgiven_after if rule is not None else 1)


def whom(scope: Scope, model: str, *, kind: FailureKind) -> str | None:
    """What is cooled of an agent, as `Cooldown.model` says it. An agent without a model's name is meant whole. The
    account of `provider/model` has all models of that provider, of which the free ones share limits of their own."""
    if scope is Scope.AGENT or not model:
        return None
    if scope is Scope.MODEL:
        return model
    provider, slash, name = model.partition("/")
    if not slash:
        return None
    return f"{provider}/*{_FREE}*" if _FREE in name and kind in _OF_FREE_TIER else f"{provider}/*"


def cooled_until(cooldowns: Iterable[Cooldown], *, agent: str, model: str, now: datetime) -> Cooldown | None:
    """The cooldown in force for an agent and model that ends last, or None if it may be used now. One whose length was
    guessed is void where it was set in what is the future now: the clock was set back since, and it would last for as
    long as that. A vendor's own time is the world's, whatever the clock said."""
    in_force = [
        cooldown
        for cooldown in cooldowns
        if cooldown.until_at > now and cooldown.covers(agent, model) and not _is_of_the_future(cooldown, now)
    ]
    return max(in_force, key=lambda cooldown: cooldown.until_at, default=None)


def _is_of_the_future(cooldown: Cooldown, now: datetime) -> bool:
    return cooldown.count > 0 and cooldown.since_at is not None and cooldown.since_at > now + _CLOCK_SLACK


def find_row(known: Iterable[Cooldown], *, agent: str, model: str | None, kind: FailureKind) -> Cooldown | None:
    """The row of exactly this agent, model and kind."""
    rows = (row for row in known if row.agent == agent and row.model == model and row.kind is kind)
    return max(rows, key=lambda row: row.until_at, default=None)


def _is_same_trouble(run: Run, old: Cooldown, now: datetime) -> bool:
    if old.since_at is None or _is_of_the_future(old, now):
        return False  # a void one has cooled nobody: this failure is news
    return (run.started_at or run.created_at) < old.since_at and old.until_at > now
