"""Who wants to be told of what: the projects whose notices go to a place in a chat, as the person there asked for."""

import json
from collections.abc import Mapping

from nightcrew.core.errors import Conflict
from nightcrew.ports.store import Store

SUBSCRIBED = "chat.subscribed."
"""Values with this name, and the receiver's behind it, hold a JSON list of projects; `*` in it is every project."""
ALL = "*"
BEGUN = "courier.begun."
"""Values with this name, and a receiver's behind it, hold the newest notice that there was when it was new."""


def parse_subscription(text: str | None) -> frozenset[str]:
    """The projects of one receiver; nothing readable is none."""
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return frozenset()
    return frozenset(item for item in found if isinstance(item, str)) if isinstance(found, list) else frozenset()


async def load_subscriptions(store: Store) -> Mapping[str, frozenset[str]]:
    """The projects of every receiver that asked."""
    values = await store.load_values(SUBSCRIBED)
    return {name.removeprefix(SUBSCRIBED): parse_subscription(text) for name, text in values.items()}


async def change_subscription(store: Store, receiver: str, *, project: str | None, is_on: bool) -> bool:
    """Add or take away one project, or all. Whether that changed anything. Conflict where one is to be taken of all."""
    name, wanted = SUBSCRIBED + receiver, project or ALL
    before = parse_subscription(await store.find_value(name))
    if not is_on and project is not None and ALL in before:
        raise Conflict("Notices of all projects come here: /unsubscribe ends them, then /subscribe to those you want")
    after = before | {wanted} if is_on else frozenset() if project is None else before - {wanted}
    if after == before:
        return False
    await store.save_value(name, json.dumps(sorted(after)))
    if not after:
        await store.save_value(BEGUN + receiver, "")  # whoever asks again is told of what comes then
    return True
