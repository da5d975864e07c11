"""A service on a stage: the real engine over a forge, a runtime, workspaces and a store in memory, under a clock that
the test moves. One `tick` observes, decides, and sees every action to its end.

Agents are played: a session that lives is ended by `play`, with the edits and the reading that the test ordered, or
with those of an agent that does well. Nothing here sleeps.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nightcrew.core.actions import Action, ActionOutcome
from nightcrew.core.branch import QUEUE_PREFIX
from nightcrew.core.decide import Decision
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import LABEL_PREFIX
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.issue import Issue, Permission
from nightcrew.core.model.pull import Check, CheckState, Pull, PullView
from nightcrew.core.model.route import Route
from nightcrew.core.model.run import Probe, Role, Run
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, Settings
from nightcrew.core.model.task import Block, Task
from nightcrew.core.model.world import World
from nightcrew.core.reason import Wait
from nightcrew.engine.bus import Bus
from nightcrew.engine.effect.means import Means
from nightcrew.engine.facade import Facade
from nightcrew.engine.journal import Journal
from nightcrew.engine.loop import Loop
from nightcrew.engine.observe import Observer
from nightcrew.engine.perform import perform
from nightcrew.engine.ports import Forge, Ports
from nightcrew.engine.reading import Reader, Show, Sight
from nightcrew.engine.recover import recover
from nightcrew.ports.agent import Reading
from nightcrew.ports.service import Answer
from nightcrew.ports.store import Store
from tests.engine.part import (
    AGENTS,
    DEFAULT_FORGE,
    PERSON,
    PROJECT,
    STRANGER,
    FakeAgent,
    FakeClock,
    FakeIds,
    Killed,
    StageForge,
    StageRuntime,
    StageStore,
    StageWorkspaces,
    overlay,
)
from tests.fakes.board import FakeBoards
from tests.fakes.quota import FakeQuota

Edit = Callable[[Run], Mapping[str, str | None] | None]


def plain_edit(run: Run) -> Mapping[str, str | None]:
    """What an agent does that does well: a file of its own for the task."""
    return {f"work-{run.task.number}.txt": f"by {run.agent}, attempt {run.attempt}"}


async def _no_receivers(receiver: str | None) -> Answer:
    return Answer(False, f"there is no receiver {receiver}")


class Stage:
    """Everything of one service, and the levers of the world around it."""

    def __init__(
        self,
        home: Path,
        *,
        agents: tuple[str, ...] = AGENTS,
        projects: tuple[ProjectSettings, ...] = (ProjectSettings(PROJECT),),
        settings: Settings | None = None,
        login: str = "nightcrew-bot",
        guards: Mapping[str, Any] | None = None,
    ) -> None:
        self.home = home
        self.clock = FakeClock()
        self.store = StageStore()
        self.points = self.store.points
        self.forge = StageForge(self.clock, login=login)
        self.boards = FakeBoards()
        self.quota = FakeQuota()
        self.runtime = StageRuntime(now=self.clock.now)
        self.workspace = StageWorkspaces(self.clock, home=home, forge=self.forge)
        self.ids = FakeIds()
        self.agents = {name: FakeAgent(name) for name in agents}
        self.lookups: list[str] = []
        self.guards = guards or {}  # what masks and scans, by the names of the ports; nothing does without
        self.missing: set[str] = set()
        self.edit: Edit = plain_edit
        self.auto_ci = True
        self.judge: Callable[[Sha], CheckState] = lambda _sha: CheckState.SUCCESS  # of builds of the queue
        self.dumps: list[tuple[World, str]] = []
        base = settings or Settings()
        self.settings = replace(
            base,
            projects=base.projects or {project.slug: project for project in projects},
            agents=base.agents or {name: AgentSettings(name, "fake") for name in agents},
            forges={DEFAULT_FORGE: ForgeSettings(DEFAULT_FORGE)},
        )
        for slug in self.settings.projects:
            repository = self.forge.add_project(slug)
            repository.permissions[PERSON] = Permission.WRITE
            repository.permissions[STRANGER] = Permission.READ
        self.start()

    # The service

    def start(self, store: Store | None = None) -> None:
        """A fresh process over what is there, or over another store."""
        forge, store = Forge(self.forge, self.forge, self.boards, self.quota), store or self.store
        self.ports = Ports(
            store=store,
            clock=self.clock,
            ids=self.ids,
            runtime=self.runtime,
            workspace=self.workspace,
            forges={DEFAULT_FORGE: forge},
            agents=self.agents,
            home=self.home,
            resolve_env=lambda agent: {"KEY": f"secret of {agent.name}"},
            find_program=self._find_program,
            overlay=overlay,
            base_env=lambda: {"PATH": "/usr/bin:/bin", "HOME": str(self.home.parent / "person")},
            **self.guards,
        )
        self.observer = Observer(self.ports, self.settings)
        self.bus = Bus(store)
        journal = Journal(
            store,
            self.clock,
            boundary=lambda phase, kind: self.points.reach(f"{phase} {kind}"),
            mask=self.ports.mask,
        )
        self.means = Means(self.ports, self.settings, journal, self.observer, self.bus)
        self.loop = Loop(self.means, dump=lambda world, words: self.dumps.append((world, words)))
        self.reader = Reader(
            store,
            self.clock,
            lambda: self.loop.means.settings,
            home=self.home,
            version="test",
            sight=self._sight,
            show=Show(
                lambda _folder, line: line.decode("utf-8", "replace"),
                lambda slug: f"https://forge.example/{slug}",
                self.ports.mask,
            ),
        )
        self.facade = Facade(
            self.loop,
            self.reader,
            render_config=lambda settings: {"agents": sorted(settings.agents)},
            test_notices=_no_receivers,
        )

    async def restart(self) -> tuple[str, ...]:
        """The process died; another one starts."""
        self.points.die_at = None
        self.start()
        return await recover(self.ports)

    def _find_program(self, program: str) -> str | None:
        self.lookups.append(program)
        return None if program in self.missing else f"/usr/bin/{program}"

    def _sight(self) -> Sight:
        state, world = self.loop.state, self.loop.state.world
        return Sight(
            running=True,
            ticks=state.ticks,
            waits=state.decision.waits,
            agents={
                name: seen.value if isinstance(seen, Known) else None
                for name, seen in (world.agents.items() if world else ())
            },
            problems=self.observer.problems(),
            tokens=self.observer.standings(),
        )

    async def tick(self, *, advance_s: float = 1.0) -> Decision:
        """One pass, and every action of it to its end."""
        self.clock.advance(advance_s)
        try:
            async with asyncio.TaskGroup() as group:
                await self.loop.tick(group)
        except BaseExceptionGroup as error:
            killed = error.subgroup(Killed)
            if killed is not None:
                raise Killed(str(killed.exceptions[0])) from None
            raise
        return self.loop.state.decision

    async def settle(self, *, max_ticks: int = 80, play: bool = True) -> Decision:
        """Ticks until nothing is left to do, with agents and CI at work in between."""
        for _ in range(max_ticks):
            decision = await self.tick()
            moved = play and self.play()
            if self.auto_ci and self.ci():
                self.observer.expire()
                moved = True
            if not decision.actions and not moved:
                return decision
        raise AssertionError(f"no rest after {max_ticks} ticks: {[a.key for a in self.loop.state.decision.actions]}")

    async def later(self, seconds: float | None = None, *, play: bool = True) -> Decision:
        """The interval (or so many seconds) passes; then everything that follows."""
        self.clock.advance(self.settings.interval_s if seconds is None else seconds)
        return await self.settle(play=play)

    async def awake(self, seconds: float, *, before: Callable[[], object] | None = None) -> None:
        """So long passes at the usual pace of looks, with agents at work that do nothing; `before` each look."""
        end_s = self.clock.mono + seconds
        while self.clock.mono < end_s:
            if before is not None:
                before()
            await self.tick(advance_s=min(self.settings.interval_s, end_s - self.clock.mono))

    async def until(self, condition: Callable[[], object], *, max_ticks: int = 60) -> None:
        """Ticks, with agents and CI at work, until the condition holds."""
        for _ in range(max_ticks):
            if condition():
                return
            await self.tick()
            if condition():
                return
            self.play()
            if self.auto_ci and self.ci():
                self.observer.expire()
        raise AssertionError("it never came to that")

    async def look(self) -> World:
        """What is seen now, with nothing done about it."""
        async with asyncio.TaskGroup() as group:
            return await self.observer.observe(group)

    async def act(self, action: Action) -> ActionOutcome:
        """One action by itself, as the actor makes it: errors become outcomes."""
        return await self.loop.actor.submit(action)

    async def perform(self, action: Action) -> ActionOutcome:
        """One action's bare effects."""
        return await perform(self.means, action)

    # Agents and CI

    def play(self) -> bool:
        """Every session that lives does its work and ends."""
        names = [name for name, session in self.runtime.sessions.items() if session.probe is Probe.ALIVE]
        for name in names:
            self.finish(name)
        return bool(names)

    def finish(self, name: str, *, output: bytes = b"", exit_code: int = 0) -> None:
        run = next(run for run in self.store.runs.values() if run.session == name)
        if run.role is Role.AUTHOR:
            edits = self.edit(run)
            if edits:
                self.workspace.edit(run.task.project, run.task.number, dict(edits))
        self.runtime.end(name, output=output or name.encode() + b"\n", exit_code=exit_code)

    def ci(self, state: CheckState = CheckState.SUCCESS) -> bool:
        """The forge's CI answers for every open head, and every build of the queue, that it has not answered for."""
        moved = False
        for slug, project in self.forge.projects.items():
            for branch, sha in project.branches.items():
                if branch.startswith(QUEUE_PREFIX) and not project.runs.get(sha):
                    self.forge.add_check(slug, sha, "build", self.judge(sha) if state.satisfies else state)
                    moved = True
            for thread in project.threads.values():
                if thread.pull is not None and thread.pull.is_open:
                    head = project.branches.get(thread.pull.head_ref, thread.pull.head_sha)
                    if not project.runs.get(head):
                        self.forge.add_check(slug, head, "build", state)
                        moved = True
        return moved

    def order(self, agent: str, *readings: Reading, role: Role = Role.AUTHOR) -> None:
        self.agents[agent].orders[role].extend(readings)

    # What people do, and what can be seen

    def file(
        self,
        title: str = "Turn it round",
        *,
        labels: tuple[str, ...] = ("nightcrew",),
        project: str = PROJECT,
        **fields: Any,
    ) -> TaskKey:
        issue = self.forge.open_issue(project, title=title, labels=labels, **{"author": PERSON, **fields})
        return TaskKey(project, issue.number)

    def set_label(self, key: TaskKey, name: str) -> None:
        """A person sets a status label in the place of the one that is there, or puts another label on."""
        if name.lower().startswith(LABEL_PREFIX):
            self.unlabel(key)
        self.forge.label(key.project, key.number, name, actor=PERSON)

    def unlabel(self, key: TaskKey) -> None:
        """A person takes every status label off."""
        for label in self.statuses(key):
            self.forge.unlabel(key.project, key.number, label)

    def issue(self, key: TaskKey) -> Issue:
        return self.forge.thread(key.project, key.number).issue

    def statuses(self, key: TaskKey) -> tuple[str, ...]:
        """The status labels on the issue."""
        return tuple(label for label in self.issue(key).labels if label.lower().startswith(LABEL_PREFIX))

    def task(self, key: TaskKey) -> Task:
        return self.store.tasks[key]

    def block(self, key: TaskKey) -> Block:
        block = self.task(key).block
        assert block is not None
        return block

    def route(self, key: TaskKey) -> Route:
        route = self.task(key).route
        assert route is not None
        return route

    def number(self, key: TaskKey) -> int:
        """Of its pull request."""
        number = self.task(key).pull
        assert number is not None
        return number

    def merge_sha(self, key: TaskKey) -> Sha:
        merged = self.task(key).merge_sha
        assert merged is not None
        return merged

    def world(self) -> World:
        """As the last tick saw it."""
        world = self.loop.state.world
        assert world is not None
        return world

    def runs(self, key: TaskKey, role: Role | None = None) -> list[Run]:
        return [run for run in self.store.runs.values() if run.task == key and role in (None, run.role)]

    def pull(self, key: TaskKey) -> Pull:
        number = self.task(key).pull
        assert number is not None
        project = self.forge.projects[key.project]
        return self.forge._seen(project, self.forge.thread(key.project, number))

    def change_pull(self, key: TaskKey, **fields: Any) -> None:
        """A person changes the pull request of a task."""
        thread = self.forge.thread(key.project, self.number(key))
        assert thread.pull is not None
        thread.pull = replace(thread.pull, **fields)

    def pull_view(self, world: World, key: TaskKey) -> PullView:
        """What a look saw of the pull request of a task."""
        (seen,) = (view.pull for view in world.projects[key.project].tasks if view.task.key == key)
        assert isinstance(seen, Known)
        assert seen.value is not None
        return seen.value

    def issue_seen(self, world: World, key: TaskKey) -> Issue:
        """What a look saw of the issue of a task."""
        (seen,) = (view.issue for view in world.projects[key.project].tasks if view.task.key == key)
        assert isinstance(seen, Known)
        assert seen.value is not None
        return seen.value

    async def summary(self, key: TaskKey) -> tuple[str, str]:
        """The code of the wait, and the sentence, as a person is shown them."""
        found = (await self.facade.get_task(key)).summary
        return found.wait.code if found.wait is not None else "", found.sentence

    def pulls(self, project: str = PROJECT) -> list[Pull]:
        threads = self.forge.projects[project].threads.values()
        return [thread.pull for thread in threads if thread.pull is not None]

    def wait(self, key: TaskKey) -> Wait:
        return self.loop.state.decision.waits[key]

    def events(self, kind: str, key: TaskKey | None = None) -> list[str]:
        return [event.why for event in self.store.events if event.kind == kind and key in (None, event.task)]

    def moves(self, key: TaskKey) -> list[str]:
        found = [event for event in self.store.events if event.kind == "status.changed" and event.task == key]
        return [str(event.data["target"]) for event in found]

    def count(self, method: str, project: str | None = None) -> int:
        return sum(call == method and project in (None, slug) for call, slug in self.forge.calls)

    def comments(self, key: TaskKey) -> list[str]:
        return [comment.body for comment in self.forge.thread(key.project, key.number).comments]

    def checks(self, sha: Sha, project: str = PROJECT) -> dict[str, Check]:
        return self.forge.projects[project].statuses.get(sha, {})
