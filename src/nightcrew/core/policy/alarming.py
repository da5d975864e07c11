"""Which cooldowns need a person, what do they have to do, and when does nothing go on at all?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.settings import AgentSettings
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.cooling import NEEDS_PERSON, cooled_until
from nightcrew.core.policy.noticing import Told

AGENT_COOLED = "agent_needs_person"
AGENT_BACK = "agent_works_again"
STANDSTILL = "no_agent_left"
STANDSTILL_OVER = "agents_work_again"

WORTH_TELLING = timedelta(minutes=30)
"""Where every agent is cooled for less than that, and none needs a person, it passes before anybody has read of it."""

_TROUBLE: Mapping[FailureKind, str] = {
    FailureKind.AUTH: "is not logged in any more, or its key is not accepted",
    FailureKind.CREDITS: "has no credits left",
    FailureKind.BILLING: "is refused until something is paid",
    FailureKind.MODEL_NOT_FOUND: "was refused the model that it was started with",
    FailureKind.PERMISSION: "is not permitted to do what it was started for",
}
_TO_DO: Mapping[FailureKind, str] = {
    FailureKind.AUTH: "log it in again",
    FailureKind.CREDITS: "buy credits, or give it another account",
    FailureKind.BILLING: "look at the plan and the payment of its account",
    FailureKind.MODEL_NOT_FOUND: "name another model in `agents.{agent}.models`, or have its account admitted",
    FailureKind.PERMISSION: "look at what its account, its plan and its region allow",
}
_KEYS = ("_KEY", "_TOKEN")


@dataclass(frozen=True, slots=True)
class Standstill:
    """No agent can be used: what each rests for, the first to be back first."""

    rests: tuple[Cooldown, ...]

    @property
    def needs_person(self) -> bool:
        return all(rest.kind in NEEDS_PERSON for rest in self.rests)

    @property
    def back_at(self) -> datetime:
        """When the first of them is back."""
        return self.rests[0].until_at


def told_of_cooldown(
    row: Cooldown, settings: AgentSettings | None, tasks: Iterable[Task], *, login: str, others: Sequence[str]
) -> Told | None:
    """What a person is told of a cooldown that mostly does not pass by waiting; None of any other. `login` is the
    command that logs the agent in, empty if it has none; `others` are the agents that may be used meanwhile."""
    if row.kind not in NEEDS_PERSON:
        return None
    waiting = sum(_waits_for(task, row) for task in tasks)
    words = (
        f"{_who(row)} {_TROUBLE[row.kind]}: {one_line(row.why, 300).rstrip('.')}. "
        f"What to do: {_to_do(row, settings, login)}; then `nightcrew cooldown clear {row.agent}`, "
        f"else it is tried again at {_when(row)}. {_whose(waiting, others)}"
    )
    return Told(AGENT_COOLED, Priority.ACTION, words)


def told_of_return(row: Cooldown) -> Told | None:
    """The end of what `told_of_cooldown` told."""
    if row.kind not in NEEDS_PERSON:
        return None
    return Told(
        AGENT_BACK, Priority.INFO, f"{_who(row)} works again: a run of it ended well ({row.kind.value} is over)"
    )


def find_free_agents(
    agents: Iterable[AgentSettings], cooldowns: Iterable[Cooldown], *, now: datetime
) -> tuple[str, ...]:
    """The agents that may write now, with at least one of their models."""
    rows = tuple(cooldowns)
    return tuple(
        agent.name for agent in agents if agent.enabled and agent.can_author and _first_rest(agent, rows, now) is None
    )


def find_standstill(
    agents: Iterable[AgentSettings], cooldowns: Iterable[Cooldown], *, now: datetime
) -> Standstill | None:
    """Whether every agent that may write is cooled, and for so long that a person should know. `agents` are those whose
    program is there."""
    rows = tuple(cooldowns)
    rests = [_first_rest(agent, rows, now) for agent in agents if agent.enabled and agent.can_author]
    found = [rest for rest in rests if rest is not None]
    if not found or len(found) < len(rests):
        return None
    still = Standstill(tuple(sorted(found, key=lambda rest: (rest.until_at, rest.agent))))
    return still if still.needs_person or still.back_at - now >= WORTH_TELLING else None


def told_of_standstill(still: Standstill, tasks: Iterable[Task]) -> Told:
    """Nothing goes on. It is urgent where only a person can end it."""
    waiting = sum(task.status not in (Status.DONE, Status.BLOCKED) for task in tasks)
    rests = "; ".join(f"{_who(rest)}: {rest.kind.value} until {_when(rest)}" for rest in still.rests)
    priority = Priority.URGENT if still.needs_person else Priority.ACTION
    words = f"No agent can be used now, and {_tasks(waiting)} for one: {rests}. `nightcrew cooldown list` says why"
    return Told(STANDSTILL, priority, words)


def told_of_standstill_over(agent: str) -> Told:
    return Told(STANDSTILL_OVER, Priority.INFO, f"{agent} works again, so tasks go on")


def _first_rest(agent: AgentSettings, rows: tuple[Cooldown, ...], now: datetime) -> Cooldown | None:
    """What the model that is back first rests for; None if one of them may be used now."""
    models = dict.fromkeys(model for listed in agent.models.values() for model in listed) or {"": None}
    rests = [cooled_until(rows, agent=agent.name, model=model, now=now) for model in models]
    found = [rest for rest in rests if rest is not None]
    return min(found, key=lambda rest: rest.until_at) if len(found) == len(rests) else None


def _who(row: Cooldown) -> str:
    return row.agent if row.model is None else f"{row.agent} ({row.model})"


def _when(row: Cooldown) -> str:
    return f"{row.until_at:%Y-%m-%d %H:%M} UTC"


def _waits_for(task: Task, row: Cooldown) -> bool:
    is_open = task.status not in (Status.DONE, Status.BLOCKED)
    return is_open and task.route is not None and row.covers(task.route.agent, task.route.model)


def _to_do(row: Cooldown, settings: AgentSettings | None, login: str) -> str:
    keys = [name for name in (settings.env if settings is not None else ()) if name.endswith(_KEYS)]
    if row.kind is FailureKind.AUTH and keys:
        return f"look at {', '.join(f'`agents.{row.agent}.env.{name}`' for name in keys)}"
    if row.kind is FailureKind.AUTH and login:
        return f"run `{login}` on this machine and log in"
    return _TO_DO[row.kind].format(agent=row.agent)


def _whose(waiting: int, others: Sequence[str]) -> str:
    meanwhile = f"; {', '.join(others)} can be used meanwhile" if others else ""
    return f"{_tasks(waiting).capitalize()} for it{meanwhile}"


def _tasks(count: int) -> str:
    return "one task waits" if count == 1 else f"{count or 'no'} tasks wait"
