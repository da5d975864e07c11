"""A home in full swing: many open issues that are tasks, some of them with an agent at work in a session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from bench.seed import EMPTY_REPOSITORY, record_tasks, run_of, seed_issues, task_of
from bench.stage import FOREVER, environment, until
from nightcrew.config.home import Home
from nightcrew.config.load import Configuration
from nightcrew.core.actions import TellPerson
from nightcrew.core.decide import decide
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.task import Task
from nightcrew.engine.effect.means import Means
from nightcrew.forges.local.forge import LocalForge
from nightcrew.ports.runtime import SessionSpec
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.service.clock import SystemClock
from nightcrew.service.compose import Composed, composed
from nightcrew.service.local import OWNER, owner_token
from nightcrew.store.sqlite import SqliteStore

SLUG = "local/busy"


@dataclass(frozen=True, slots=True)
class Crowd:
    """`tasks` issues, of which the first `sessions` are being worked on; the others wait for a free place."""

    tasks: int
    sessions: int

    def list_tasks(self) -> list[Task]:
        return [task_of(SLUG, number, status=self._status(number)) for number in range(1, self.tasks + 1)]

    def labels(self, number: int) -> tuple[str, ...]:
        return ("nightcrew", self._status(number).label)

    def _status(self, number: int) -> Status:
        return Status.IN_PROGRESS if number <= self.sessions else Status.ROUTED


async def settle(home: Home, crowd: Crowd) -> None:
    """Put it all there: the forge's issues, our rows, and the sessions."""
    forge = LocalForge(home.forge, clock=SystemClock().now)
    try:
        forge.ensure_user(OWNER, token=owner_token(home.forge))
        await forge.create_repository(SLUG, files=EMPTY_REPOSITORY)
        seed_issues(forge, SLUG, crowd.tasks, labels=crowd.labels)
    finally:
        forge.close()
    async with SqliteStore.open(home.database, clock=SystemClock()) as store:
        tasks = crowd.list_tasks()
        await record_tasks(store, tasks)
        for task in tasks[: crowd.sessions]:
            run = run_of(task)
            await store.record_run(run, event=Event("run.claimed", "for a benchmark", run.created_at, task.key, run.id))
            await store.save_run(run)
    runtime = TmuxRuntime(home.root)
    env = environment(home)
    for task in tasks[: crowd.sessions]:
        run = run_of(task)
        await runtime.start_session(
            SessionSpec(run.session, FOREVER, cwd=home.root, env=env, folder=home.root / run.folder, deadline_s=1e8)
        )
    await until(lambda: sum(bool(path.stat().st_size) for path in home.runs.rglob("shim.json")) >= crowd.sessions)


@asynccontextmanager
async def at_rest(home: Home, given: Configuration) -> AsyncIterator[tuple[Composed, asyncio.TaskGroup]]:
    """The service over a settled home, once nothing is to be done any more. Nothing ticks by itself."""
    async with composed(home, given) as service, asyncio.TaskGroup() as group:
        await tick(service, group)  # claims the tasks: until then nothing is said about them
        service.means.observer.expire()
        await _say_what_stands(service.means, group)
        for _ in range(3):
            await tick(service, group)
        if service.loop.state.decision.actions or service.loop.actor.in_flight:
            raise RuntimeError(f"it does not come to rest: {service.loop.state.decision.actions[:1]}")
        yield service, group


async def tick(service: Composed, group: asyncio.TaskGroup, *, due: bool = True) -> None:
    """One tick; if `due`, one that reads the forges again, as it happens at each interval."""
    if due:
        service.means.observer.expire()
    await service.loop.tick(group)
    await until(lambda: not service.loop.actor.in_flight, every_s=0.005)


async def _say_what_stands(means: Means, group: asyncio.TaskGroup) -> None:
    """Record what the comment on each issue would say as being said: a thousand comments are no part of this."""
    for _ in range(5):
        told = [
            action for action in decide(await means.observer.observe(group)).actions if isinstance(action, TellPerson)
        ]
        for action in told:
            await _record_told(means, action)
        if not told:
            return


async def _record_told(means: Means, action: TellPerson) -> None:
    await means.ports.store.update_task(action.task, lambda stored: replace(stored, told=action.words, comment_id=1))
