"""Once at start: what a dead service left open is marked as not known, and sessions that no run claims are ended.
Everything else is found by looking, like at any other time."""

from nightcrew.core.errors import PortError
from nightcrew.core.known import Unknown
from nightcrew.core.model.event import Event
from nightcrew.engine.ports import Ports
from nightcrew.engine.session import load_claimed


async def recover(ports: Ports) -> tuple[str, ...]:
    """Settle the journal and end stray sessions; returns what was found, in words."""
    found: list[str] = []
    now = ports.clock.now()
    for effect in await ports.store.load_effects(open_only=True):
        await ports.store.settle_effect(effect.id, state="unknown", detail="the service ended in between", at=now)
        words = f"{effect.kind} was cut short; whether it took effect is looked for"
        await ports.store.record_event(Event("effect.unknown", words, now, effect.task, effect.run))
        found.append(words)
    # Sessions are listed before the rows are read: one that is started in between has a row already.
    sessions = await ports.runtime.list_sessions()
    if isinstance(sessions, Unknown):
        return (*found, f"which sessions live is not known ({sessions.why})")
    claimed = await load_claimed(ports.store)
    for name in sorted(set(sessions.value.by_name) - claimed):
        try:
            await ports.runtime.stop_session(name)
        except PortError as error:
            found.append(f"session {name} belongs to no run, and could not be ended: {error}")
        else:
            found.append(f"session {name} belonged to no run, and was ended")
    return tuple(found)
