"""Sessions that no run claims, and runs whose session is gone."""

from collections.abc import AsyncIterator
from functools import partial

from nightcrew.core.errors import Conflict
from nightcrew.core.known import Unknown
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.run import Probe
from nightcrew.engine.doctor.ward import Found, Ward
from nightcrew.engine.journal import Subject
from nightcrew.engine.session import load_claimed

MEND = "nightcrew doctor --fix"


async def look_at_sessions(ward: Ward) -> AsyncIterator[Found]:
    """Sessions are listed before the rows are read: one that is started in between has a row already. Sessions of
    others on the same server are not listed at all."""
    ports = ward.means.ports
    sessions = await ports.runtime.list_sessions()
    if isinstance(sessions, Unknown):
        yield Found(Diagnosis("sessions", Level.UNKNOWN, f"which ones live is not known: {sessions.why}"))
        return
    probes = sessions.value.by_name
    runs = {run.session: run for run in await ports.store.load_runs(open_only=True)}
    for name in sorted(set(probes) - await load_claimed(ports.store)):
        words = "belongs to no run that is open"
        yield Found(Diagnosis(f"session {name}", Level.WARNING, words, MEND), partial(_end, ward, name))
    for name, run in sorted(runs.items()):
        if probes.get(name) is not Probe.ALIVE and not ward.is_running:
            words = f"its session has ended, or was never begun; {run.task} goes on from what it left"
            yield Found(Diagnosis(f"run {run.id}", Level.WARNING, words, "start the service: nightcrew serve"))


async def _end(ward: Ward, name: str) -> str:
    ports = ward.means.ports
    if name in await load_claimed(ports.store):
        raise Conflict("a run has it by now")
    await ward.means.journal.effect(
        "session.stop", Subject(), lambda: ports.runtime.stop_session(name), detail=name, mark=name
    )
    await ports.store.record_event(ward.means.event("session.ended", f"session {name} belonged to no run"))
    return "it was ended"
