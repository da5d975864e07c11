"""Jobs as people see them and what they may say about them. Reading needs no running loop."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from nightcrew.core.day import render_day
from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.model.job import JobRun, JobState, JobView
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.policy.scheduling import ASKED_FOR, next_times
from nightcrew.engine.day import load_day
from nightcrew.engine.effect.means import Means
from nightcrew.engine.view.job import WANTED, job_views
from nightcrew.engine.view.record import PAUSED, Records, by_job
from nightcrew.ports.answer import Answer
from nightcrew.ports.clock import Clock
from nightcrew.ports.job_service import JobDetail, JobSummary
from nightcrew.ports.store import Store

NEXT_SHOWN = 3
OUTPUT_SHOWN = 20_000

Projects = Callable[[], Mapping[str, ProjectSettings]]


class JobReader:
    """The reading half of `ports.job_service.JobService`. `projects` gives settings with the jobs that are known."""

    def __init__(self, store: Store, clock: Clock, projects: Projects, *, home: Path) -> None:
        self._store = store
        self._clock = clock
        self._projects = projects
        self._home = home

    async def list_jobs(self, *, project: str | None = None) -> tuple[JobSummary, ...]:
        views = await self.load_views()
        now = self._clock.now()
        known = {slug.casefold() for slug in views}
        if project is not None and project.casefold() not in known:
            raise Missing(f"{project} is not a configured project")
        return tuple(
            _summary(slug, view, now)
            for slug in sorted(views)
            if project is None or slug.casefold() == project.casefold()
            for view in views[slug]
        )

    async def get_job(self, project: str, name: str, *, limit: int = 20) -> JobDetail:
        slug, view = await self.find_view(project, name)
        runs = await self._store.load_job_runs(project=slug, name=name, each=min(max(limit, 1), 1000))
        return JobDetail(_summary(slug, view, self._clock.now()), runs, self._output(runs))

    async def render_report(self, *, days: int = 1, project: str | None = None) -> str:
        known = {slug.casefold(): slug for slug in self._projects()}
        if project is not None and project.casefold() not in known:
            raise Missing(f"{project} is not a configured project")
        slug = "" if project is None else known[project.casefold()]
        return render_day(await load_day(self._store, self._clock, days=min(max(days, 1), 365), project=slug))

    async def find_view(self, project: str, name: str) -> tuple[str, JobView]:
        """The project as it is spelled, and the job; Missing if there is none."""
        for slug, views in (await self.load_views()).items():
            for view in views:
                if slug.casefold() == project.casefold() and view.settings.name == name:
                    return slug, view
        raise Missing(f"{project} has no job {name!r}; `nightcrew job list` shows those that there are")

    async def load_views(self) -> Mapping[str, tuple[JobView, ...]]:
        store = self._store
        records = Records(
            tasks={task.key: task for task in await store.load_tasks(include_done=True)},
            jobs={(one.project, one.name): one for one in await store.load_job_records()},
            job_runs=by_job(await store.load_job_runs()),
            job_starts={(run.project, run.job): run for run in await store.load_job_runs(started=True, each=1)},
        )
        now = self._clock.now()
        return {slug: job_views(settings, records, now=now) for slug, settings in self._projects().items()}

    def _output(self, runs: tuple[JobRun, ...]) -> str:
        path = next((self._home / run.log for run in runs if run.log), None)
        if path is None or path.is_symlink() or not path.is_file():
            return ""
        return path.read_text(encoding="utf-8", errors="replace")[-OUTPUT_SHOWN:]


async def run_job(means: Means, reader: JobReader, project: str, name: str) -> Answer:
    """Ask for a start; the next look makes it."""
    slug, view = await reader.find_view(project, name)
    if view.held:
        raise Conflict(f"{name} cannot start: {view.held}")
    if any(run.state is JobState.BEGUN for run in view.runs):
        raise Conflict(f"{name} is at work")
    now = means.ports.clock.now()
    await means.ports.store.save_value(f"{WANTED}.{slug}.{name}", now.isoformat())
    await means.ports.store.record_event(means.event("job.asked", f"a person asked for {name} of {slug}"))
    if await _is_paused(means, slug):
        hours = int(ASKED_FOR.total_seconds() // 3600)
        return Answer(True, f"{name} of {slug} starts when it is resumed, if that is within {hours} h: it is paused")
    return Answer(True, f"{name} of {slug} starts now")


async def _is_paused(means: Means, slug: str) -> bool:
    values = await means.ports.store.load_values(PAUSED)
    return "yes" in (values.get(PAUSED), values.get(f"{PAUSED}.{slug}"))


async def switch_job(means: Means, reader: JobReader, project: str, name: str, *, enabled: bool) -> Answer:
    """Over what its settings say."""
    slug, view = await reader.find_view(project, name)
    word = "on" if enabled else "off"
    if view.is_on is enabled:
        return Answer(False, f"{name} of {slug} is {word} already")
    event = means.event("job.switched", f"{name} of {slug} is {word}")
    await means.ports.store.switch_job(slug, name, enabled=enabled, event=event)
    return Answer(True, f"{name} of {slug} is {word}")


def _summary(slug: str, view: JobView, now: datetime) -> JobSummary:
    last = view.runs[0] if view.runs else None
    return JobSummary(slug, view.settings, view.is_on, next_times(view, now, NEXT_SHOWN), view.held, last)
