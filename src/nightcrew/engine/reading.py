"""Answers about what is, from the store and the last look. They need no running loop, so they are given while the
service is down as well."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nightcrew.core.errors import Conflict, Missing, NightcrewError
from nightcrew.core.ids import RunId, TaskKey, parse_number, parse_task_key
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.quota import TokenStanding
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import Budget, Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.policy.budgeting import spent_by
from nightcrew.core.policy.recalling import rank_memories
from nightcrew.core.reason import Wait
from nightcrew.core.render import render_sentence
from nightcrew.core.step.blocked import wait_for_person
from nightcrew.core.step.removed import inactive
from nightcrew.engine.board import list_boards
from nightcrew.engine.cooldown import list_cooldowns
from nightcrew.engine.runlog import Mask, RenderLine, read_piece
from nightcrew.engine.view.model_list import PREFIX, parse_lists
from nightcrew.engine.view.record import ALARM, PAUSED
from nightcrew.ports.clock import Clock
from nightcrew.ports.service import (
    AgentStatus,
    BoardStatus,
    LogPiece,
    ProjectStatus,
    RunDetail,
    ServiceStatus,
    TaskDetail,
    TaskSummary,
    WebhookStatus,
)
from nightcrew.ports.store import Store

SAYINGS_OF_A_TASK = 20
EVENTS_OF_A_TASK = 200
_LIST = "; `nightcrew task list --all` shows those that are"


@dataclass(frozen=True, slots=True)
class Sight:
    """What the last look adds to the store, where there was one."""

    running: bool = False
    ticks: int = 0
    started_at: datetime | None = None
    last_tick_at: datetime | None = None
    next_tick_at: datetime | None = None
    waits: Mapping[TaskKey, Wait] | None = None
    agents: Mapping[str, bool | None] | None = None
    problems: tuple[str, ...] = ()
    base_refs: Mapping[str, str] | None = None
    pid: int = 0
    draining: bool = False
    webhook: WebhookStatus | None = None
    tokens: tuple[TokenStanding, ...] = ()


@dataclass(frozen=True, slots=True)
class Show:
    """How things are shown: a line of a run's output as text, where a project's pages are on its forge (empty: it has
    none), and any text without secrets."""

    render_line: RenderLine
    project_url: Callable[[str], str]
    mask: Mask


def _alarms(values: Mapping[str, str]) -> list[str]:
    """Bases that are red by themselves, by project."""
    return [f"{name.removeprefix(ALARM + '.')}: {words}" for name, words in values.items() if words]


class Reader:
    """Implements the reading half of `ports.service.Service`. `settings` gives those that are in force."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: Callable[[], Settings],
        *,
        home: Path,
        version: str,
        sight: Callable[[], Sight],
        show: Show,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._home = home
        self._version = version
        self._sight = sight
        self._render_line = show.render_line
        self._project_url = show.project_url
        self._mask = show.mask

    async def status(self) -> ServiceStatus:
        """The whole at a glance."""
        sight = self._sight()
        values = await self._store.load_values(PAUSED)
        tasks = await self._store.load_tasks(include_done=True)
        runs = await self._store.load_runs(open_only=True)
        projects = [self._project(slug, tasks, values, sight) for slug in self._settings().projects]
        return ServiceStatus(
            version=self._version,
            running=sight.running,
            paused=values.get(PAUSED) == "yes",
            started_at=sight.started_at,
            last_tick_at=sight.last_tick_at,
            next_tick_at=sight.next_tick_at,
            ticks=sight.ticks,
            projects=tuple(projects),
            agents=await self._agents(runs, sight),
            problems=(*sight.problems, *_alarms(await self._store.load_values(ALARM))),
            home=str(self._home),
            pid=sight.pid,
            draining=sight.draining,
            webhook=sight.webhook,
            tokens=sight.tokens,
        )

    def _project(self, slug: str, tasks: tuple[Task, ...], values: Mapping[str, str], sight: Sight) -> ProjectStatus:
        counts = {status.value: 0 for status in Status}
        for task in tasks:
            if task.key.project == slug:
                counts[task.status.value] += 1
        problem = next((text for text in sight.problems if text.startswith(f"{slug}:")), "")
        return ProjectStatus(
            slug=slug,
            forge=self._settings().projects[slug].forge,
            base_ref=(sight.base_refs or {}).get(slug, self._settings().projects[slug].base_ref or ""),
            paused=values.get(f"{PAUSED}.{slug}") == "yes",
            tasks={status: count for status, count in counts.items() if count},
            problem=problem.removeprefix(f"{slug}:").strip(),
        )

    async def _agents(self, runs: tuple[Run, ...], sight: Sight) -> tuple[AgentStatus, ...]:
        now = self._clock.now()
        cooldowns = [cooldown for cooldown in await self._store.load_cooldowns() if cooldown.until_at > now]
        free_models = parse_lists(await self._store.load_values(PREFIX))
        return tuple(
            AgentStatus(
                name=name,
                adapter=agent.adapter,
                available=(sight.agents or {}).get(name),
                running=sum(run.agent == name for run in runs),
                max_runs=agent.max_runs,
                cooldowns=tuple(cooldown for cooldown in cooldowns if cooldown.agent == name),
                free_models=free_models.get(name, ()),
            )
            for name, agent in self._settings().agents.items()
        )

    async def list_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[TaskSummary, ...]:
        known = project if project is None else self.spell(project)
        tasks = await self._store.load_tasks(project=known, include_done=include_done)
        runs = {run.task: run for run in await self._store.load_runs(open_only=True)}
        ordered = sorted(tasks, key=lambda task: (task.status is Status.DONE, task.priority, task.created_at))
        return tuple(self._summary(task, runs.get(task.key)) for task in ordered)

    async def get_task(self, key: TaskKey) -> TaskDetail:
        task = await self._store.find_task(key)
        if task is None:
            raise Missing(f"{key} is not a task{_LIST}")
        runs = await self._store.load_runs(task=key)
        open_run = next((run for run in runs if run.is_open), None)
        workspace = next((run for run in reversed(runs) if run.role is Role.AUTHOR), None)
        project = self._settings().projects.get(key.project)
        return TaskDetail(
            summary=self._summary(task, open_run),
            runs=runs,
            verdicts=await self._store.load_verdicts(task=key),
            events=await self._store.load_events(task=key, limit=EVENTS_OF_A_TASK, newest=True),
            workspace=workspace.folder if workspace else "",
            spent=spent_by(runs, since=task.reset_at),
            budget=project.budget if project is not None else Budget(),
            internal=await self._store.find_internal(key),
            landing=task.landing,
            sayings=(await self._store.load_sayings(task=key)).get(key, ())[-SAYINGS_OF_A_TASK:],
            delegated=task.delegated,
        )

    def spell(self, project: str) -> str:
        """A project as it is configured: forges make no difference between small and capital letters."""
        folded = project.casefold()
        return next((slug for slug in self._settings().projects if slug.casefold() == folded), project)

    async def resolve_task(self, text: str) -> TaskKey:
        """Read a task as a person writes it, never the wrong one."""
        text = text.strip()
        if "/" in text:
            try:
                key = parse_task_key(text)
            except NightcrewError as error:
                raise Missing(str(error)) from error
            key = TaskKey(self.spell(key.project), key.number)
            if await self._store.find_task(key) is None:
                raise Missing(f"{key} is not a task{_LIST}")
            return key
        name, _, number = text.rpartition("#")
        try:
            wanted = parse_number(number)
        except NightcrewError:
            raise Missing(f"{text!r} is not a task; write it as owner/repo#number, repo#number or number") from None
        keys = [task.key for task in await self._store.load_tasks(include_done=True)]
        found = [key for key in keys if key.number == wanted and (not name or _repository(key) == name.casefold())]
        if len(found) == 1:
            return found[0]
        if not found:
            raise Missing(f"{text!r} is not a task{_LIST}")
        raise Conflict(f"{text!r} could be any of: {', '.join(sorted(map(str, found)))}")

    async def list_runs(self, *, task: TaskKey | None = None, limit: int = 50) -> tuple[Run, ...]:
        """The newest first."""
        return (await self._store.load_runs(task=task, limit=limit))[::-1]

    async def get_run(self, run: RunId) -> RunDetail:
        found = await self._run(run)
        folder = self._home / found.folder
        prompt, report = _text(folder / "prompt.md"), _text(folder / "agent" / "report.json")
        return RunDetail(found, self._mask(prompt), str(folder), self._mask(report))

    async def read_log(self, run: RunId, *, offset: int = 0, limit: int = 65_536, raw: bool = False) -> LogPiece:
        found = await self._run(run)
        return read_piece(
            self._home / found.folder,
            offset=offset,
            limit=min(max(limit, 1), 1_000_000),
            ended=not found.is_open,
            render=None if raw else self._render_line,
            mask=self._mask,
        )

    async def list_events(self, *, after: int = 0, limit: int = 200, task: TaskKey | None = None) -> tuple[Event, ...]:
        return await self._store.load_events(task=task, after=after, limit=min(max(limit, 1), 1000))

    async def list_cooldowns(self) -> tuple[Cooldown, ...]:
        return await list_cooldowns(self._store, now=self._clock.now())

    async def list_boards(self) -> tuple[BoardStatus, ...]:
        return await list_boards(self._store, self._settings())

    async def list_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        return await self._store.load_unknown_failures()

    async def list_flakes(self, *, project: str | None = None) -> tuple[Flake, ...]:
        return await self._store.load_flakes(project=project if project is None else self.spell(project))

    async def search_memory(self, text: str, *, project: str | None = None, limit: int = 20) -> tuple[Memory, ...]:
        spelled = self.spell(project) if project is not None else None
        known = await self._store.load_memories(project=spelled, limit=2000)
        wanted = min(max(limit, 1), 200)
        return rank_memories(known, text, most=wanted) if text.strip() else known[::-1][:wanted]

    async def list_notices(self, *, after: int = 0, limit: int = 50) -> tuple[Notice, ...]:
        return await self._store.load_notices(after=after, limit=min(max(limit, 1), 1000), newest=True)

    async def _run(self, run: RunId) -> Run:
        found = await self._store.find_run(run)
        if found is None:
            raise Missing(f"there is no run {run}")
        return found

    def _summary(self, task: Task, open_run: Run | None) -> TaskSummary:
        sight, now = self._sight(), self._clock.now()
        wait = (sight.waits or {}).get(task.key) or self._stored_wait(task, sight.running)
        sentence = render_sentence(task.status, wait, now=now, merge_sha=task.merge_sha)
        web = self._project_url(task.key.project)
        issue = f"{web}/issues/{task.key.number}" if web and not task.key.is_internal else ""
        pull = f"{web}/pull/{task.pull}" if web and task.pull is not None else ""
        return TaskSummary(task, wait, sentence, open_run, issue, pull)

    def _stored_wait(self, task: Task, running: bool) -> Wait | None:
        if task.status is Status.DONE:
            return None
        if task.key.project not in self._settings().projects:
            return inactive(task.key.project)
        if task.status is Status.BLOCKED:
            return wait_for_person(task)
        if not running:
            return Wait("service_down", "the service is not running", "Start it with `nightcrew serve`.")
        return None


def _repository(key: TaskKey) -> str:
    return key.project.rpartition("/")[2].casefold()


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as stream:
        return stream.read(1_000_000).decode("utf-8", "replace")
