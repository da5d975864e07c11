"""What `opencode:free` stands for: asked at start and then hourly, beside the loop, and kept in the store. A listing
that fails or is empty changes nothing."""

import asyncio
import json
from collections.abc import Callable

from nightcrew.core.errors import ConfigError, PortError
from nightcrew.core.model_list import find_free, list_askers
from nightcrew.engine.effect.means import Means
from nightcrew.engine.view.model_list import PREFIX, parse_list

LIST_EVERY_S = 3600.0
RETRY_AFTER_S = 300.0
LIST_TIMEOUT_S = 60.0


async def watch_models(means_now: Callable[[], Means], wake: Callable[[], None]) -> None:
    """Keep the lists true, by what is in force at the time. Runs for ever."""
    while True:
        try:
            whole = await refresh_models(means_now(), wake)
        except PortError:
            whole = False  # the store does not answer
        await asyncio.sleep(LIST_EVERY_S if whole else RETRY_AFTER_S)


async def refresh_models(means: Means, wake: Callable[[], None]) -> bool:
    """Ask once for each agent that needs it; True if all answered."""
    results = [await _refresh(means, name, wake) for name in list_askers(means.settings)]
    return all(results)


async def _refresh(means: Means, agent: str, wake: Callable[[], None]) -> bool:
    store = means.ports.store
    try:
        async with asyncio.timeout(LIST_TIMEOUT_S):
            env = means.ports.resolve_env(means.settings.agents[agent])
            free = find_free(await means.ports.list_models(means.ports.agents[agent], env))
        why = "" if free else "it named no free model"
    except TimeoutError:
        free, why = (), f"no answer within {LIST_TIMEOUT_S:g} s"
    except (PortError, ConfigError) as error:  # the second: one of its variables cannot be had now
        free, why = (), str(error)
    if why:
        await store.record_event(means.event("models.not_listed", f"{agent}: {why}; the last list is kept"))
        return False
    known = await store.find_value(PREFIX + agent)
    if known is None or parse_list(known) != free:
        await store.save_value(PREFIX + agent, json.dumps(free))
        await store.record_event(means.event("models.listed", f"{agent}: {', '.join(free)}"))
        wake()
    return True
