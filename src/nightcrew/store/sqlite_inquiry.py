"""The part of the SQLite store that keeps people's questions. Each method is a line, as in `sqlite`."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from aiosqlite import Connection

from nightcrew.core.ids import InquiryId
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.ports.inquiry_store import InquiryChange
from nightcrew.store import inquiry as inquiries

T = TypeVar("T")


class SqliteInquiries(ABC):
    """Implements `nightcrew.ports.inquiry_store.InquiryStore`."""

    @abstractmethod
    async def _read(self, question: Callable[[Connection], Awaitable[T]]) -> T: ...

    @abstractmethod
    async def _write(self, body: Callable[[Connection], Awaitable[T]]) -> T: ...

    async def record_inquiry(self, inquiry: Inquiry, *, event: Event) -> None:
        await self._write(lambda db: inquiries.record_inquiry(db, inquiry, event=event))

    async def change_inquiry(self, inquiry: InquiryId, change: InquiryChange, *, event: Event | None = None) -> Inquiry:
        return await self._write(lambda db: inquiries.change_inquiry(db, inquiry, change, event=event))

    async def find_inquiry(self, inquiry: InquiryId) -> Inquiry | None:
        return await self._read(lambda db: inquiries.find_inquiry(db, inquiry))

    async def load_inquiries(
        self, *, talk: str | None = None, open_only: bool = False, untold_in: str | None = None, limit: int = 1000
    ) -> tuple[Inquiry, ...]:
        return await self._read(
            lambda db: inquiries.load_inquiries(db, talk=talk, open_only=open_only, untold_in=untold_in, limit=limit)
        )

    async def note_told(self, inquiry: InquiryId, *, at: datetime) -> None:
        await self._write(lambda db: inquiries.note_told(db, inquiry, at=at))
