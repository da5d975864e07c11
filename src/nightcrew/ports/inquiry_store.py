"""Where people's questions are kept; part of the store."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from nightcrew.core.ids import InquiryId
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry

InquiryChange = Callable[[Inquiry], Inquiry]
"""A pure change, applied to the question as it is stored at that moment."""


class InquiryStore(Protocol):
    """What `ports.store.Store` says of its methods holds here."""

    async def record_inquiry(self, inquiry: Inquiry, *, event: Event) -> None:
        """Insert it. Of those that are over, only the newest thousand are kept."""
        ...

    async def change_inquiry(self, inquiry: InquiryId, change: InquiryChange, *, event: Event | None = None) -> Inquiry:
        """Apply a change in one transaction with its event; the question as it stands then. Missing if there is
        none."""
        ...

    async def find_inquiry(self, inquiry: InquiryId) -> Inquiry | None: ...

    async def load_inquiries(
        self, *, talk: str | None = None, open_only: bool = False, untold_in: str | None = None, limit: int = 1000
    ) -> tuple[Inquiry, ...]:
        """The newest `limit`, oldest first: of a conversation, those that are open, those that a channel has still to
        say."""
        ...

    async def note_told(self, inquiry: InquiryId, *, at: datetime) -> None:
        """A channel has said the answer."""
        ...
