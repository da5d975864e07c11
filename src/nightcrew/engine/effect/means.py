"""What effects are made with, and the small things that all of them say."""

from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Missing
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Edge, Evidence, Status, transition
from nightcrew.core.model.event import Event
from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.task import Task
from nightcrew.engine.bus import Bus
from nightcrew.engine.journal import Journal, Subject
from nightcrew.engine.observe import Observer
from nightcrew.engine.ports import Forge, Ports


@dataclass(frozen=True, slots=True)
class Means:
    """Handed to every effect."""

    ports: Ports
    settings: Settings
    journal: Journal
    observer: Observer
    bus: Bus

    def forge(self, key: TaskKey) -> Forge:
        return self.ports.forge_of(self.settings, key.project)

    def project(self, key: TaskKey) -> ProjectSettings:
        return self.observer.project_settings(key.project)

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
