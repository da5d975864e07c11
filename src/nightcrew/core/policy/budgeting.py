"""What has a task used over all its roles, and may it use more?

It is counted since a person last reset the task, always; it is enforced only where the project sets a budget.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import Budget
from nightcrew.core.model.task import Block

LEAST_RUN_S = 60.0
"""With less wall time than this left no further run is worth starting."""
_SLACK_S = 60.0
"""How much longer than its deadline a run can have taken: what a wall clock says beyond that is not true."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Runs, their wall time in seconds, and their tokens (in and out) and cost as far as the CLIs tell; None: none of
    them did."""

    runs: int = 0
    wall_s: float = 0.0
    tokens: int | None = None
    cost_usd: float | None = None


def spent_by(runs: Iterable[Run], *, since: datetime | None) -> Spent:
    """What the runs of a task have used since it was last reset. A run at work counts as a run already."""
    counted = [run for run in runs if since is None or run.created_at > since]
    usages = [run.outcome.usage for run in counted if run.outcome is not None]
    tokens = [
        (usage.input_tokens or 0) + (usage.output_tokens or 0)
        for usage in usages
        if usage.input_tokens is not None or usage.output_tokens is not None
    ]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return Spent(
        runs=len(counted),
        wall_s=sum(_wall_of(run) for run in counted),
        tokens=sum(tokens) if tokens else None,
        cost_usd=sum(costs) if costs else None,
    )


def over_budget(spent: Spent, budget: Budget) -> Block | None:
    """The block of a task that may not start a further run, else None."""
    reasons: list[str] = []
    if budget.runs is not None and spent.runs >= budget.runs:
        reasons.append(f"{spent.runs} of {budget.runs} runs")
    if budget.wall_s is not None and budget.wall_s - spent.wall_s < LEAST_RUN_S:
        reasons.append(f"{_minutes(spent.wall_s)} of {_minutes(budget.wall_s)}")
    if budget.tokens is not None and (spent.tokens or 0) >= budget.tokens:
        reasons.append(f"{spent.tokens or 0:,} of {budget.tokens:,} tokens")
    if budget.cost_usd is not None and (spent.cost_usd or 0.0) >= budget.cost_usd:
        reasons.append(f"{spent.cost_usd or 0.0:.2f} of {budget.cost_usd:.2f} USD")
    if not reasons:
        return None
    words = f"its budget is used up: {', '.join(reasons)}; it is counted anew from when the task is let go on."
    return Block("budget", words)


def cut_deadline(deadline_s: float, spent: Spent, budget: Budget) -> float:
    """The deadline of a further run: no more wall time than is left."""
    return deadline_s if budget.wall_s is None else min(deadline_s, budget.wall_s - spent.wall_s)


def describe_spent(spent: Spent) -> str:
    """`3 runs, 12 min, 45,000 tokens, 0.31 USD`, with what is known."""
    parts = [f"{spent.runs} run{'' if spent.runs == 1 else 's'}", _minutes(spent.wall_s)]
    if spent.tokens is not None:
        parts.append(f"{spent.tokens:,} tokens")
    if spent.cost_usd is not None:
        parts.append(f"{spent.cost_usd:.2f} USD")
    return ", ".join(parts)


def _wall_of(run: Run) -> float:
    if run.started_at is None or run.ended_at is None:
        return 0.0
    took_s = (run.ended_at - run.started_at).total_seconds()
    return min(max(0.0, took_s), run.deadline_s + _SLACK_S)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
