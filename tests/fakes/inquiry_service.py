"""The part of the service in memory that takes people's questions. Nobody answers them but the test, by `answer`."""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.ids import InquiryId
from nightcrew.core.model.inquiry import Inquiry, InquiryState, Try
from nightcrew.ports.answer import Answer
from nightcrew.ports.inquiry_service import NewInquiry

_NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class FakeInquiries(ABC):
    """Implements `nightcrew.ports.inquiry_service.InquiryService`."""

    inquiries: dict[InquiryId, Inquiry]
    at_once = ""
    """What is answered at once, so that a client need not wait."""
    orders: tuple[str, ...] = ()

    @abstractmethod
    def _may_write(self) -> None: ...

    async def ask(self, new: NewInquiry) -> Inquiry:
        self._may_write()
        if not new.question.strip():
            raise Invalid("a question needs a text")
        name = InquiryId(f"01ASK{len(self.inquiries) + 1:021d}")
        at = _NOW + timedelta(seconds=len(self.inquiries))
        project = new.task.project if new.task is not None else new.project
        self.inquiries[name] = Inquiry(
            name, new.talk or name, new.question.strip(), at,
            project=project, task=new.task, agent=new.agent, origin=new.origin,
        )  # fmt: skip
        if self.at_once:
            self.answer(name, self.at_once, *self.orders)
        return self.inquiries[name]

    async def get_inquiry(self, inquiry: InquiryId) -> Inquiry:
        if inquiry not in self.inquiries:
            raise Missing(f"there is no question {inquiry}")
        return self.inquiries[inquiry]

    async def list_inquiries(self, *, talk: str | None = None, limit: int = 20) -> tuple[Inquiry, ...]:
        return tuple(one for one in self.inquiries.values() if talk in (None, one.talk))[-limit:]

    async def cancel_inquiry(self, inquiry: InquiryId) -> Answer:
        self._may_write()
        found = await self.get_inquiry(inquiry)
        if not found.is_open:
            return Answer(False, "it is over already")
        self.fail(inquiry, "It was cancelled.", kind="cancelled")
        return Answer(True, "it is cancelled")

    async def list_untold(self, channel: str) -> tuple[Inquiry, ...]:
        return tuple(one for one in self.inquiries.values() if one.origin.channel == channel and one.told_at is None)

    async def note_told(self, inquiry: InquiryId) -> None:
        self.inquiries[inquiry] = replace(self.inquiries[inquiry], told_at=_NOW)

    # What becomes of them

    def take(self, inquiry: InquiryId, agent: str = "claude") -> None:
        """An agent begins."""
        tries = (Try(1, agent, "", "session", _NOW, 300.0, started_at=_NOW),)
        self.inquiries[inquiry] = replace(self.inquiries[inquiry], state=InquiryState.RUNNING, tries=tries)

    def answer(self, inquiry: InquiryId, text: str, *orders: str) -> None:
        found = self.inquiries[inquiry]
        answered = replace(found, state=InquiryState.ANSWERED, answer=text, orders=orders, ended_at=_NOW)
        self.inquiries[inquiry] = answered

    def fail(self, inquiry: InquiryId, words: str, *, kind: str = "no_agent") -> None:
        found = self.inquiries[inquiry]
        self.inquiries[inquiry] = replace(found, state=InquiryState.FAILED, kind=kind, failure=words, ended_at=_NOW)
