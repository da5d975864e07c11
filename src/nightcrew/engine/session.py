"""Which sessions are somebody's: those of runs that are open, and of questions that are being answered. All others on
Nightcrew's own server are strays."""

from nightcrew.engine.effect.inquiry import try_run
from nightcrew.ports.store import Store


async def load_claimed(store: Store) -> frozenset[str]:
    """Their names. Sessions are to be listed before this is asked: one that is started in between has a row already."""
    runs = {run.session for run in await store.load_runs(open_only=True)}
    asked = await store.load_inquiries(open_only=True)
    return frozenset(runs | {try_run(one, one.tries[-1]).session for one in asked if one.open_try is not None})
