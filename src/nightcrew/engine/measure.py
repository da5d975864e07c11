"""What is measured of the running service: taken from what is there already, and only when somebody asks."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from nightcrew.engine.loop import Loop
from nightcrew.ports.measure import Health, Kind, Measure, Sample
from nightcrew.ports.service import AgentStatus, ServiceStatus

Labels = tuple[tuple[str, str], ...]
GAUGE, COUNTER = Kind.GAUGE, Kind.COUNTER


def check_health(loop: Loop) -> Health:
    """How the loop is by what it said itself."""
    overdue_s = loop.beat.overdue_s
    words = f"the loop is {overdue_s:.0f} s late" if overdue_s > 0 else (loop.state.problem or "the loop is at work")
    return Health(overdue_s == 0, words, loop.beat.age_s, overdue_s, loop.state.ticks)


async def take_measures(loop: Loop, status: ServiceStatus) -> tuple[Measure, ...]:
    """Everything that `/metrics` shows."""
    store, clock = loop.means.ports.store, loop.means.ports.clock
    health, free = check_health(loop), loop.means.ports.free_bytes()
    effects = {_with(kind=kind, state=state): n for (kind, state), n in loop.means.journal.settled.items()}
    runs = await store.count_runs()
    ended = {_with(agent=agent, role=role, outcome=end): n for (agent, role, end), n in runs.items()}
    tasks = {
        _with(project=project.slug, status=name): count
        for project in status.projects
        for name, count in project.tasks.items()
    }
    waits = Counter(_with(code=wait.code) for wait in loop.state.decision.waits.values())
    return (
        _one("info", "What runs.", GAUGE, 1, version=status.version),
        _one("up", "1 while the loop comes back when it said.", GAUGE, float(health.is_well)),
        _one("ticks_total", "Looks since the start.", COUNTER, loop.state.ticks),
        _one("tick_seconds_total", "Time that they took.", COUNTER, loop.state.took_s),
        _one("beat_age_seconds", "Since the loop last did something.", GAUGE, health.beat_age_s),
        _one("problems", "Things that a person should look at.", GAUGE, len(status.problems)),
        _one("actions_in_flight", "Actions under way.", GAUGE, len(loop.actor.in_flight)),
        _many("disk_free_bytes", "Room on the disk of the home.", GAUGE, {} if free is None else {(): free}),
        _many("tasks", "Tasks by status.", GAUGE, tasks),
        _many("waits", "Tasks that wait, by why.", GAUGE, waits),
        _many("runs_open", "Runs at work.", GAUGE, _open(status.agents)),
        _many("runs_ended_total", "Runs by how they ended.", COUNTER, ended),
        _many("effects_total", "Effects since the start.", COUNTER, effects),
        _many("cooldown_seconds", "How long agents still rest.", GAUGE, _cooldowns(status.agents, clock.now())),
    )


def _with(**labels: str) -> Labels:
    return tuple(labels.items())


def _open(agents: Iterable[AgentStatus]) -> dict[Labels, float]:
    return {_with(agent=agent.name): agent.running for agent in agents}


def _cooldowns(agents: Iterable[AgentStatus], now: datetime) -> dict[Labels, float]:
    return {
        _with(agent=agent.name, model=cooldown.model or "", kind=cooldown.kind.value): (
            cooldown.until_at - now
        ).total_seconds()
        for agent in agents
        for cooldown in agent.cooldowns
    }


def _one(name: str, words: str, kind: Kind, value: float, **labels: str) -> Measure:
    return Measure(name, words, kind, (Sample(value, labels),))


def _many(name: str, words: str, kind: Kind, values: Mapping[Labels, float]) -> Measure:
    return Measure(name, words, kind, tuple(Sample(values[labels], dict(labels)) for labels in sorted(values)))
