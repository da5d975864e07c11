"""What is kept of one project between looks, and what can be told from it without asking anybody."""

import asyncio
from dataclasses import dataclass, field

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.build import BuildView
from nightcrew.core.model.landing import LandingView
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.skill import SkillCatalog
from nightcrew.core.model.world import Candidate
from nightcrew.engine.claim import ClaimBook
from nightcrew.engine.view.comment import CommentView
from nightcrew.engine.view.dependency import DependencyView
from nightcrew.engine.view.flight import Flights
from nightcrew.engine.view.issue import IssueView, describe_unclear
from nightcrew.engine.view.project import ProjectFacts, ProjectReader
from nightcrew.engine.view.pull import PullReader
from nightcrew.engine.view.queue import QueueReader
from nightcrew.engine.view.sight import TaskSight
from nightcrew.engine.view.tempo import Tempo

TASKS_AT_ONCE = 6
"""Tasks of a project that are read at the same time. More would only queue at the forge's connections."""


@dataclass(slots=True)
class ProjectMemory:
    """What is kept of one project between looks."""

    configured: ProjectSettings
    reader: ProjectReader
    claims: ClaimBook
    issues: IssueView
    pulls: PullReader
    comments: CommentView
    needs: DependencyView
    queue: QueueReader
    builds: tuple[BuildView, ...] = ()
    sights: dict[TaskKey, TaskSight] = field(default_factory=dict)
    facts: ProjectFacts | None = None
    candidates: tuple[Candidate, ...] = ()
    landings: tuple[LandingView, ...] = ()
    problem: str = ""
    tempo: Tempo = field(default_factory=Tempo)
    flights: Flights = field(default_factory=Flights)
    held: str = ""
    """What polling waits for, if it does."""
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TASKS_AT_ONCE))
    touched: dict[TaskKey, int] = field(default_factory=dict)  # how often something was done about a task
    board_problems: tuple[str, ...] = ()
    skills: SkillCatalog = SkillCatalog(pending="nothing has been read yet")
    is_first: bool = True
    """Nothing has been read yet since the start."""

    @property
    def settings(self) -> ProjectSettings:
        """The project's settings with those of its repository laid over, if they are read."""
        return self.configured if self.facts is None else self.facts.settings

    @property
    def base_sha(self) -> Sha | None:
        """Where the base branch was when it was last looked at, None if that is not known or not what holds now."""
        return None if self.facts is None or self.problem else self.facts.base_sha

    def touch(self, key: TaskKey) -> None:
        """Something was done about a task: what was seen of it before holds no longer."""
        self.touched[key] = self.touched.get(key, 0) + 1
        self.sights.pop(key, None)
        self.flights.drop(key)
        if key.number == 0:  # the queue of a base
            self.builds = ()

    def next_at(self, settings: Settings, now: float) -> float | None:
        """When something of it is due to be read, by the monotonic clock; None if that is not known."""
        flight = self.flights.next_at(settings=settings, pace=self.tempo.pace.pace)
        build = self.queue.next_at(settings=settings, pace=self.tempo.pace.pace)
        times = [at for at in (self.tempo.next_at(settings, now), flight, build) if at is not None]
        return min(times, default=None)

    def problems(self) -> tuple[str, ...]:
        """What could not be read at the last look, what access is lacking, what is wrong with the repository's own
        settings, which issues are left alone since who asked for them cannot be told, and what its board lacks."""
        access, wrong = ("", "") if self.facts is None else (self.facts.access, self.facts.problem)
        comments, unclear = self.comments.memory.problem, describe_unclear(self.candidates)
        found = (
            self.problem,
            access,
            wrong,
            comments,
            unclear,
            self.pulls.hidden,
            *self.claims.problems(),
            *self.board_problems,
        )
        return tuple(words for words in found if words)
