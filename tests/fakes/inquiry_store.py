"""The part of the store in memory that keeps people's questions."""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime

from nightcrew.core.errors import Missing
from nightcrew.core.ids import InquiryId
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.ports.inquiry_store import InquiryChange

KEPT = 1000


class MemoryInquiries(ABC):
    """Implements `nightcrew.ports.inquiry_store.InquiryStore`."""

    writes: int
    inquiries: dict[InquiryId, Inquiry]

    @abstractmethod
    def _check(self) -> None: ...

    @abstractmethod
    def _append(self, event: Event) -> int: ...

    async def record_inquiry(self, inquiry: Inquiry, *, event: Event) -> None:
        self._check()
        self._append(event)
        self.inquiries[inquiry.id] = inquiry
        kept = {one.id for one in self._ordered()[-KEPT:]}
        self.inquiries = {key: one for key, one in self.inquiries.items() if one.is_open or key in kept}

    async def change_inquiry(self, inquiry: InquiryId, change: InquiryChange, *, event: Event | None = None) -> Inquiry:
        self._check()
        if inquiry not in self.inquiries:
            raise Missing(f"there is no question {inquiry}")
        changed = change(self.inquiries[inquiry])
        if event is not None:
            self._append(event)
        self.inquiries[inquiry] = changed
        self.writes += 1
        return changed

    async def find_inquiry(self, inquiry: InquiryId) -> Inquiry | None:
        self._check()
        return self.inquiries.get(inquiry)

    async def load_inquiries(
        self, *, talk: str | None = None, open_only: bool = False, untold_in: str | None = None, limit: int = 1000
    ) -> tuple[Inquiry, ...]:
        self._check()
        found = [
            one
            for one in self._ordered()
            if talk in (None, one.talk)
            and (one.is_open or not open_only)
            and (untold_in is None or (one.told_at is None and one.origin.channel == untold_in != ""))
        ]
        return tuple(found[-limit:] if limit > 0 else ())

    async def note_told(self, inquiry: InquiryId, *, at: datetime) -> None:
        self._check()
        self.inquiries[inquiry] = replace(self.inquiries[inquiry], told_at=at)
        self.writes += 1

    def _ordered(self) -> list[Inquiry]:
        return sorted(self.inquiries.values(), key=lambda one: (one.asked_at, one.id))
