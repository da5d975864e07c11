"""One seed: a time with everything that can go wrong, then fair weather until all is done, then rest."""

import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from nightcrew.core.model.delegation import DelegationMode, DelegationSettings
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.issue import Permission
from nightcrew.core.model.landing import LandingState
from nightcrew.core.model.merge import MergeMethod, MergeSettings, MergeStrategy
from nightcrew.core.model.settings import (
    AgentSettings,
    ProjectSettings,
    RouterMode,
    RouterSettings,
    Settings,
)
from tests.engine.part import DEFAULT_FORGE, PERSON, STRANGER
from tests.fakes.store import MemoryStore
from tests.fakes.workspace import FakeWorkspaces
from tests.simulation.engine.ci import Ci
from tests.simulation.engine.crew import Crew
from tests.simulation.engine.machine import Machine
from tests.simulation.engine.outside import LaggingForge, QuietRuntime, World
from tests.simulation.engine.people import People
from tests.simulation.engine.scene import Scene
from tests.simulation.engine.talk import Talk
from tests.simulation.engine.virtual import run_virtually
from tests.simulation.engine.watch import Watch
from tests.simulation.engine.weather import Weather
from tests.simulation.engine.witness import Effects
from tests.simulation.outcome import Outcome

DAY_S = 86_400.0
FINISHED_WITHIN_S = 3 * DAY_S
"""How long after the last fault everything may take: the longest cooldown of the failures that are simulated."""
IDLE_S = 7200.0
TIDY_EVERY_S = 1800.0


def live(seed: int, *, days: float, whole_trace: bool = False) -> Outcome:
    """Live through one seed: `days` of trouble, and what it takes to finish. The same seed gives the same trace."""
    began = time.process_time()
    with tempfile.TemporaryDirectory(prefix="nightcrew-simulation-", dir=_fast_place()) as home:
        main = _live(seed, days, Path(home), whole_trace=whole_trace)
        scene = run_virtually(main, shuffle=random.Random(f"{seed}/order"))
    broken = scene.broken.result() if scene.broken.done() else None
    return Outcome(
        seed,
        days,
        scene.steps,
        merged=scene.counts.get("merges", 0),
        cpu_s=time.process_time() - began,
        rule=broken.rule if broken else "",
        words=broken.words if broken else "",
        trace=(*scene.lines, f"trace {scene.trace}", f"counts {dict(sorted(scene.counts.items()))}"),
    )


def _fast_place() -> str | None:
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None


async def _live(seed: int, days: float, home: Path, *, whole_trace: bool) -> Scene:
    scene = Scene(seed, whole_trace=whole_trace)
    play = scene.loop.create_task(_play(scene, days, home), name="play")
    both: set[asyncio.Future[Any]] = {play, scene.broken}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    play.cancel()
    await asyncio.wait({play})
    if not scene.broken.done():
        await play
    scene.counts["hours"] = int(scene.outside.monotonic() / 3600)
    return scene


def make_settings(chance: random.Random) -> Settings:
    """Three agents, one or two projects, a router in some worlds."""
    agents = ("ann", "bob", "cat")
    slugs = ("acme/widget", "acme/gadget")[: chance.choice((1, 1, 2))]
    router = RouterSettings(RouterMode.MODEL, agent="cat") if chance.random() < 0.3 else RouterSettings()
    merge = MergeSettings()
    if chance.random() < 0.35:
        method = chance.choice((MergeMethod.MERGE, MergeMethod.SQUASH))
        merge = MergeSettings(strategy=MergeStrategy.QUEUE, method=method, batch=chance.choice((1, 2, 4)))
    delegation = DelegationSettings(DelegationMode.AUTO if chance.random() < 0.7 else DelegationMode.ASK)
    return Settings(
        projects={slug: ProjectSettings(slug, merge=merge, delegation=delegation) for slug in slugs},
        agents={name: AgentSettings(name, "fake") for name in agents},
        forges={DEFAULT_FORGE: ForgeSettings(DEFAULT_FORGE)},
        router=router,
    )


def make_world(scene: Scene, settings: Settings, home: Path) -> World:
    forge = LaggingForge(scene, login="nightcrew-bot")
    for slug in settings.projects:
        repository = forge.add_project(slug)
        repository.permissions[PERSON] = Permission.WRITE
        repository.permissions[STRANGER] = Permission.READ
    workspace = FakeWorkspaces(scene.clock, home=home, forge=forge)
    runtime = QuietRuntime(scene)
    return World(MemoryStore(), forge, runtime, workspace, tuple(settings.agents), tuple(settings.projects))


async def _play(scene: Scene, days: float, home: Path) -> None:
    settings = make_settings(scene.chance("settings"))
    world = make_world(scene, settings, home)
    weather, crew, ci = Weather(scene), Crew(scene, world), Ci(scene, world)
    world.runtime.on_start = crew.begin
    effects = Effects(scene, world, crew, ci)
    machine = Machine(scene, world, weather, settings=settings, home=home, witness=effects)
    people, talk = People(scene, world, machine), Talk(scene, world, machine, crew)
    effects.on_intent = crew.on_end = people.meddle
    watch = Watch(scene, world, weather, machine, effects)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(machine.run(), name="machine")
        here = asyncio.current_task()
        machine.owns(running, *([here] if here else []), *asyncio.all_tasks())
        await asyncio.sleep(days * DAY_S)
        scene.note("fair weather from here on")
        weather.clear()
        machine.spare()
        people.stop()
        talk.is_over = True
        crew.is_good = True
        ci.rerun_all()
        await _finish(scene, people, ci, watch)
        await _rest(scene, world, effects)
        watch.end()
        talk.end()
        await machine.switch_off()


async def _finish(scene: Scene, people: People, ci: Ci, watch: Watch) -> None:
    """Everything that can finish does, within a bounded time."""
    until = scene.loop.time() + FINISHED_WITHIN_S
    while not watch.is_finished():
        if scene.loop.time() > until:
            scene.fail(
                "everything finishes",
                f"not finished {FINISHED_WITHIN_S / DAY_S:.0f} days after the last fault: {watch.unfinished()[:6]}",
            )
            return
        people.tidy()
        ci.rerun_all()
        await asyncio.sleep(TIDY_EVERY_S)


async def _rest(scene: Scene, world: World, effects: Effects) -> None:
    """With nothing to do it asks for nothing that counts, and writes nothing."""
    await asyncio.sleep(3700 + MergeSettings().watch_s)
    # Until the last base is no more watched: a merge before the clock was set back is watched for that much longer.
    landings = (task.landing for task in world.store.tasks.values() if task.landing is not None)
    last = max((one.at for one in landings if one.state is LandingState.WATCHED), default=scene.clock.now())
    await asyncio.sleep(max(0.0, (last - scene.clock.now()).total_seconds() + 3700 + MergeSettings().watch_s))
    asked, writes = sum(effects.asked.values()), len(world.store.events)
    await asyncio.sleep(IDLE_S)
    more = sum(effects.asked.values()) - asked
    scene.demand(more == 0, "idle is free", f"{more} counted requests in two hours without anything to do")
    scene.demand(len(world.store.events) == writes, "idle is free", "it wrote events without anything to do")
