"""The part of the store port that is about messages to agents. Mixed into the store, which says how it reads and
writes."""

from collections.abc import Mapping

from aiosqlite import Connection

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.saying import Saying
from nightcrew.store import command as commands
from nightcrew.store import event as events
from nightcrew.store import notice as notices
from nightcrew.store import saying as sayings
from nightcrew.store.connected import Connected


class SayingTable(Connected):
    """What is said in `nightcrew.ports.saying_store.SayingStore` of a method holds here."""

    async def record_saying(self, saying: Saying, *, event: Event, command: SettledCommand | None = None) -> bool:
        async def body(db: Connection) -> bool:
            if not await sayings.record_saying(db, saying):
                return False
            if command is not None:
                await commands.record_command(db, command, event=None)
            await events.record_event(db, event)
            return True

        return await self._write(body)

    async def settle_saying(
        self, settled: SettleSaying, *, event: Event, notice: Notice | None = None
    ) -> Saying | None:
        async def body(db: Connection) -> Saying | None:
            saying = await sayings.settle_saying(db, settled, at=event.at)
            if saying is not None:
                await events.record_event(db, event)
            if saying is not None and notice is not None:
                await notices.record_notice(db, notice)
            return saying

        return await self._write(body)

    async def load_sayings(self, *, task: TaskKey | None = None) -> Mapping[TaskKey, tuple[Saying, ...]]:
        return await self._read(lambda db: sayings.load_sayings(db, task=task))
