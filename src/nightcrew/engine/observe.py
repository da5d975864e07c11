"""Observe: build the World from what the store, the forges and the runtime say now.

Forges are read at the polling interval, and at once for tasks that Nightcrew has just acted on; between that, the
last observation of a task holds. A project that cannot be read is unknown, and does not hold up the others.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nightcrew.core.actions import Action
from nightcrew.core.command import GivenCommand
from nightcrew.core.errors import Missing, PortError
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.claim import ClaimView, Hold
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.run import RunView
from nightcrew.core.model.settings import MergeStrategy, ProjectSettings, Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import Candidate, ProjectWorld, TaskView, World
from nightcrew.core.reason import Wait
from nightcrew.engine.awake import Awake
from nightcrew.engine.claim import ClaimBook
from nightcrew.engine.ports import Ports
from nightcrew.engine.view.comment import KEPT, CommentView
from nightcrew.engine.view.issue import IssueView, describe_unclear
from nightcrew.engine.view.model_list import parse_lists
from nightcrew.engine.view.probe import Probes
from nightcrew.engine.view.project import ProjectFacts, ProjectReader
from nightcrew.engine.view.pull import PullReader
from nightcrew.engine.view.record import Records, RecordView
from nightcrew.engine.view.removed import removed_projects
from nightcrew.engine.view.run import RunWatch
from nightcrew.engine.view.sight import TaskSight, is_in_work, is_over, is_untold, needs_care

PROJECT_TIMEOUT_S = 120.0
PATIENCE_S = 3.0
"""How long a look waits for slow projects. They are read on beside it, and are in the next look."""
PROGRAM_FOR_S = 60.0
LATE_S = 60.0
"""How much later than two intervals a look may come before the machine is thought to have slept."""
TASKS_AT_ONCE = 6
"""Tasks of a project that are read at the same time. More would only queue at the forge's connections."""

PAUSED = "engine.paused"
LAST_AGENT = "engine.last_agent"


@dataclass(slots=True)
class ProjectMemory:
    """What is kept of one project between looks."""

    reader: ProjectReader
    claims: ClaimBook
    issues: IssueView
    pulls: PullReader
    comments: CommentView
    sights: dict[TaskKey, TaskSight] = field(default_factory=dict)
    facts: ProjectFacts | None = None
    candidates: tuple[Candidate, ...] = ()
    problem: str = ""
    read_at: float | None = None
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TASKS_AT_ONCE))
    asked: int = 0  # how often somebody asked for it to be read anew
    is_first: bool = True
    """Nothing has been read yet since the start."""

    def note_read(self, at: float, asked: int) -> None:
        """It was read, from that moment on. Who asked meanwhile may have meant something newer."""
        self.read_at = at if self.asked == asked else None


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
        self._dirty: set[TaskKey] = set()
        self._touched: dict[TaskKey, int] = {}
        self._programs: tuple[float, Mapping[str, Observed[bool]]] | None = None

    def adopt(self, ports: Ports, settings: Settings) -> None:
        """Other settings are in force. A project that is new, or was changed, is read anew as after a start, so that
        nothing is decided about it before; one that is gone is kept for the actions that still know it."""
        before, self._ports, self._settings = self._settings, ports, settings
        self._probes = Probes(ports, settings)
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
        return memory.reader.adopt(self._ports.overlay, memory.facts)

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
        self._touched[key] = self._touched.get(key, 0) + 1
        if key.project in self._projects:
            self._projects[key.project].sights.pop(key, None)

    def expire(self, project: str | None = None) -> None:
        """Read everything, or one project, again at the next look."""
        for slug, memory in self._projects.items():
            if project is None or project == slug:
                memory.read_at = None
                memory.asked += 1

    def note(self, key: TaskKey, issue: Issue) -> None:
        """Nightcrew has just seen this issue itself."""
        if key.project in self._projects:
            self._projects[key.project].issues.note(issue)

    def project_settings(self, slug: str) -> ProjectSettings:
        """A project's settings with those of its repository laid over."""
        memory = self._find(slug)
        if memory is not None and memory.facts is not None:
            return memory.facts.settings
        return self._settings.projects.get(slug) or ProjectSettings(slug)

    def all_project_settings(self) -> Mapping[str, ProjectSettings]:
        """Those of every configured project."""
        return {slug: self.project_settings(slug) for slug in self._projects}

    def base_sha(self, slug: str) -> Sha | None:
        """Where the base branch was when it was last looked at, None if that is not known or not what holds now."""
        memory = self._find(slug)
        if memory is None or memory.facts is None or memory.problem:
            return None
        return memory.facts.base_sha

    def problems(self) -> tuple[str, ...]:
        """What could not be read at the last look, what access is lacking, what is wrong with a repository's own
        settings, and which issues are left alone since who asked for them cannot be told, by project."""
        found = [
            (slug, words)
            for slug, memory in self._projects.items()
            for words in (
                memory.problem,
                memory.facts.access if memory.facts is not None else "",
                memory.facts.problem if memory.facts is not None else "",
                memory.comments.memory.problem,
                describe_unclear(memory.candidates),
                *memory.claims.problems(),
            )
        ]
        return tuple(f"{slug}: {words}" for slug, words in found if words)

    def pulls_of(self, slug: str) -> PullReader:
        return self._get(slug).pulls

    def claims_of(self, slug: str) -> ClaimBook:
        return self._get(slug).claims

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
        live = await self._runs.observe(open_runs, self._ports, settings=self._settings, awake=self.awake)
        self._probes.begin(self._projects, records.tasks.values(), group, wake)
        await self._look(group, records, wake)
        projects = {slug: self._world_of(slug, records, live) for slug in self._projects}
        projects |= removed_projects(records, live, settings_of=self.project_settings, configured=self._projects)
        return World(
            now=self._ports.clock.now(),
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
        )

    async def _look(self, group: asyncio.TaskGroup, records: Records, wake: Callable[[], None] | None) -> None:
        for slug in self._projects:
            if slug in self._looks and not self._looks[slug].done():
                continue
            dirty = frozenset(key for key in self._dirty if key.project == slug)
            self._dirty -= dirty
            look = self._look_at(self._projects[slug], slug, records, dirty)
            self._looks[slug] = group.create_task(look, name=f"look:{slug}")
        if not self._looks:
            return
        _, slow = await asyncio.wait(self._looks.values(), timeout=self._patience_s)
        for task in slow:
            if wake is not None:
                task.add_done_callback(lambda _task: wake())

    async def _look_at(self, memory: ProjectMemory, slug: str, records: Records, dirty: frozenset[TaskKey]) -> None:
        now = self._ports.clock.monotonic()
        due = memory.read_at is None or now - memory.read_at >= self._settings.interval_s
        asked = memory.asked
        tasks = [task for task in records.tasks.values() if task.key.project == slug]
        try:
            async with asyncio.timeout(PROJECT_TIMEOUT_S):
                if due:
                    memory.facts = await memory.reader.read(memory.facts)
                    await memory.issues.refresh()
                    others_at_work = _others_at_work(memory, tasks)
                    await memory.claims.refresh(self.project_settings(slug), others_at_work=others_at_work)
                    kept = records.values.get(f"{KEPT}.{slug}")
                    await memory.comments.refresh(kept, records.commands, now=self._ports.clock.now())
                    memory.note_read(now, asked)
                await self._read_tasks(memory, tasks, dirty, due=due)
                if due or dirty:
                    settings = memory.facts.settings if memory.facts is not None else self.project_settings(slug)
                    memory.candidates = await memory.issues.candidates(
                        settings, (task.key.number for task in tasks), left=memory.claims.left(settings)
                    )
            memory.is_first = False
            if due:
                memory.problem = ""  # a look that reads no list cannot tell that it is readable again
        except (PortError, TimeoutError) as error:
            memory.problem = str(error) or "it did not answer in time"
            memory.note_read(now, asked)
            memory.sights.clear()  # what was seen long ago is not what is
        except Exception as error:  # noqa: BLE001 - one project's boundary: it must not end the look at the others
            memory.problem = f"a bug while reading it: {error!r}"
            memory.note_read(now, asked)
            memory.sights.clear()

    async def _read_tasks(
        self, memory: ProjectMemory, tasks: list[Task], dirty: frozenset[TaskKey], *, due: bool
    ) -> None:
        listed, first = memory.issues.memory.issues, memory.is_first
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                key, issue = task.key, listed.get(task.key.number)
                is_asked = memory.comments.is_asked(task)
                if not (due or key in dirty or (key not in memory.sights and task.status is not Status.DONE)):
                    continue
                if is_asked:
                    group.create_task(self._read_task(memory, task, None))
                elif is_over(task) and issue is None and key not in dirty and not (first and is_untold(task)):
                    memory.sights.pop(key, None)
                elif issue is None or key in dirty or is_in_work(task):
                    group.create_task(self._read_task(memory, task, None))
                elif task.pull is not None or task.block is not None or needs_care(task, issue):
                    group.create_task(self._read_task(memory, task, issue))
                else:
                    memory.sights[key] = TaskSight(Known(issue), Known(None), answered=False)

    async def _read_task(self, memory: ProjectMemory, task: Task, listed: Issue | None) -> None:
        async with memory.turns:
            await self._read_now(memory, task, listed)

    async def _read_now(self, memory: ProjectMemory, task: Task, listed: Issue | None) -> None:
        touched = self._touched.get(task.key, 0)
        issue = Known(listed) if listed is not None else await memory.issues.read(task.key.number)
        pull = await memory.pulls.read(task)
        found = issue.value if isinstance(issue, Known) else None
        vouched: Observed[bool] = Known(True)
        reopened: Observed[bool] = Known(True)
        if found is not None:
            vouched = await memory.issues.is_vouched(task, found)
            if task.status is Status.DONE and found.is_open:
                reopened = await memory.issues.reopened_by_writer(found)
        sight = TaskSight(issue, pull, await memory.issues.answered(task), vouched, reopened)
        if self._touched.get(task.key, 0) == touched:
            # Otherwise something was done about it meanwhile, and this may be what was before.
            memory.sights[task.key] = sight

    def _world_of(self, slug: str, records: Records, live: Mapping[TaskKey, tuple[RunView, ...]]) -> ProjectWorld:
        memory, settings = self._projects[slug], self.project_settings(slug)
        views = []
        for key, task in records.tasks.items():
            seen = key in memory.sights or key in live or key.number in memory.claims.held
            if key.project != slug or (task.status is Status.DONE and not seen):
                continue
            nothing = Unknown(memory.problem or "it has not been read yet")
            claim = memory.claims.view(key.number, settings)
            sight = memory.sights.get(key, TaskSight(nothing, nothing, answered=False))
            views.append(
                TaskView(
                    task=task,
                    issue=sight.issue,
                    pull=sight.pull,
                    runs=records.runs.get(key, ()),
                    live=live.get(key, ()),
                    verdicts=records.verdicts.get(key, ()),
                    answered=sight.answered,
                    claim=claim,
                    commands=self._commands(memory, task, records, claim),
                    last_command=records.last_commands.get(key),
                    vouched=sight.vouched,
                    reopened_by_writer=sight.reopened_by_writer,
                    reactions=records.reactions.get(key, ()),
                    delivered=records.delivered.get(key, frozenset()),
                )
            )
        base = Unknown(memory.problem or "not read yet") if memory.facts is None else Known(memory.facts.base_ref)
        return ProjectWorld(
            settings=settings,
            base_ref=base,
            tasks=tuple(views),
            candidates=memory.candidates,
            paused=records.values.get(f"{PAUSED}.{slug}", "") == "yes",
            comments=memory.comments.span(records.values.get(f"{KEPT}.{slug}")),
        )

    def _commands(
        self, memory: ProjectMemory, task: Task, records: Records, claim: Observed[ClaimView]
    ) -> tuple[GivenCommand, ...]:
        """The commands that wait for this machine: those about a task that another has are the other's."""
        if isinstance(claim, Known) and claim.value.hold is Hold.ELSEWHERE:
            memory.comments.drop(task)
        return memory.comments.commands_of(task, records.commands)

    def _agents(self) -> Mapping[str, Observed[bool]]:
        now = self._ports.clock.monotonic()
        if self._programs is None or now - self._programs[0] >= PROGRAM_FOR_S:
            seen = {
                name: Known(self._ports.find_program(agent.program) is not None)
                for name, agent in self._ports.agents.items()
            }
            self._programs = (now, seen)
        return self._programs[1]

    def _memory(self, slug: str) -> ProjectMemory:
        ports, project = self._ports, self._settings.projects[slug]
        forge = ports.forge_of(self._settings, slug)
        issues = IssueView(forge.tracker, ports.clock, slug)
        return ProjectMemory(
            claims=ClaimBook(ports.claims, forge.scm, ports.clock, slug, ports.machine),
            reader=ProjectReader(forge.scm, ports.workspace, ports.overlay, ports.clock, project),
            issues=issues,
            comments=CommentView(forge.tracker, issues, slug),
            pulls=PullReader(
                forge.scm,
                ports.workspace,
                ports.store,
                slug,
                may_write=issues.may_write,
                wants_base=lambda: self.project_settings(slug).merge.strategy is MergeStrategy.UPDATE,
            ),
        )


def _others_at_work(memory: ProjectMemory, tasks: list[Task]) -> bool:
    """Whether another machine's work can be seen: a claim that is not ours on a task here that is not done, or a status
    label on an issue that is no task here."""
    if any(task.key.number in memory.claims.watched and task.status is not Status.DONE for task in tasks):
        return True
    known = {task.key.number for task in tasks}
    others = (issue for number, issue in memory.issues.memory.issues.items() if number not in known)
    return any(set(parse_status_labels(issue.labels)) - {Status.NEW, Status.BLOCKED, Status.DONE} for issue in others)
