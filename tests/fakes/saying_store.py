"""The part of the store in memory that keeps messages to agents."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.saying import Saying, SayingState
from nightcrew.core.model.task import Task


class MemorySayings(ABC):
    """Implements `nightcrew.ports.saying_store.SayingStore`."""

    sayings: dict[str, Saying]

    @abstractmethod
    def _check(self) -> None: ...

    @abstractmethod
    def _append(self, event: Event) -> int: ...

    @abstractmethod
    def _settle(self, command: SettledCommand) -> None: ...

    @abstractmethod
    def _keep_notice(self, notice: Notice) -> bool: ...

    @abstractmethod
    def _get_task(self, key: TaskKey) -> Task: ...

    async def record_saying(self, saying: Saying, *, event: Event, command: SettledCommand | None = None) -> bool:
        self._check()
        self._get_task(saying.task)
        if saying.id in self.sayings:
            return False
        if command is not None:
            self._settle(command)
        self._append(event)
        self.sayings[saying.id] = saying
        return True

    async def settle_saying(
        self, settled: SettleSaying, *, event: Event, notice: Notice | None = None
    ) -> Saying | None:
        self._check()
        saying = self.sayings.get(settled.saying)
        if saying is None or not saying.is_open or saying.run != settled.run:
            return None
        is_back = settled.state is SayingState.QUEUED
        self._append(event)
        if notice is not None:
            self._keep_notice(notice)
        self.sayings[saying.id] = replace(
            saying,
            state=settled.state,
            why=settled.why,
            session=settled.session,
            run=None if is_back else settled.run,
            tries=saying.tries + (is_back and settled.is_tried),
            delivered_at=None if is_back else saying.delivered_at,
            seen_at=event.at if settled.state is SayingState.SEEN else None,
        )
        return self.sayings[saying.id]

    async def load_sayings(self, *, task: TaskKey | None = None) -> Mapping[TaskKey, tuple[Saying, ...]]:
        self._check()
        found: dict[TaskKey, tuple[Saying, ...]] = {}
        for saying in self.sayings.values():
            if task in (None, saying.task):
                found[saying.task] = (*found.get(saying.task, ()), saying)
        return found

    def _bind_sayings(self, run: Run) -> None:
        for saying in self.sayings.values() if run.role is Role.AUTHOR and run.is_open else ():
            if saying.task == run.task and saying.waits:
                self.sayings |= {saying.id: replace(saying, run=run.id)}

    def _note_delivered(self, run: Run) -> None:
        for saying in self.sayings.values() if run.role is Role.AUTHOR and run.state is RunState.RUNNING else ():
            if saying.run == run.id and saying.state is SayingState.QUEUED:
                changed = replace(saying, state=SayingState.DELIVERED, delivered_at=run.started_at)
                self.sayings |= {saying.id: changed}
