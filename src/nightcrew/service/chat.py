"""The chats as parts of the service: each on where the settings name its token, and on anew when they change. What goes
wrong with one is its own trouble: it is started again, and nothing waits for it."""

import asyncio
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import structlog

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.secret import resolve_secret
from nightcrew.core.chat.message import Message
from nightcrew.core.errors import Unavailable
from nightcrew.core.model.chat import ChatSettings
from nightcrew.ports.channel import Place, Speaker
from nightcrew.ports.clock import Clock
from nightcrew.ports.cursor import Cursor
from nightcrew.ports.service import Service
from nightcrew.ports.store import Store
from nightcrew.service.wanted import until_changed

if TYPE_CHECKING:
    from nightcrew.channels.desk import Desk


class Channel(Speaker, Protocol):
    """A chat that can be run."""

    async def run(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Makings:
    """What a channel is made of."""

    token: str
    settings: ChatSettings
    desk: "Desk"
    clock: Clock
    cursor: Cursor
    report: Callable[[str], None]


def make_telegram(made_of: Makings) -> Channel:
    """The library is loaded only where it is used."""
    from nightcrew.channels.telegram import TelegramChannel, TelegramSettings

    given = made_of.settings
    settings = TelegramSettings(made_of.token, frozenset(given.users), frozenset(given.chats))
    if given.base_url:
        settings = TelegramSettings(settings.token, settings.users, settings.chats, given.base_url)
    return TelegramChannel(settings, made_of.desk, clock=made_of.clock, cursor=made_of.cursor, report=made_of.report)


def make_discord(made_of: Makings) -> Channel:
    """The library is loaded only where it is used."""
    from nightcrew.channels.discord import DiscordChannel, DiscordSettings

    given = made_of.settings
    settings = DiscordSettings(made_of.token, frozenset(given.users), frozenset(given.chats), given.base_url)
    return DiscordChannel(settings, made_of.desk, clock=made_of.clock, report=made_of.report)


class ChatPart:
    """One platform. As a speaker it passes on to the channel that runs now; there is none between two."""

    def __init__(
        self,
        name: str,
        home: Home,
        *,
        make: Callable[[Makings], Channel],
        wanted: Callable[[], ChatSettings],
        learn: Callable[[Iterable[str]], None],
    ) -> None:
        """`wanted` gives the settings in force; `learn` is told the token."""
        self.name = name
        self._home = home
        self._make = make
        self._wanted = wanted
        self._learn = learn
        self._channel: Channel | None = None

    @property
    def is_wanted(self) -> bool:
        return bool(self._wanted().token)

    async def say(self, place: Place, message: Message) -> None:
        if self._channel is None:
            raise Unavailable(f"{self.name} is not connected")
        await self._channel.say(place, message)

    def hears(self, place: Place, person: str) -> bool:
        """Whether orders are taken at a place: one of `chats`, or a private chat with one of `users`."""
        wanted = self._wanted()
        return bool(wanted.token) and (place.chat in wanted.chats or person in wanted.users)

    async def run(self, service: Service, clock: Clock, store: Store) -> None:
        """Run the channel for ever, or wait until one is wanted. Raises what ends it."""
        while True:
            wanted = self._wanted()
            if not wanted.token:
                await until_changed(self._wanted, wanted)
                continue
            token = resolve_secret(
                wanted.token, f"channels.{self.name}.token", environ=load_environment(), base=self._home.root
            ).reveal()
            self._learn([token])
            # Its library is large: it is loaded beside the loop, which goes on meanwhile.
            await asyncio.to_thread(importlib.import_module, f"nightcrew.channels.{self.name}")
            from nightcrew.channels.desk import Desk

            cursor = StoredCursor(store, f"chat.cursor.{self.name}")
            desk = Desk(service, clock, StoredNote(store, f"chat.confirm.{self.name}"))
            made_of = Makings(token, wanted, desk, clock, cursor, partial(_tell, self.name))
            self._channel = self._make(made_of)
            try:
                async with asyncio.TaskGroup() as group:
                    running = group.create_task(self._channel.run(), name=self.name)
                    await until_changed(self._wanted, wanted)
                    running.cancel()
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from errors
            finally:
                self._channel = None


def _tell(channel: str, words: str) -> None:
    structlog.get_logger("chat").warning("trouble", channel=channel, words=words)


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """Implements `ports.cursor.Cursor` as a value of the store."""

    store: Store
    name: str

    async def load(self) -> int | None:
        found = await self.store.find_value(self.name)
        return int(found) if found is not None else None

    async def save(self, position: int) -> None:
        await self.store.save_value(self.name, str(position))


@dataclass(frozen=True, slots=True)
class StoredNote:
    """Implements `ports.note.Note` as a value of the store."""

    store: Store
    name: str

    async def load(self) -> str:
        return await self.store.find_value(self.name) or ""

    async def save(self, text: str) -> None:
        await self.store.save_value(self.name, text)
