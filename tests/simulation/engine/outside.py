"""The fakes of the simulation: those of the other tests, with lists that lag behind, sessions whose progress is kept
in memory, and who touched what last."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nightcrew.core.ids import Sha
from nightcrew.core.model.issue import Comment, Issue
from nightcrew.core.model.pull import Review
from nightcrew.ports.runtime import Progress, SessionSpec
from tests.fakes.forge import FakeForge
from tests.fakes.forge_state import Thread
from tests.fakes.runtime import FakeRuntime
from tests.fakes.store import MemoryStore
from tests.fakes.workspace import FakeWorkspaces
from tests.simulation.engine.scene import Scene

LAG_S = 4.0


class LaggingForge(FakeForge):
    """Lists show what was there up to a few seconds ago; direct reads show what is."""

    def __init__(self, scene: Scene, *, login: str) -> None:
        super().__init__(scene.outside, login=login)
        self._scene = scene
        self._chance = scene.chance("lag")
        self._before: dict[int, list[tuple[datetime, Issue]]] = {}
        self._written_at: dict[int, datetime] = {}
        self.by_person_at: dict[tuple[str, int], float] = {}
        self.pushed: dict[str, set[Sha]] = {}
        """Every commit that was ever on a branch of the forge."""

    def touch_by_person(self, slug: str, number: int) -> None:
        self.by_person_at[slug, number] = self._scene.loop.time()

    def untouched_s(self, slug: str, number: int) -> float:
        """For how long no person has changed this issue."""
        return self._scene.loop.time() - self.by_person_at.get((slug, number), -1e9)

    def _touch(self, thread: Thread, **changes: Any) -> None:
        kept = self._before.setdefault(id(thread), [])
        now = self._scene.outside.now()
        kept.append((now, thread.issue))
        while len(kept) > 1 and kept[0][0] < now - timedelta(seconds=2 * LAG_S):
            kept.pop(0)
        super()._touch(thread, **changes)

    def _id(self) -> int:
        number = super()._id()
        if hasattr(self, "_written_at"):
            self._written_at[number] = self._scene.outside.now()
        return number

    def _lag(self) -> datetime:
        now = self._scene.outside.now()
        return now if self._chance.random() < 0.7 else now - timedelta(seconds=self._chance.uniform(0, LAG_S))

    def _as_of(self, thread: Thread, at: datetime) -> Issue:
        """The issue as it was at a time within the lag."""
        for changed_at, before in self._before.get(id(thread), ()):
            if changed_at > at:
                return before
        return thread.issue

    async def list_open_issues(self, project: str) -> tuple[Issue, ...]:
        with self._call("list_open_issues", project):
            at = self._lag()
            seen = [self._as_of(thread, at) for thread in self._issues(project)]
            return self._same(("open", project), tuple([i for i in seen if i.is_open and i.created_at <= at]))

    async def list_updated_issues(self, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
        with self._call("list_updated_issues", project):
            at = self._lag()
            seen = [self._as_of(thread, at) for thread in self._issues(project)]
            found = [issue for issue in seen if issue.updated_at >= known_at and issue.created_at <= at]
            found.sort(key=lambda issue: (issue.updated_at, issue.number), reverse=True)
            return self._same(("updated", project), tuple(found))

    async def list_comments(self, project: str, number: int) -> tuple[Comment, ...]:
        comments = await super().list_comments(project, number)
        at = self._lag()
        shown = tuple([comment for comment in comments if self._written_at[comment.id] <= at])
        return self._same(("lagging comments", project, number), shown)

    async def list_reviews(self, project: str, number: int) -> tuple[Review, ...]:
        reviews = await super().list_reviews(project, number)
        at = self._lag()
        shown = tuple([review for review in reviews if self._written_at[review.id] <= at])
        return self._same(("lagging reviews", project, number), shown)


class QuietRuntime(FakeRuntime):
    """How much was printed is known without asking the disk. `on_start` is told of each agent that really starts."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(now=scene.clock.now)
        self.printed: dict[Path, int] = {}
        self.on_start: Any = None

    async def start_session(self, spec: SessionSpec) -> None:
        count = len(self.started)
        await super().start_session(spec)
        if len(self.started) > count:
            self.on_start(spec)

    def write(self, name: str, output: bytes) -> None:
        folder = self.sessions[name].spec.folder
        self.printed[folder] = self.printed.get(folder, 0) + len(output)
        super().write(name, output)

    def look(self, folder: Path) -> Progress:
        return Progress(folder in self._results, self.printed.get(folder, 0))


@dataclass(slots=True)
class World:
    """The truth: what a restart of the service does not touch."""

    store: MemoryStore
    forge: LaggingForge
    runtime: QuietRuntime
    workspace: FakeWorkspaces
    agents: tuple[str, ...]
    projects: tuple[str, ...]
