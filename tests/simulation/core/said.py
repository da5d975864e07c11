"""What people say to agents in the simulated world, and what the agents have really heard: once, or never."""

from dataclasses import replace

from nightcrew.core.actions import Action, MergePull, PublishWork, SettleSaying, StartRun
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.saying import Saying, SayingState
from tests.simulation.core.rule import hold
from tests.simulation.core.truth import Effect, Refuse, Simulated

SPEAKS_AFTER_S = 30.0
"""How long a session runs before its agent has answered."""


def say(sim: Simulated, number: int, *, interrupts: bool) -> bool:
    """A person says something; False if nobody can hear it."""
    if number not in sim.tasks or sim.tasks[number].status is Status.DONE:
        return False
    name = f"m{len(sim.sayings)}"
    sim.sayings[name] = Saying(name, sim.key(number), "olga", "use a lock", sim.now, interrupts=interrupts)
    return True


def take(sim: Simulated, run: Run) -> None:
    """The row of a run and the messages that it takes are one transaction."""
    for saying in _of(sim, run.task.number) if run.role is Role.AUTHOR else ():
        if saying.waits:
            sim.sayings[saying.id] = replace(saying, run=run.id)


def note_delivered(sim: Simulated, run: Run) -> None:
    for saying in _of(sim, run.task.number):
        if saying.run == run.id and saying.state is SayingState.QUEUED:
            sim.sayings[saying.id] = replace(saying, state=SayingState.DELIVERED, delivered_at=sim.now)


def speak(sim: Simulated, run: Run) -> bool:
    """An agent answers: it has read its prompt. Whether anybody waits for that."""
    if run.id not in sim.sessions or run.id in sim.not_resumed:
        return False
    sim.spoke.add(run.id)
    heard = [saying.id for saying in _of(sim, run.task.number) if saying.run == run.id]
    for name in heard:
        sim.heard[name] = sim.heard.get(name, 0) + 1
        hold(sim.heard[name] == 1, "a message is heard once", name, run.id)
    return bool(heard)


def settle_saying(sim: Simulated, action: SettleSaying) -> Effect:
    yield
    saying = sim.sayings[action.saying]
    if not saying.is_open or saying.run != action.run:
        raise Refuse("it was settled otherwise meanwhile")
    is_back = action.state is SayingState.QUEUED
    if action.state is SayingState.SEEN:
        hold(sim.heard.get(saying.id) == 1, "seen is heard", saying.id)
    if is_back:
        hold(sim.heard.get(saying.id, 0) == 0, "what was heard is not said again", saying.id)
    sim.sayings[saying.id] = replace(
        saying,
        state=action.state,
        run=None if is_back else action.run,
        tries=saying.tries + is_back,
        why=action.why,
        session=action.session,
    )


def check_said(sim: Simulated, action: Action) -> None:
    """Nothing is published, reviewed or merged while a message may change it."""
    is_onward = isinstance(action, PublishWork | MergePull)
    is_onward = is_onward or (isinstance(action, StartRun) and action.role is Role.REVIEWER)
    if is_onward:
        waiting = [saying.id for saying in _of(sim, action.task.number) if saying.is_open]
        hold(not waiting, "messages come first", action.key, waiting)


def check_all_settled(sim: Simulated) -> None:
    """In the end each message was heard, or is known not to have been."""
    for saying in sim.sayings.values():
        heard, is_over = sim.heard.get(saying.id, 0), "its task was done" in saying.why
        hold(not saying.is_open, "each message is settled", saying)
        hold(saying.state is not SayingState.UNDELIVERED or not heard or is_over, "undelivered is not heard", saying)


def _of(sim: Simulated, number: int) -> list[Saying]:
    return [saying for saying in sim.sayings.values() if saying.task.number == number]
