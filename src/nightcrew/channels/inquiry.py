"""Questions that are asked in a chat: written down by the service, followed here until there is an answer, which is
said then. Those of before a restart are taken up again, so an answer may come twice, and is never lost."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from nightcrew.channels.desk import Asker, Desk
from nightcrew.channels.reply import Replies
from nightcrew.channels.stream import Pen
from nightcrew.core.chat.markdown import spans_of
from nightcrew.core.chat.message import Button, Message, Span, Style
from nightcrew.core.chat.proposal import parse_proposals
from nightcrew.core.errors import NightcrewError, PortError
from nightcrew.core.ids import InquiryId
from nightcrew.core.model.inquiry import Inquiry, InquiryState, Origin
from nightcrew.core.neutral import one_line
from nightcrew.ports.channel import Place
from nightcrew.ports.clock import Clock
from nightcrew.ports.inquiry_service import NewInquiry

LOOK_EVERY_S = 1.0
EDIT_EVERY_S = 10.0
"""How often the message that shows how it goes is edited at most."""
TALK_FOR = timedelta(minutes=30)
"""A question of the same person at the same place within this time after the last goes on with that conversation."""
AGAIN_AFTER_S = (0.0, 60.0, 600.0, 3600.0)
"""When an answer is said, and said again where it was not taken."""
WANTED_FOR = timedelta(days=1)
"""An answer that could not be said for so long is said no more."""


@dataclass(slots=True)
class Inquiries:
    """Asks for a channel. `pen` writes how it goes, `replies` say what came of it."""

    channel: str
    desk: Desk
    pen: Pen
    replies: Replies
    clock: Clock
    group: asyncio.TaskGroup
    _followed: set[InquiryId] = field(default_factory=set)

    async def ask(self, asker: Asker, question: str) -> None:
        """Write it down, and follow it. Raises NightcrewError with why it is not asked."""
        if not question.strip():
            raise NightcrewError("What do you want to know? /ask QUESTION")
        origin = Origin(self.channel, str(asker.place), asker.person)
        talk = await self._talk(f"{asker.receiver}:{asker.person}")
        inquiry = await self.desk.service.ask(NewInquiry(question, talk=talk, origin=origin))
        self._begin(inquiry)

    def resume(self) -> None:
        """Follow what was asked here before the service started."""
        self.group.create_task(self._resume(), name=f"ask:{self.channel}")

    async def _resume(self) -> None:
        try:
            for inquiry in await self.desk.service.list_untold(self.channel):
                if self.clock.now() - inquiry.asked_at < WANTED_FOR:
                    self._begin(inquiry)
        except PortError as error:
            self.replies.report(f"what was asked before could not be read: {error}")

    async def _talk(self, prefix: str) -> str:
        """The name of the conversation: that of the last question, or a new one by its time."""
        now = self.clock.now()
        for inquiry in reversed(await self.desk.service.list_inquiries(limit=50)):
            if inquiry.talk.startswith(f"{prefix}:") and now - inquiry.asked_at < TALK_FOR:
                return inquiry.talk
        return f"{prefix}:{int(now.timestamp())}"

    def _begin(self, inquiry: Inquiry) -> None:
        if inquiry.id not in self._followed:
            self._followed.add(inquiry.id)
            self.group.create_task(self._follow(inquiry), name=f"ask:{inquiry.id}")

    async def _follow(self, inquiry: Inquiry) -> None:
        place = _place(inquiry.origin.place)
        progress = _Progress(self.pen, place, self.clock.monotonic)
        try:
            while inquiry.is_open:
                await progress.show(_state(inquiry))
                await asyncio.sleep(LOOK_EVERY_S)
                inquiry = await self.desk.service.get_inquiry(inquiry.id)
            await self._tell(inquiry, place)
        except NightcrewError as error:
            self.replies.report(f"following a question at {place} ended: {error}")
        finally:
            self._followed.discard(inquiry.id)
        await progress.show(_state(inquiry), is_last=True)

    async def _tell(self, inquiry: Inquiry, place: Place) -> None:
        """Say the answer; a platform that does not take it is tried again some times. It stays untold else, and is said
        after the next start."""
        asker = Asker(self.channel, place, inquiry.origin.person)
        orders = [proposal.order for proposal in parse_proposals(inquiry.orders) if proposal.order is not None]
        message = render_inquiry(inquiry, [await self.desk.offer(order, asker) for order in orders])
        for pause_s in AGAIN_AFTER_S:
            await asyncio.sleep(pause_s)
            if await self.replies.say(place, message):
                await self.desk.service.note_told(inquiry.id)
                return


@dataclass(slots=True)
class _Progress:
    """One message that is edited. What a platform does not take of it is left out: it is not the answer."""

    pen: Pen
    place: Place
    monotonic: Callable[[], float]
    posted: str = ""
    shown: str = ""
    began_s: float = 0.0
    wrote_s: float = 0.0

    async def show(self, words: str, *, is_last: bool = False) -> None:
        now_s = self.monotonic()
        self.began_s = self.began_s or now_s
        if self.posted and not is_last and now_s - self.wrote_s < max(EDIT_EVERY_S, self.pen.edit_every_s):
            return
        span = Span(f"{words} ({now_s - self.began_s:.0f} s)")
        if span.text == self.shown or (is_last and not self.posted):
            return
        self.wrote_s, self.shown = now_s, span.text
        try:
            if self.posted:
                await self.pen.edit(self.place, self.posted, (span,))
            else:
                self.posted = await self.pen.post(self.place, (span,))
        except PortError:
            return


def render_inquiry(inquiry: Inquiry, buttons: Sequence[Button]) -> Message:
    """The question in short, the answer, and what it proposes: each order whole, and their buttons."""
    head = Span(f"{one_line(inquiry.question, 150)}\n", Style.BOLD)
    if inquiry.state is InquiryState.FAILED:
        return Message((head, Span(inquiry.failure)))
    spans = [head, *spans_of(inquiry.answer)]
    proposals = parse_proposals(inquiry.orders)
    if proposals:
        spans.append(Span("\nIt proposes; nothing of it is done unless you say so:\n"))
    for proposal in proposals:
        spans.append(Span(proposal.text, Style.CODE if "\n" not in proposal.text else Style.BLOCK))
        spans.append(Span("\n" if proposal.order is not None else " (not an order that can be given here)\n"))
    return Message(tuple(spans), tuple(buttons))


def _state(inquiry: Inquiry) -> str:
    match inquiry.state:
        case InquiryState.ASKED:
            return "Waiting for an agent" if not inquiry.tries else "Waiting for another agent"
        case InquiryState.RUNNING:
            return f"{inquiry.tries[-1].agent} is looking"
        case InquiryState.ANSWERED:
            return f"{inquiry.tries[-1].agent if inquiry.tries else 'Somebody'} answered"
        case InquiryState.FAILED:
            return "There is no answer"


def _place(text: str) -> Place:
    chat, _, thread = text.partition("/")
    return Place(chat, thread)
