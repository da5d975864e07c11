"""Observe: build the World from what the store, the forges and the runtime say now.

Forges are read at the polling interval, and at once for tasks that Nightcrew has just acted on; between that, the
last observation of a task holds. A project that cannot be read is unknown, and does not hold up the others.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from nightcrew.core.actions import Action
from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known, Observed
from nightcrew.core.model.claim import Hold
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.merge import MergeStrategy
from nightcrew.core.model.quota import TokenStanding
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.skill import SkillCatalog
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import World
from nightcrew.core.policy.filling import is_full
from nightcrew.core.reason import Wait
from nightcrew.engine.awake import Awake
from nightcrew.engine.claim import ClaimBook
from nightcrew.engine.ports import Ports
from nightcrew.engine.view.comment import CommentView
from nightcrew.engine.view.dependency import DependencyView
from nightcrew.engine.view.first import FirstLooks
from nightcrew.engine.view.issue import IssueView
from nightcrew.engine.view.look import look_at
from nightcrew.engine.view.memory import ProjectMemory
from nightcrew.engine.view.model_list import parse_lists
from nightcrew.engine.view.probe import Probes
from nightcrew.engine.view.project import ProjectReader
from nightcrew.engine.view.pull import Asked, PullReader
from nightcrew.engine.view.queue import QueueReader
from nightcrew.engine.view.record import LAST_AGENT, PAUSED, Records, RecordView, asked_runs
from nightcrew.engine.view.removed import removed_projects
from nightcrew.engine.view.run import RunWatch
from nightcrew.engine.view.sight import is_over
from nightcrew.engine.view.skill import SkillView
from nightcrew.engine.view.world import project_world
from nightcrew.ports.tracker import Tracker

PATIENCE_S = 3.0
"""How long a look waits for slow projects. They are read on beside it, and are in the next look."""
PROGRAM_FOR_S = 60.0
LATE_S = 60.0
"""How much later than two intervals a look may come before the machine is thought to have slept."""


class Observer:
    """Sees the world. It changes nothing but its own memory."""

    def __init__(self, ports: Ports, settings: Settings, *, patience_s: float = PATIENCE_S) -> None:
        self._ports = ports
        self._settings = settings
        self._patience_s = patience_s
        self._looks: dict[str, asyncio.Task[None]] = {}
        self._records = RecordView(ports.store)
        self._runs = RunWatch(ports.clock)
        self.awake = Awake(ports.clock)
        self._projects = {slug: self._memory(slug) for slug in settings.projects}
        self._left: dict[str, ProjectMemory] = {}
        self._probes = Probes(ports, settings)
        self._skills = SkillView(ports.skills, ports.clock, ports.home)
        self._first = FirstLooks()
        self._dirty: set[TaskKey] = set()
        self._programs: tuple[float, Mapping[str, Observed[bool]]] | None = None
        self._was_full = False

    def adopt(self, ports: Ports, settings: Settings) -> None:
        """Other settings are in force. A project that is new, or was changed, is read anew as after a start, so that
        nothing is decided about it before; one that is gone is kept for the actions that still know it."""
        before, self._ports, self._settings = self._settings, ports, settings
        self._probes = Probes(ports, settings)
        self._skills.adopt(ports.skills)
        for slug in before.projects.keys() - settings.projects.keys():
            self._left[slug] = self._forget(slug)
        for slug, project in settings.projects.items():
            self._left.pop(slug, None)
            if slug in self._projects and not self._still_holds(slug, project, before):
                self._forget(slug)
        self._projects = {slug: self._projects.get(slug) or self._memory(slug) for slug in settings.projects}
        self._programs = None

    def _still_holds(self, slug: str, project: ProjectSettings, before: Settings) -> bool:
        look, memory = self._looks.get(slug), self._projects[slug]
        if project != before.projects[slug] or (look is not None and not look.done()):
            return False
        return memory.reader.adopt(self._ports.overlay, memory.facts, add_jobs=self._ports.add_jobs)

    def _forget(self, slug: str) -> ProjectMemory:
        self._looks.pop(slug, None)
        return self._projects.pop(slug)

    def is_configured(self, project: str, agent: str) -> bool:
        """Whether both are in the settings that are in force now, and the agent is used."""
        found = self._settings.agents.get(agent)
        return project in self._settings.projects and found is not None and found.enabled

    def touch(self, key: TaskKey) -> None:
        """Something was done about a task: what was seen of it before holds no longer."""
        self._dirty.add(key)
        if key.project in self._projects:
            self._projects[key.project].touch(key)

    def expire(self, project: str | None = None) -> None:
        """Read everything, or one project, again at the next look."""
        for slug, memory in self._projects.items():
            if project is None or project == slug:
                memory.tempo.expire()

    def tell(self, project: str) -> None:
        """The forge itself said that a project has news."""
        if project in self._projects:
            self._projects[project].tempo.tell(self._ports.clock.monotonic())

    def pause_s(self) -> float:
        """How long until something is due to be looked at, as far as is known."""
        now = self._ports.clock.monotonic()
        at_rest = [
            memory
            for slug, memory in self._projects.items()
            if slug not in self._looks or self._looks[slug].done()  # the end of a slow look wakes the loop
        ]
        times = [memory.next_at(self._settings, now) for memory in at_rest]
        return max(0.0, min((at for at in times if at is not None), default=now + self._settings.interval_s) - now)

    def standings(self) -> tuple[TokenStanding, ...]:
        """What each token of each forge has left."""
        forges: dict[str, list[str]] = {}
        for slug, project in self._settings.projects.items():
            forges.setdefault(project.forge, []).append(slug)
        return tuple(
            standing
            for name, slugs in forges.items()
            if name in self._ports.forges
            for standing in self._ports.forges[name].quota.standings(slugs)
        )

    def note(self, key: TaskKey, issue: Issue) -> None:
        """Nightcrew has just seen this issue itself."""
        if key.project in self._projects and not key.is_internal:
            self._projects[key.project].issues.note(issue)

    def project_settings(self, slug: str) -> ProjectSettings:
        """A project's settings with those of its repository laid over."""
        memory = self._find(slug)
        if memory is not None:
            return memory.settings
        return self._settings.projects.get(slug) or ProjectSettings(slug)

    def all_project_settings(self) -> Mapping[str, ProjectSettings]:
        """Those of every configured project."""
        return {slug: self.project_settings(slug) for slug in self._projects}

    def base_sha(self, slug: str) -> Sha | None:
        """Where the base branch was when it was last looked at, None if that is not known or not what holds now."""
        memory = self._find(slug)
        return None if memory is None else memory.base_sha

    def problems(self) -> tuple[str, ...]:
        """What could not be read at the last look, what access is lacking, what is wrong with a repository's own
        settings and skills, and which issues are left alone since who asked for them cannot be told, by project; then
        what is wrong with skills of all, and with a token, or runs short."""
        shared = self._skills.problems()
        found = [
            f"{slug}: {words}"
            for slug, memory in self._projects.items()
            for words in (*memory.problems(), *(one for one in memory.skills.problems if one not in shared))
        ]
        short = [f"{one.forge}, {one.source}: {one.words}" for one in self.standings() if one.words]
        return (*found, *(f"skills: {words}" for words in shared), *short)

    def skills_of(self, slug: str) -> SkillCatalog:
        """What the project had at the last look."""
        return self._get(slug).skills

    def forget_skills(self) -> None:
        """What was known of skills on this machine was found to be out of date."""
        self._skills.expire()

    def forget_repository(self, slug: str) -> None:
        """What is known of a repository's own settings was found to be out of date."""
        if slug in self._projects:
            self._projects[slug].reader.forget()

    def pulls_of(self, slug: str) -> PullReader:
        return self._get(slug).pulls

    def claims_of(self, slug: str) -> ClaimBook:
        return self._get(slug).claims

    def is_elsewhere(self, task: Task) -> bool:
        """Whether another machine has the task, as far as its claims were read."""
        if task.key.is_internal:
            return False
        view = self.claims_of(task.key.project).view(task.key.number, self.project_settings(task.key.project))
        return isinstance(view, Known) and view.value.hold is Hold.ELSEWHERE

    def needs_of(self, slug: str) -> DependencyView:
        return self._get(slug).needs

    def issues_of(self, slug: str) -> IssueView:
        return self._get(slug).issues

    def _find(self, slug: str) -> ProjectMemory | None:
        return self._projects.get(slug) or self._left.get(slug)

    def _get(self, slug: str) -> ProjectMemory:
        memory = self._find(slug)
        if memory is None:
            raise Missing(f"{slug} is not configured")
        return memory

    async def observe(
        self,
        group: asyncio.TaskGroup,
        *,
        in_flight: Iterable[Action] = (),
        deferred: Mapping[str, Wait] | None = None,
        draining: bool = False,
        wake: Callable[[], None] | None = None,
    ) -> World:
        """One look at everything. Projects are read in `group`; one that is slow is read on beside the loop, and
        `wake` is called when it is there."""
        records = await self._records.read()
        flying = tuple(in_flight)
        open_runs = [run for runs in records.runs.values() for run in runs if run.is_open]
        self.awake.look(within_s=LATE_S + 2 * self._settings.interval_s)
        live = await self._runs.observe(
            open_runs, self._ports, settings=self._settings, awake=self.awake, asked=asked_runs(records)
        )
        self._probes.begin(self._projects, records.tasks.values(), group, wake)
        await self._look(group, records, wake)
        await self._skills.look(self._projects, group, wake)
        now = self._ports.clock.now()
        interval_s = self._settings.interval_s
        projects = {
            slug: project_world(memory, records, live, now=now, interval_s=interval_s)
            for slug, memory in self._projects.items()
        }
        free, was_full, least_mb = self._ports.free_bytes(), self._was_full, self._settings.upkeep.least_free_mb
        self._was_full = is_full(free, least_mb=least_mb, was_full=was_full)
        projects |= removed_projects(records, live, settings_of=self.project_settings, configured=self._projects)
        return World(
            now=now,
            settings=self._settings,
            projects=projects,
            agents=self._agents(),
            cooldowns=records.cooldowns,
            in_flight=flying,
            deferred=dict(deferred or {}),
            last_agent=records.values.get(LAST_AGENT, ""),
            free_models=parse_lists(records.values),
            paused=records.values.get(PAUSED, "") == "yes",
            draining=draining,
            free_bytes=free,
            was_full=was_full,
        )

    async def _look(self, group: asyncio.TaskGroup, records: Records, wake: Callable[[], None] | None) -> None:
        now = self._ports.clock.monotonic()
        with_work = {task.key.project for task in records.tasks.values() if not is_over(task)}
        for slug in self._projects:
            if slug in self._looks and not self._looks[slug].done():
                continue
            if slug not in with_work and not self._may_look(self._projects[slug], now):
                continue
            dirty = frozenset(key for key in self._dirty if key.project == slug)
            self._dirty -= dirty
            memory = self._projects[slug]
            memory.tempo.pace = self._ports.forge_of(self._settings, slug).quota.pace(slug)
            look = look_at(memory, records, dirty=dirty, clock=self._ports.clock, settings=self._settings)
            self._looks[slug] = group.create_task(look, name=f"look:{slug}")
        if not self._looks:
            return
        _, slow = await asyncio.wait(self._looks.values(), timeout=self._patience_s)
        for task in slow:
            if wake is not None:
                task.add_done_callback(lambda _task: wake())

    def _may_look(self, memory: ProjectMemory, now: float) -> bool:
        """Whether a project may be looked at now: for the first time, as far as others are not."""
        is_first = memory.is_first and memory.tempo.are_lists_due(self._settings, now)
        return not is_first or self._first.may_begin(now)

    def _agents(self) -> Mapping[str, Observed[bool]]:
        now = self._ports.clock.monotonic()
        if self._programs is None or now - self._programs[0] >= PROGRAM_FOR_S:
            seen = {
                name: Known(self._ports.find_program(agent.program) is not None)
                for name, agent in self._ports.agents.items()
            }
            self._programs = (now, seen)
        return self._programs[1]

    def _find_tracker(self, slug: str) -> tuple[str, Tracker] | None:
        spelled = next((known for known in self._settings.projects if known.casefold() == slug.casefold()), None)
        return None if spelled is None else (spelled, self._ports.forge_of(self._settings, spelled).tracker)

    def _memory(self, slug: str) -> ProjectMemory:
        ports, project = self._ports, self._settings.projects[slug]
        forge = ports.forge_of(self._settings, slug)
        issues = IssueView(forge.tracker, ports.clock, slug)
        reader = ProjectReader(forge.scm, ports.workspace, ports.overlay, ports.clock, project, add_jobs=ports.add_jobs)
        return ProjectMemory(
            configured=project,
            claims=ClaimBook(ports.claims, forge.scm, ports.clock, slug, ports.machine),
            reader=reader,
            issues=issues,
            comments=CommentView(forge.tracker, issues, slug),
            needs=DependencyView(forge.tracker, issues, ports.clock, slug, find_project=self._find_tracker),
            queue=QueueReader(forge.scm, ports.workspace, slug),
            pulls=PullReader(
                forge.scm,
                ports.workspace,
                ports.store,
                slug,
                asked=Asked(
                    issues.may_write,
                    wants_base=lambda: self.project_settings(slug).merge.strategy is not MergeStrategy.DIRECT,
                    methods=reader.merge_methods,
                ),
            ),
        )
