"""What others may ask of the service: every answer is read from the store, the last look and the session, and nothing
is changed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.engine.effect.means import Means
from nightcrew.engine.job import JobReader
from nightcrew.engine.loop import Loop
from nightcrew.engine.measure import check_health, take_measures
from nightcrew.engine.reading import Reader
from nightcrew.engine.skill import report_skills
from nightcrew.ports.job_service import JobDetail, JobSummary
from nightcrew.ports.measure import Health, Measure
from nightcrew.ports.service import Answer, BoardStatus, LogPiece, RunDetail, ServiceStatus, TaskDetail, TaskSummary
from nightcrew.ports.skill_service import SkillReport


class Questions:
    """That half of `ports.service.Service` which only reads."""

    def __init__(
        self,
        loop: Loop,
        reader: Reader,
        *,
        render_config: Callable[[Settings], Mapping[str, object]],
        test_notices: Callable[[str | None], Awaitable[Answer]],
    ) -> None:
        """`render_config` gives settings as plain values, without secrets; `test_notices` tells a receiver, or all."""
        self._loop = loop
        self._reader = reader
        self._render_config = render_config
        self._test_notices = test_notices
        ports = loop.means.ports
        self._jobs = JobReader(ports.store, ports.clock, self._projects, home=ports.home)

    @property
    def _means(self) -> Means:
        return self._loop.means

    async def status(self) -> ServiceStatus:
        return await self._reader.status()

    async def list_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[TaskSummary, ...]:
        return await self._reader.list_tasks(project=project, include_done=include_done)

    async def get_task(self, key: TaskKey) -> TaskDetail:
        detail = await self._reader.get_task(key)
        path = self._means.ports.workspace.path(key.project, key.number)
        return replace(detail, workspace=str(path) if path.exists() else "")

    async def resolve_task(self, text: str) -> TaskKey:
        return await self._reader.resolve_task(text)

    async def list_runs(self, *, task: TaskKey | None = None, limit: int = 50) -> tuple[Run, ...]:
        return await self._reader.list_runs(task=task, limit=limit)

    async def get_run(self, run: RunId) -> RunDetail:
        return await self._reader.get_run(run)

    async def read_log(self, run: RunId, *, offset: int = 0, limit: int = 65_536, raw: bool = False) -> LogPiece:
        return await self._reader.read_log(run, offset=offset, limit=limit, raw=raw)

    async def list_events(self, *, after: int = 0, limit: int = 200, task: TaskKey | None = None) -> tuple[Event, ...]:
        return await self._reader.list_events(after=after, limit=limit, task=task)

    def subscribe(self) -> AsyncIterator[Event]:
        return self._means.bus.follow()

    async def check_health(self) -> Health:
        return check_health(self._loop)

    async def measure(self) -> tuple[Measure, ...]:
        return await take_measures(self._loop, await self._reader.status())

    async def render_config(self) -> Mapping[str, object]:
        return self._render_config(self._means.settings)

    async def list_boards(self) -> tuple[BoardStatus, ...]:
        return await self._reader.list_boards()

    async def load_diff(self, key: TaskKey) -> str:
        task = await self._task(key)
        if task.started_from is None:
            raise Conflict(f"{key} has no work yet")
        runs = await self._means.ports.store.load_runs(task=key)
        head = next((run.outcome.head_sha for run in reversed(runs) if run.outcome and run.outcome.head_sha), None)
        if head is None:
            raise Conflict(f"{key} has no collected work yet")
        return await self._means.ports.workspace.load_diff(key.project, base=task.started_from, head=head)

    async def list_jobs(self, *, project: str | None = None) -> tuple[JobSummary, ...]:
        return await self._jobs.list_jobs(project=project)

    async def get_job(self, project: str, name: str, *, limit: int = 20) -> JobDetail:
        return await self._jobs.get_job(project, name, limit=limit)

    async def render_report(self, *, days: int = 1, project: str | None = None) -> str:
        return await self._jobs.render_report(days=days, project=project)

    async def list_skills(self, *, project: str | None = None) -> SkillReport:
        observer, projects = self._means.observer, self._projects()
        known = {slug: (settings.skills, observer.skills_of(slug)) for slug, settings in projects.items()}
        return report_skills(known, project=project)

    async def attach_argv(self, key: TaskKey) -> Sequence[str]:
        runs = await self._means.ports.store.load_runs(task=key, open_only=True)
        if not runs:
            raise Missing(f"no session works on {key} now; `nightcrew run logs` shows what was done")
        return self._means.ports.runtime.attach_argv(runs[-1].session)

    async def list_cooldowns(self) -> tuple[Cooldown, ...]:
        return await self._reader.list_cooldowns()

    async def list_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        return await self._reader.list_unknown_failures()

    async def list_flakes(self, *, project: str | None = None) -> tuple[Flake, ...]:
        return await self._reader.list_flakes(project=project)

    async def search_memory(self, text: str, *, project: str | None = None, limit: int = 20) -> tuple[Memory, ...]:
        return await self._reader.search_memory(text, project=project, limit=limit)

    async def list_notices(self, *, after: int = 0, limit: int = 50) -> tuple[Notice, ...]:
        return await self._reader.list_notices(after=after, limit=limit)

    async def _task(self, key: TaskKey) -> Task:
        task = await self._means.task(key)
        if key.project not in self._means.settings.projects:
            raise Conflict(f"{key.project} is not configured; add it with `nightcrew project add`")
        return task

    def _projects(self) -> Mapping[str, ProjectSettings]:
        return self._means.observer.all_project_settings()
