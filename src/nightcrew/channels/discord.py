"""Discord, over its gateway: private messages, channels and threads, by slash commands, or by writing to the bot. The
library keeps the connection, resumes it, and waits out short limits by itself."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route
from discord.utils import MISSING

from nightcrew.channels.access import Access
from nightcrew.channels.desk import Asker, Desk
from nightcrew.channels.discord_error import translate
from nightcrew.channels.discord_form import LIMIT, cost_of, parts_of, render_spans, view_of
from nightcrew.channels.inquiry import Inquiries
from nightcrew.channels.part import say_parts
from nightcrew.channels.reply import Replies
from nightcrew.channels.room import Rooms, open_rooms
from nightcrew.channels.stream import Streams
from nightcrew.core.chat.message import Message, Span
from nightcrew.core.chat.order import HELP, Verb
from nightcrew.core.errors import OutcomeUnknown, Unavailable
from nightcrew.ports.channel import Place
from nightcrew.ports.clock import Clock

NAME = "discord"
CALL_S = 60.0
_REMEMBERED = 500
_LONGEST_LIMIT_S = 30.0
"""Limits up to this are waited out by the library, which takes no less."""
_TROUBLE = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)
"""What a call can end with."""


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    """`base_url` empty: Discord's own API; else where another one answers, which is asked for its gateway as well."""

    token: str
    users: frozenset[str]
    chats: frozenset[str]
    base_url: str = ""


class DiscordChannel:
    """Implements `ports.channel.Speaker`, and gives orders to the desk. `run` must be running."""

    limit = LIMIT
    edit_every_s = 1.5
    """Five edits in five seconds a channel are allowed."""

    cost = staticmethod(cost_of)

    def __init__(self, settings: DiscordSettings, desk: Desk, *, clock: Clock, report: Callable[[str], None]) -> None:
        self.access = Access(settings.users, settings.chats, report)
        self._settings = settings
        self._desk = desk
        self._clock = clock
        self._report = report
        self._replies = Replies(self, clock, report)
        self._client: _Client | None = None

    async def run(self) -> None:
        """Take orders until cancelled. Raises PortError when Discord cannot be reached at first, or does not want the
        bot."""
        if self._settings.base_url:
            Route.BASE = self._settings.base_url.rstrip("/")  # the library has no other place for it
        client = _Client(commands=tuple(HELP))
        try:
            # The rooms are within it: what is still answered must have ended before the connections are closed.
            async with client, open_rooms() as rooms:
                client.take = partial(self._take, rooms)
                await self._serve(client, rooms)
        except _TROUBLE as error:
            found = translate(error, now=self._clock.now())
            raise found if not isinstance(found, OutcomeUnknown) else Unavailable(str(found)) from error
        finally:
            self._client = None

    async def _serve(self, client: "_Client", rooms: Rooms) -> None:
        streams = Streams(self._desk.service, self, self._clock, rooms.group, self._report)
        self._desk.follow = streams.follow
        inquiries = Inquiries(NAME, self._desk, self, self._replies, clock=self._clock, group=rooms.group)
        self._desk.ask = inquiries.ask
        inquiries.resume()
        async with asyncio.timeout(CALL_S):
            await client.login(self._settings.token)
            await _find_gateway(client, self._settings.base_url)
        self._client = client
        await client.connect(reconnect=True)

    async def say(self, place: Place, message: Message) -> None:
        await say_parts(
            parts_of(message),
            message,
            lambda part, last: self.post(place, part, message=last, quiet=message.quiet),
        )

    async def post(
        self, place: Place, spans: Sequence[Span], *, message: Message | None = None, quiet: bool = True
    ) -> str:
        """Send one part, and return its id. The errors are those of `say`. Where no answer came it is sent once more
        under the same nonce, by which Discord knows it again."""
        nonce = secrets.token_hex(8)
        with suppress(OutcomeUnknown):
            return await self._send(place, spans, message=message, quiet=quiet, nonce=nonce)
        return await self._send(place, spans, message=message, quiet=quiet, nonce=nonce)

    async def edit(self, place: Place, posted: str, spans: Sequence[Span]) -> None:
        """Put other text in the place of a part. The errors are those of `say`."""
        channel = self._channel(place)
        try:
            async with asyncio.timeout(CALL_S):
                await channel.get_partial_message(int(posted)).edit(content=render_spans(spans))
        except _TROUBLE as error:
            raise translate(error, now=self._clock.now()) from error

    async def _send(
        self, place: Place, spans: Sequence[Span], *, message: Message | None, quiet: bool, nonce: str
    ) -> str:
        channel = self._channel(place)
        view = view_of(message.buttons) if message is not None else None
        try:
            async with asyncio.timeout(CALL_S):
                sent = await channel.send(
                    render_spans(spans),
                    nonce=nonce,
                    silent=quiet,
                    suppress_embeds=True,
                    allowed_mentions=discord.AllowedMentions.none(),
                    view=view if view is not None else MISSING,
                )
        except _TROUBLE as error:
            raise translate(error, now=self._clock.now()) from error
        return str(sent.id)

    def _channel(self, place: Place) -> discord.PartialMessageable:
        if self._client is None:
            raise Unavailable("Discord is not connected")
        return self._client.get_partial_messageable(int(place.thread or place.chat))

    def _take(self, rooms: Rooms, text: str, place: Place, person: str, *, is_private: bool) -> bool:
        """Whether it comes from somebody who is heard."""
        if not self.access.may(person, chat=place.chat, is_private=is_private):
            return False
        rooms.put(place, partial(self._answer, text, Asker(NAME, place, person, is_private)))
        return True

    async def _answer(self, text: str, asker: Asker) -> None:
        answer = await self._desk.take(text, asker)
        if answer is not None:
            await self._replies.say(asker.place, answer)


class _Client(discord.Client):
    """The library's client: what comes in is given on as text, from a place and a person, to `take`."""

    take: Callable[..., bool]

    def __init__(self, *, commands: Sequence[Verb]) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True, guild_messages=True, dm_messages=True),
            max_ratelimit_timeout=_LONGEST_LIMIT_S,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self._seen: deque[int] = deque(maxlen=_REMEMBERED)
        self._tree = app_commands.CommandTree(self)
        for verb in commands:
            self._tree.add_command(self._command(verb))

    async def setup_hook(self) -> None:
        await self._tree.sync()

    async def on_message(self, message: discord.Message) -> None:
        """A message to the bot: in private, or with its name before the order."""
        if message.author.bot or message.id in self._seen:
            return
        self._seen.append(message.id)
        text = message.content.strip()
        if self.user is not None:
            for mention in (f"<@{self.user.id}>", f"<@!{self.user.id}>"):
                text = text.removeprefix(mention).strip()
        if text.startswith("/"):
            self._give(text, message.channel, message.author, is_private=message.guild is None)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """A button. (Slash commands are the tree's.)"""
        if interaction.type is not discord.InteractionType.component or interaction.id in self._seen:
            return
        self._seen.append(interaction.id)
        data: Mapping[str, Any] = dict(interaction.data or {})
        order = str(data.get("custom_id", ""))
        await self._take_up(interaction, order, is_shown=False)

    def _command(self, verb: Verb) -> "app_commands.Command[Any, ..., None]":
        takes, does = HELP[verb]

        async def give(interaction: discord.Interaction, words: str = "") -> None:
            if interaction.id not in self._seen:
                self._seen.append(interaction.id)
                await self._take_up(interaction, f"/{verb.value} {words}".strip(), is_shown=True)

        command: app_commands.Command[Any, ..., None] = app_commands.Command(
            name=verb.value, description=does[:100], callback=give
        )
        return app_commands.describe(words=takes or "nothing")(command)

    async def _take_up(self, interaction: discord.Interaction, order: str, *, is_shown: bool) -> None:
        """Give the order on, and answer the interaction, for which Discord allows three seconds."""
        if interaction.channel is None:
            return
        taken = self._give(order, interaction.channel, interaction.user, is_private=interaction.guild_id is None)
        if not taken:
            return  # who is not on the list is not answered, in no way
        with suppress(discord.DiscordException, aiohttp.ClientError):
            if is_shown:
                shown = render_spans((Span(order),))[:LIMIT]
                await interaction.response.send_message(shown, allowed_mentions=discord.AllowedMentions.none())
            else:
                await interaction.response.defer()

    def _give(self, text: str, channel: object, author: "discord.User | discord.Member", *, is_private: bool) -> bool:
        return self.take(text, _place(channel), str(author.id), is_private=is_private)


def _place(channel: object) -> Place:
    """A thread is a place of its own within its channel."""
    number = str(getattr(channel, "id", ""))
    parent = getattr(channel, "parent_id", None)
    return Place(str(parent), number) if isinstance(channel, discord.Thread) and parent else Place(number)


async def _find_gateway(client: discord.Client, base_url: str) -> None:
    """Where another API is used, ask it for its gateway."""
    if base_url:
        found = await client.http.request(Route("GET", "/gateway"))
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(found["url"])
