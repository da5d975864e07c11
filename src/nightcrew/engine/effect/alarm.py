"""Telling a person that an agent needs them, and that it works again: once while it lasts, whatever fails meanwhile."""

from collections.abc import Iterable

from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import AgentSettings
from nightcrew.core.policy.alarming import (
    find_free_agents,
    find_standstill,
    told_of_cooldown,
    told_of_return,
    told_of_standstill,
    told_of_standstill_over,
)
from nightcrew.core.policy.cooling import NEEDS_PERSON
from nightcrew.core.policy.noticing import Told
from nightcrew.engine.cooldown import end_standstill, standstill_mark
from nightcrew.engine.effect.means import Means
from nightcrew.ports.agent import TellsLogin


async def cooldown_notice(means: Means, row: Cooldown, known: Iterable[Cooldown], run: Run) -> Notice | None:
    """What a person is told of this cooldown, if it needs one. `known` are those that there were before it."""
    if row.kind not in NEEDS_PERSON:
        return None
    adapter = means.find_adapter(run)
    others = find_free_agents(_present(means), (*known, row), now=means.ports.clock.now())
    told = told_of_cooldown(
        row,
        means.settings.agents.get(row.agent),
        await means.ports.store.load_tasks(),
        login="" if adapter is None or not isinstance(adapter, TellsLogin) else adapter.login_command(),
        others=[name for name in others if name != row.agent],
    )
    return None if told is None else _notice(means, told)


async def tell_return(means: Means, row: Cooldown) -> None:
    """A cooldown that a person was told of is over. To be called before its row goes, so that a crash loses nothing."""
    told = told_of_return(row)
    if told is not None:
        since = row.since_at.isoformat() if row.since_at is not None else ""
        mark = f"{told.kind}:{row.agent}:{row.model or ''}:{row.kind.value}:{since}"
        await means.ports.store.record_notice(_notice(means, told, mark=mark))


async def tell_standstill(means: Means) -> None:
    """After a run that failed: say so if no agent is left, unless that was said and none has worked since."""
    store, now = means.ports.store, means.ports.clock.now()
    still = find_standstill(_present(means), await store.load_cooldowns(), now=now)
    if still is not None:
        told = told_of_standstill(still, await store.load_tasks())
        await store.record_notice(_notice(means, told, mark=await standstill_mark(store)))


async def tell_standstill_over(means: Means, run: Run) -> None:
    """After a run that ended well."""
    store = means.ports.store
    mark = await standstill_mark(store)
    if await store.has_notice(mark):
        await store.record_notice(_notice(means, told_of_standstill_over(run.agent), mark=f"{mark}:over"))
        await end_standstill(store)


def _present(means: Means) -> list[AgentSettings]:
    """The agents whose program is there."""
    adapters, find = means.ports.agents, means.ports.find_program
    return [
        agent
        for name, agent in means.settings.agents.items()
        if name in adapters and find(adapters[name].program) is not None
    ]


def _notice(means: Means, told: Told, *, mark: str = "") -> Notice:
    return means.notice(told.kind, told.priority, told.words, task=None, mark=mark)
