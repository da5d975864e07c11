"""Answers from the store while no service runs: questions are answered, commands are refused, but for those that need
neither a loop nor the forge."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NoReturn

from nightcrew.config.home import Home
from nightcrew.config.render import render_settings
from nightcrew.config.skill_file import parse_skill
from nightcrew.config.spelling import hold_spelling
from nightcrew.core.errors import Missing, Unavailable
from nightcrew.core.ids import InquiryId, RunId, TaskKey
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.diagnosis import Diagnosis
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.core.model.internal import NO_PINS, Pins, TaskKind
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.engine.cooldown import clear_cooldowns
from nightcrew.engine.job import JobReader
from nightcrew.engine.reading import Reader, Show, Sight
from nightcrew.engine.skill import report_skills
from nightcrew.engine.view.skill import load_catalog, places_of
from nightcrew.ports.inquiry_service import NewInquiry
from nightcrew.ports.job_service import JobDetail, JobSummary
from nightcrew.ports.measure import Health, Measure
from nightcrew.ports.service import (
    Answer,
    BoardStatus,
    LogPiece,
    RunDetail,
    Service,
    ServiceStatus,
    TaskDetail,
    TaskSummary,
    Word,
)
from nightcrew.ports.skill_service import SkillReport
from nightcrew.secret import Vault
from nightcrew.service.clock import SystemClock
from nightcrew.service.compose import load_spellings
from nightcrew.service.load import load
from nightcrew.service.lock import held
from nightcrew.service.show import render_output
from nightcrew.service.url import project_url
from nightcrew.store.sqlite import SqliteStore
from nightcrew.version import VERSION
from nightcrew.workspaces.skill import GitSkills


@asynccontextmanager
async def open_offline_service(home: Path) -> AsyncIterator[Service]:
    """The reading half of the service over a home whose service does not run."""
    place = Home(home)
    settings = load(place).apply()
    if not place.database.is_file():
        raise Missing(f"nothing has run on {place.root} yet; start with: nightcrew serve")
    clock = SystemClock()
    async with SqliteStore.open_read_only(place.database) as store:
        settings = hold_spelling(settings, await load_spellings(store))
        reader = Reader(
            store,
            clock,
            lambda: settings,
            home=place.root,
            version=VERSION,
            sight=Sight,
            show=Show(render_output, project_url(lambda: settings), Vault().mask),
        )
        jobs = JobReader(store, clock, lambda: settings.projects, home=place.root)
        yield OfflineService(reader, settings, place, jobs=jobs)


class OfflineService:
    """Implements `ports.service.Service`, as far as that goes without a loop."""

    def __init__(self, reader: Reader, settings: Settings, place: Home, *, jobs: JobReader) -> None:
        self._reader = reader
        self._jobs = jobs
        self._settings = settings
        self._place = place

    async def status(self) -> ServiceStatus:
        return await self._reader.status()

    async def list_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[TaskSummary, ...]:
        return await self._reader.list_tasks(project=project, include_done=include_done)

    async def get_task(self, key: TaskKey) -> TaskDetail:
        return await self._reader.get_task(key)

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

    async def reload_config(self) -> Answer:
        _refuse("there is nothing to reload")

    async def check_health(self) -> Health:
        _refuse("its health cannot be told")

    async def measure(self) -> tuple[Measure, ...]:
        _refuse("nothing is measured")

    async def render_config(self) -> Mapping[str, object]:
        return render_settings(self._settings)

    async def list_cooldowns(self) -> tuple[Cooldown, ...]:
        return await self._reader.list_cooldowns()

    async def clear_cooldowns(self, *, agent: str | None, model: str | None = None) -> Answer:
        """As the service does it, in its place: under its lock, so that none starts in between."""
        clock = SystemClock()
        with held(self._place.lock):
            async with SqliteStore.open(self._place.database, clock=clock) as store:
                return await clear_cooldowns(
                    store,
                    agents=self._settings.agents,
                    agent=agent,
                    model=model,
                    now=clock.now(),
                    event=lambda kind, why: Event(kind, why, clock.now()),
                )

    async def list_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        return await self._reader.list_unknown_failures()

    async def list_flakes(self, *, project: str | None = None) -> tuple[Flake, ...]:
        return await self._reader.list_flakes(project=project)

    async def search_memory(self, text: str, *, project: str | None = None, limit: int = 20) -> tuple[Memory, ...]:
        return await self._reader.search_memory(text, project=project, limit=limit)

    async def forget_memory(self, run: RunId) -> Answer:
        _refuse(f"what {run} learned cannot be forgotten")

    async def list_notices(self, *, after: int = 0, limit: int = 50) -> tuple[Notice, ...]:
        return await self._reader.list_notices(after=after, limit=limit)

    async def list_boards(self) -> tuple[BoardStatus, ...]:
        return await self._reader.list_boards()

    async def sync_board(self, project: str, *, create: bool = False) -> Answer:
        _refuse(f"the board of {project} cannot be {'completed' if create else 'changed'}")

    async def load_diff(self, key: TaskKey) -> str:
        _refuse(f"the diff of {key} is read from git by the service")

    async def add_task(self, project: str, *, title: str, body: str, labels: Sequence[str] = ()) -> Answer:
        _refuse(f"{title!r} cannot be filed in {project} ({len(body)} characters, labels {list(labels)})")

    async def add_internal_task(
        self, project: str, *, title: str, body: str, kind: TaskKind = TaskKind.CHANGE, pins: Pins = NO_PINS
    ) -> Answer:
        _refuse(f"{title!r} cannot be added to {project} ({kind.value}, {len(body)} characters, {pins.labels})")

    async def publish_task(self, key: TaskKey) -> Answer:
        _refuse(f"{key} cannot be published")

    async def list_jobs(self, *, project: str | None = None) -> tuple[JobSummary, ...]:
        return await self._jobs.list_jobs(project=project)

    async def get_job(self, project: str, name: str, *, limit: int = 20) -> JobDetail:
        return await self._jobs.get_job(project, name, limit=limit)

    async def render_report(self, *, days: int = 1, project: str | None = None) -> str:
        return await self._jobs.render_report(days=days, project=project)

    async def list_skills(self, *, project: str | None = None) -> SkillReport:
        library, home, known = GitSkills(self._place.root, parse_skill), self._place.root, {}
        for slug, settings in self._settings.projects.items():
            places = places_of(settings.skills, home=home, project=slug, base_sha=None)
            known[slug] = (settings.skills, await load_catalog(library, places))
        return report_skills(known, project=project)

    async def run_job(self, project: str, name: str) -> Answer:
        _refuse(f"{name} of {project} cannot be started")

    async def switch_job(self, project: str, name: str, *, enabled: bool) -> Answer:
        _refuse(f"{name} of {project} cannot be switched {'on' if enabled else 'off'}")

    async def ask(self, new: NewInquiry) -> Inquiry:
        _refuse(f"nobody answers a question of {len(new.question)} characters")

    async def get_inquiry(self, inquiry: InquiryId) -> Inquiry:
        _refuse(f"{inquiry} is not answered")

    async def list_inquiries(self, *, talk: str | None = None, limit: int = 20) -> tuple[Inquiry, ...]:
        _refuse(f"the last {limit} questions{f' of {talk}' if talk else ''} are not answered")

    async def cancel_inquiry(self, inquiry: InquiryId) -> Answer:
        _refuse(f"{inquiry} cannot be cancelled")

    async def list_untold(self, channel: str) -> tuple[Inquiry, ...]:
        _refuse(f"nothing is said in {channel}")

    async def note_told(self, inquiry: InquiryId) -> None:
        _refuse(f"the answer to {inquiry} cannot have been said")

    async def approve_task(self, key: TaskKey, *, head: str = "") -> Answer:
        _refuse(f"{key} cannot be approved{head and ' at '}{head}")

    async def retry_task(self, key: TaskKey) -> Answer:
        _refuse(f"{key} cannot be retried")

    async def revert(self, text: str) -> Answer:
        _refuse(f"{text} cannot be taken back")

    async def stop_task(self, key: TaskKey) -> Answer:
        _refuse(f"{key} cannot be stopped")

    async def block_task(self, key: TaskKey, *, why: str) -> Answer:
        _refuse(f"{key} cannot be blocked ({why})")

    async def unblock_task(self, key: TaskKey) -> Answer:
        _refuse(f"{key} cannot be unblocked")

    async def delegate_task(self, key: TaskKey, *, accept: bool) -> Answer:  # noqa: ARG002 - as the port has it
        _refuse(f"{key} cannot be answered")

    async def start_task(self, key: TaskKey) -> Answer:
        _refuse(f"{key} cannot be started")

    async def claim_pull(self, pull: str) -> Answer:
        _refuse(f"{pull} cannot be claimed")

    async def review_pull(self, pull: str, *, again: bool = False) -> Answer:
        _refuse(f"{pull} cannot be reviewed{' again' if again else ''}")

    async def close_task(self, key: TaskKey) -> Answer:
        _refuse(f"{key} cannot be closed")

    async def say_to(self, key: TaskKey, word: Word) -> Answer:
        _refuse(f"nothing can be said to the agent of {key} ({len(word.text)} characters)")

    async def comment_task(self, key: TaskKey, *, text: str) -> Answer:
        _refuse(f"{key} cannot be commented on ({len(text)} characters)")

    def subscribe(self) -> AsyncIterator[Event]:
        _refuse("there is nothing to follow")

    async def set_paused(self, *, paused: bool, project: str | None = None) -> Answer:
        _refuse(f"{project or 'Nightcrew'} cannot be {'paused' if paused else 'resumed'}")

    async def drain(self) -> Answer:
        _refuse("there is nothing to end")

    async def attach_argv(self, key: TaskKey) -> Sequence[str]:
        _refuse(f"where {key} runs is not known")

    async def set_subscription(self, receiver: str, *, project: str | None, is_on: bool) -> Answer:
        _refuse(f"{receiver} of {project} is {is_on} in vain: there are no chats")

    async def test_notices(self, receiver: str | None) -> Answer:
        _refuse(f"{receiver or 'nobody'} can be told nothing")

    async def examine(self, *, fix: bool) -> tuple[Diagnosis, ...]:
        _refuse(f"nothing is looked at this way ({fix=}); `nightcrew doctor` looks by itself")

    async def prune(self, *, dry_run: bool) -> Answer:
        _refuse(f"nothing can be taken away ({dry_run=})")

    async def wake(self) -> Answer:
        _refuse("there is nobody to wake")


def _refuse(words: str) -> NoReturn:
    raise Unavailable(f"{words} while the service is not running; start it with: nightcrew serve")
