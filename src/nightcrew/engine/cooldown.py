"""What a person may ask about cooldowns: which hold, and to take them off. The same with and without a running loop."""

from collections.abc import Callable, Iterable
from datetime import datetime

from nightcrew.core.errors import Missing
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.ports.service import Answer
from nightcrew.ports.store import Store

_STANDSTILLS = "cooldown.standstills"
"""The value that counts how often people were told that no agent is left, and that was over again."""


async def list_cooldowns(store: Store, *, now: datetime) -> tuple[Cooldown, ...]:
    """Those in force, the one that ends first before the others."""
    rows = [row for row in await store.load_cooldowns() if row.until_at > now]
    return tuple(sorted(rows, key=lambda row: (row.until_at, row.agent, row.model or "")))


async def clear_cooldowns(
    store: Store,
    *,
    agents: Iterable[str],
    agent: str | None,
    model: str | None,
    now: datetime,
    event: Callable[[str, str], Event],
) -> Answer:
    """Take off what `agent` and `model` name (None: any). Rows that have run out go as well, with what they counted."""
    rows = await store.load_cooldowns()
    known = {*agents, *(row.agent for row in rows)}
    if agent is not None and agent not in known:
        raise Missing(f"there is no agent {agent}; there are {', '.join(sorted(known)) or 'none'}")
    wanted = [row for row in rows if agent in (None, row.agent) and (model is None or row.model == model)]
    for name, of in dict.fromkeys((row.agent, row.model) for row in wanted):
        words = f"{render_whom(name, of)} may be used again: a person said so"
        await store.clear_cooldowns(agent=name, model=of, event=event("cooldown.cleared", words))
    if wanted:
        await end_standstill(store)  # what fails from now on is news again
    held = [row for row in wanted if row.until_at > now]
    left = [row for row in rows if row not in wanted and row.until_at > now and agent == row.agent]
    return Answer(bool(wanted), _words(held, left, agent, model), {"cleared": len(held)})


async def standstill_mark(store: Store) -> str:
    """The mark of the notice that no agent is left, the same until that is over."""
    return f"no_agent_left:{await store.find_value(_STANDSTILLS) or '0'}"


async def end_standstill(store: Store) -> None:
    """The next one is another one. Nothing if people were not told of any."""
    if await store.has_notice(await standstill_mark(store)):
        await store.save_value(_STANDSTILLS, str(int(await store.find_value(_STANDSTILLS) or "0") + 1))


def render_whom(agent: str, model: str | None) -> str:
    """An agent, or one model of it, as a person writes it."""
    return agent if model is None else f"{agent}:{model}"


def _words(held: list[Cooldown], left: list[Cooldown], agent: str | None, model: str | None) -> str:
    names = dict.fromkeys(render_whom(row.agent, row.model) for row in held)
    if not names:
        words = "no agent is cooled" if agent is None else f"{render_whom(agent, model)} is not cooled"
    else:
        words = f"{', '.join(names)} may be used again"
    broader = dict.fromkeys(render_whom(row.agent, row.model) for row in left if row.covers(row.agent, model or ""))
    return words + (f"; {', '.join(broader)} is still cooled" if broader and model is not None else "")
