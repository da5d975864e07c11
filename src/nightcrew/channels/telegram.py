"""Telegram, by long polling: private chats, groups and forum topics. An update is taken once, also over restarts; if
the service dies while one is carried out it is not carried out again, and the person asks again."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from telegram import Bot, CallbackQuery, LinkPreviewOptions, MaybeInaccessibleMessage, Update
from telegram import Message as TelegramMessage
from telegram.constants import ChatType
from telegram.error import BadRequest, TelegramError
from telegram.request import HTTPXRequest

from nightcrew.channels.access import Access
from nightcrew.channels.desk import Asker, Desk
from nightcrew.channels.inquiry import Inquiries
from nightcrew.channels.part import say_parts
from nightcrew.channels.patience import Patience
from nightcrew.channels.reply import Replies
from nightcrew.channels.room import Rooms, open_rooms
from nightcrew.channels.stream import Streams
from nightcrew.channels.telegram_error import translate
from nightcrew.channels.telegram_form import LIMIT, cost_of, entities_of, keyboard_of, parts_of
from nightcrew.core.chat.message import Message, Span
from nightcrew.core.errors import OutcomeUnknown, PortError, Unavailable
from nightcrew.ports.channel import Place
from nightcrew.ports.clock import Clock
from nightcrew.ports.cursor import Cursor

NAME = "telegram"
_REMEMBERED = 500
"""Updates that are known again. Their numbers grow, but for one drawn anew after a quiet week (Bot API, Update)."""
POLL_S = 25
"""How long the server holds a poll open (Bot API, getUpdates)."""
CALL_S = 20.0
"""How long the server may say nothing."""
WHOLE_CALL_S = 60.0
"""How long a call may take in all: a server that sends a byte now and then is never silent."""
LATE = timedelta(minutes=10)
"""What was written so long ago was kept by Telegram while nobody asked for it."""
_WANTED = ("message", "callback_query")


@dataclass(frozen=True, slots=True)
class TelegramSettings:
    """`base_url` is the Bot API's address up to the token."""

    token: str
    users: frozenset[str]
    chats: frozenset[str]
    base_url: str = "https://api.telegram.org/bot"


class TelegramChannel:
    """Implements `ports.channel.Speaker`, and gives orders to the desk. `run` must be running."""

    limit = LIMIT
    edit_every_s = 4.0
    """Groups take 20 messages a minute, edits among them (core.telegram.org/bots/faq); some are left for the rest."""

    whole_call_s = WHOLE_CALL_S
    cost = staticmethod(cost_of)

    def __init__(
        self, settings: TelegramSettings, desk: Desk, *, clock: Clock, cursor: Cursor, report: Callable[[str], None]
    ) -> None:
        self.access = Access(settings.users, settings.chats, report)
        self._desk = desk
        self._clock = clock
        self._cursor = cursor
        self._report = report
        self._is_open = False
        self._replies = Replies(self, clock, report)
        self._patient = Patience(NAME, clock, report)
        request = partial(HTTPXRequest, read_timeout=CALL_S, write_timeout=CALL_S, connect_timeout=10.0)
        self._bot = Bot(
            settings.token,
            base_url=settings.base_url,
            request=request(connection_pool_size=8, pool_timeout=CALL_S),
            get_updates_request=request(connection_pool_size=1, pool_timeout=CALL_S),
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """The connections, and who the bot is. Raises PortError if Telegram cannot be reached or does not know it."""
        try:
            async with asyncio.timeout(self.whole_call_s):
                await self._bot.initialize()
            self._is_open = True
            yield
        except TimeoutError:
            raise Unavailable("Telegram does not come to an end") from None
        except TelegramError as error:
            raise translate(error, now=self._clock.now()) from error
        finally:
            self._is_open = False
            await self._bot.shutdown()

    async def run(self) -> None:
        """Take orders until cancelled. Raises PortError as `opened` does."""
        async with self.opened(), open_rooms() as rooms:
            streams = Streams(self._desk.service, self, self._clock, rooms.group, self._report)
            self._desk.follow = streams.follow
            inquiries = Inquiries(NAME, self._desk, self, self._replies, clock=self._clock, group=rooms.group)
            self._desk.ask = inquiries.ask
            inquiries.resume()
            position = await self._cursor.load()
            taken = deque([position], maxlen=_REMEMBERED)
            while True:
                for update in await self._patient.call(partial(self._poll, position)):
                    if update.update_id in taken:
                        continue
                    position = update.update_id
                    taken.append(position)
                    await self._cursor.save(position)
                    self._take(update, rooms)

    async def say(self, place: Place, message: Message) -> None:
        if not self._is_open:
            raise Unavailable("Telegram is not connected")
        await say_parts(
            parts_of(message),
            message,
            lambda part, last: self.post(place, part, message=last, quiet=message.quiet),
        )

    async def post(
        self, place: Place, spans: Sequence[Span], *, message: Message | None = None, quiet: bool = True
    ) -> str:
        """Send one part, and return its id. The errors are those of `say`."""
        async with self._limited():
            sent = await self._bot.send_message(
                place.chat,
                "".join(span.text for span in spans),
                entities=entities_of(spans),
                message_thread_id=int(place.thread) if place.thread else None,
                disable_notification=quiet,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
                reply_markup=keyboard_of(message.buttons) if message is not None else None,
            )
        return str(sent.message_id)

    async def edit(self, place: Place, posted: str, spans: Sequence[Span]) -> None:
        """Put other text in the place of a part. The errors are those of `say`; the same text again is none."""
        text = "".join(span.text for span in spans)
        async with self._limited():
            try:
                await self._bot.edit_message_text(
                    text, chat_id=place.chat, message_id=int(posted), entities=entities_of(spans)
                )
            except BadRequest as error:
                if "not modified" not in error.message.casefold():
                    raise

    @asynccontextmanager
    async def _limited(self) -> AsyncIterator[None]:
        """Around a call that says something: its errors are those of `say`, and it ends."""
        try:
            async with asyncio.timeout(self.whole_call_s):
                yield
        except TimeoutError:
            raise OutcomeUnknown("Telegram does not come to an end") from None
        except TelegramError as error:
            raise translate(error, now=self._clock.now()) from error

    async def _poll(self, position: int | None) -> Sequence[Update]:
        after = None if position is None else position + 1
        try:
            async with asyncio.timeout(POLL_S + 2 * CALL_S):
                return await self._bot.get_updates(after, timeout=POLL_S, allowed_updates=_WANTED)
        except TimeoutError:
            raise Unavailable("Telegram does not answer") from None
        except TelegramError as error:
            raise translate(error, now=self._clock.now()) from error

    def _take(self, update: Update, rooms: Rooms) -> None:
        if update.callback_query is not None:
            self._take_press(update.callback_query, rooms)
        elif update.message is not None and update.message.text and update.message.from_user is not None:
            is_late = self._clock.now() - update.message.date > LATE
            asker = replace(_asker(update.message, str(update.message.from_user.id)), is_late=is_late)
            if self._is_heard(asker):
                rooms.put(asker.place, partial(self._answer, update.message.text, asker))

    def _take_press(self, press: CallbackQuery, rooms: Rooms) -> None:
        message = press.message  # one that is older than two days comes without its text and topic
        if message is None or not press.data:
            return
        asker = _asker(message, str(press.from_user.id))
        if self._is_heard(asker):
            rooms.put(asker.place, partial(self._pressed, press.id, press.data, asker))

    def _is_heard(self, asker: Asker) -> bool:
        return self.access.may(asker.person, chat=asker.place.chat, is_private=asker.is_private)

    async def _pressed(self, press: str, order: str, asker: Asker) -> None:
        try:
            async with self._limited():
                await self._bot.answer_callback_query(press)
        except PortError as error:
            self._report(f"a button at {asker.place} could not be marked as taken: {error}")
        await self._answer(order, asker)

    async def _answer(self, text: str, asker: Asker) -> None:
        answer = await self._desk.take(text, asker, called=self._bot.username)
        if answer is not None:
            await self._replies.say(asker.place, answer)


def _asker(message: MaybeInaccessibleMessage, person: str) -> Asker:
    is_topic = isinstance(message, TelegramMessage) and message.is_topic_message
    thread = message.message_thread_id if isinstance(message, TelegramMessage) and is_topic else None
    place = Place(str(message.chat.id), str(thread) if thread else "")
    return Asker(NAME, place, person, is_private=message.chat.type == ChatType.PRIVATE)
