"""What effects are made with, and the small things that all of them say."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nightcrew.core.cut import cut
from nightcrew.core.errors import Missing
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Edge, Evidence, Status, transition
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import strip_controls
from nightcrew.engine.bus import Bus
from nightcrew.engine.internal import InternalTracker
from nightcrew.engine.journal import Journal, Subject
from nightcrew.engine.observe import Observer
from nightcrew.engine.ports import Forge, Ports
from nightcrew.ports.agent import Agent

_NOTICE_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class Means:
    """Handed to every effect: what is in force, as one value. A reload puts another in its place between two ticks; an
    action keeps the one that it began with."""

    ports: Ports
    settings: Settings
    journal: Journal
    observer: Observer
    bus: Bus
    projects: Mapping[str, ProjectSettings] | None = None
    """The projects' settings with those of their repositories laid over, as they were when the action began; None
    outside of actions: as they are now."""
    started_with: dict[RunId, Agent] = field(default_factory=dict)
    """The adapter that each open run was started with, which also has to read what the run leaves. All generations
    share it; a run that is not in it belongs to the agent as it is now."""

    def frozen(self) -> "Means":
        """The same for one action: settings of projects that change meanwhile are not seen by it."""
        return replace(self, projects=self.observer.all_project_settings())

    def forge(self, key: TaskKey) -> Forge:
        """The forge of a task's project. What an issue says is read from the store, where none stands for the task."""
        forge = self.ports.forge_of(self.settings, key.project)
        return replace(forge, tracker=InternalTracker(forge.tracker, self.ports.store)) if key.is_internal else forge

    def project(self, key: TaskKey) -> ProjectSettings:
        if self.projects is not None and key.project in self.projects:
            return self.projects[key.project]
        return self.observer.project_settings(key.project)

    def is_outdated(self, key: TaskKey) -> bool:
        """Whether other settings of the project are in force by now, or it is not configured any more."""
        return self.observer.all_project_settings().get(key.project) != self.project(key)

    def find_adapter(self, run: Run) -> Agent | None:
        """What can read the output of a run; None if its agent is not configured any more."""
        return self.started_with.get(run.id) or self.ports.agents.get(run.agent)

    async def task(self, key: TaskKey) -> Task:
        """The task as stored now; Missing if it is not one."""
        task = await self.ports.store.find_task(key)
        if task is None:
            raise Missing(f"{key} is not a task")
        return task

    async def run(self, run: RunId) -> Run:
        found = await self.ports.store.find_run(run)
        if found is None:
            raise Missing(f"there is no run {run}")
        return found

    def folder(self, run: Run) -> Path:
        return self.ports.home / run.folder

    def event(
        self, kind: str, why: str, *, task: TaskKey | None = None, run: RunId | None = None, **data: object
    ) -> Event:
        """A fact of now, without secrets: events are kept for ever, logged and shown."""
        shown = {key: self.ports.mask(value) if isinstance(value, str) else value for key, value in data.items()}
        return Event(kind, self.ports.mask(why), self.ports.clock.now(), task, run, shown)

    def notice(self, kind: str, priority: Priority, words: str, *, task: TaskKey | None, mark: str = "") -> Notice:
        """What a person is to be told now of a task, or (None) of no project in particular, without secrets."""
        said = cut(strip_controls(self.ports.mask(words)), _NOTICE_LENGTH)
        return Notice("" if task is None else task.project, kind, priority, said, self.ports.clock.now(), task, mark)

    def status_event(self, key: TaskKey, edge: Edge, why: str, *, run: RunId | None = None) -> Event:
        """The event of a change of status."""
        return self.event(
            "status.changed",
            why,
            task=key,
            run=run,
            source=edge.source.value,
            target=edge.target.value,
            evidence=edge.evidence.name.lower(),
        )


def subject(key: TaskKey, run: RunId | None = None) -> Subject:
    return Subject(key, run)


def edge(source: Status, target: Status, evidence: Evidence) -> Edge:
    return transition(source, target, evidence)
