"""Asking a question, and its answer; part of the service port."""

from dataclasses import dataclass
from typing import Protocol

from nightcrew.core.ids import InquiryId, TaskKey
from nightcrew.core.model.inquiry import Inquiry, Origin
from nightcrew.ports.answer import Answer


@dataclass(frozen=True, slots=True)
class NewInquiry:
    """What a person asks. `project` and `task` say what it is about (a task that the question names, as `repo#42`, is
    taken where none is given), `agent` who is to answer, `talk` names the
    conversation whose earlier turns belong to it; all may be empty."""

    question: str
    project: str = ""
    task: TaskKey | None = None
    agent: str = ""
    talk: str = ""
    origin: Origin = Origin()


class InquiryService(Protocol):
    """Errors as in `ports.service.Service`."""

    async def ask(self, new: NewInquiry) -> Inquiry:
        """Write the question down; an agent answers it later, also while the service is paused. Conflict if too many
        wait, or the service is about to end."""
        ...

    async def get_inquiry(self, inquiry: InquiryId) -> Inquiry:
        """The question as it is now."""
        ...

    async def list_inquiries(self, *, talk: str | None = None, limit: int = 20) -> tuple[Inquiry, ...]:
        """The newest, oldest first."""
        ...

    async def cancel_inquiry(self, inquiry: InquiryId) -> Answer:
        """Give it up; the agent at work on it is ended."""
        ...

    async def list_untold(self, channel: str) -> tuple[Inquiry, ...]:
        """Those that were asked in this channel, and whose answer was not said there yet, open ones among them."""
        ...

    async def note_told(self, inquiry: InquiryId) -> None:
        """A channel has said the answer."""
        ...
