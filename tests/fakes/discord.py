"""A server that speaks Discord's REST API and gateway as far as the real library needs them, and holds what was said.

It keeps the rules that clients trip over: 2,000 characters of what is sent, a nonce that is known again, limits that
say how long, sessions that are resumed with what was missed, events that come twice.
"""

import asyncio
import itertools
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

TOKEN = "bot-token"
BOT, GUILD, CHANNEL, THREAD, PRIVATE = 900, 500, 501, 502, 600
LIMIT = 2000
_BOT_USER = {"id": str(BOT), "username": "night", "discriminator": "0", "avatar": None, "bot": True, "flags": 0}


@dataclass(slots=True)
class Posted:
    """One message of the bot."""

    id: int
    channel: int
    content: str
    nonce: str = ""
    buttons: list[dict[str, Any]] = field(default_factory=list)
    edits: int = 0


class DiscordServer:
    """`faults` are used up by calls that send: seconds (429), `lost` (taken, and the connection closed), `cut` (closed
    before it is taken), or a status with a code and words."""

    def __init__(self) -> None:
        self.token = TOKEN
        self.base_url = ""
        self.posted: list[Posted] = []
        self.shown: list[dict[str, Any]] = []
        self.commands: list[str] = []
        self.faults: deque[float | str | tuple[int, int, str]] = deque()
        self.resumed = 0
        self._ids = itertools.count(10_000)
        self._events: list[dict[str, Any]] = []
        self._sockets: list[web.WebSocketResponse] = []

    @property
    def texts(self) -> list[str]:
        return [posted.content for posted in self.posted]

    # people

    async def write(self, content: str, *, user: int = 7, channel: int = PRIVATE, number: int | None = None) -> None:
        """A person writes, in private or in a channel."""
        message = {
            "id": str(next(self._ids) if number is None else number),
            "channel_id": str(channel),
            "author": _person(user),
            "content": content,
            "timestamp": "2026-03-03T00:00:00+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            **({} if channel == PRIVATE else {"guild_id": str(GUILD), "member": _member()}),
        }
        await self._tell("MESSAGE_CREATE", message)

    async def command(self, name: str, words: str = "", *, user: int = 7, channel: int = PRIVATE) -> None:
        """A person gives a slash command."""
        options = [{"name": "words", "type": 3, "value": words}] if words else []
        data = {"id": "1", "name": name, "type": 1, "options": options}
        await self._interact(2, data, user=user, channel=channel)

    async def press(self, button: dict[str, Any], posted: Posted, *, user: int = 7) -> None:
        """A person presses a button."""
        data = {"component_type": 2, "custom_id": button["custom_id"]}
        message = self._message(posted)
        await self._interact(3, data, user=user, channel=posted.channel, message=message)

    async def repeat_last(self) -> None:
        """The last event comes again."""
        await self._send_event(self._events[-1])

    async def drop(self) -> None:
        """The gateway closes the connection, as it does from time to time; it can be resumed."""
        for socket in self._sockets:
            await socket.close(code=4000)
        self._sockets.clear()

    async def _interact(
        self, kind: int, data: dict[str, Any], *, user: int, channel: int, message: dict[str, Any] | None = None
    ) -> None:
        number = str(next(self._ids))
        who: dict[str, Any] = {"user": _person(user)}
        if channel != PRIVATE:
            who = {"guild_id": str(GUILD), "member": {**_member(), "user": _person(user), "permissions": "0"}}
        interaction = {
            "id": number,
            "application_id": str(BOT),
            "type": kind,
            "token": f"token-{number}",
            "version": 1,
            "channel_id": str(channel),
            "channel": _channel(channel),
            "data": data,
            "entitlements": [],
            "authorizing_integration_owners": {},
            "attachment_size_limit": 1000,
            **who,
            **({"message": message} if message else {}),
        }
        await self._tell("INTERACTION_CREATE", interaction)

    # the gateway

    async def _tell(self, kind: str, data: dict[str, Any]) -> None:
        event = {"op": 0, "t": kind, "s": len(self._events) + 3, "d": data}
        self._events.append(event)
        await self._send_event(event)

    async def _send_event(self, event: dict[str, Any]) -> None:
        for socket in self._sockets:
            if not socket.closed:
                await socket.send_json(event)

    async def _gateway(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 41_250}, "s": None, "t": None})
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                break
            await self._heard(socket, json.loads(message.data))
        return socket

    async def _heard(self, socket: web.WebSocketResponse, said: dict[str, Any]) -> None:
        match said["op"]:
            case 1:
                await socket.send_json({"op": 11, "d": None, "s": None, "t": None})
            case 2 if said["d"]["token"] != self.token:
                await socket.close(code=4004)
            case 2:
                ready = {
                    "v": 10,
                    "user": _BOT_USER,
                    "guilds": [{"id": str(GUILD), "unavailable": True}],
                    "session_id": "session",
                    "resume_gateway_url": self._socket_url(),
                    "application": {"id": str(BOT), "flags": 0},
                    "shard": [0, 1],
                }
                await socket.send_json({"op": 0, "t": "READY", "s": 1, "d": ready})
                await socket.send_json({"op": 0, "t": "GUILD_CREATE", "s": 2, "d": _guild()})
                self._sockets.append(socket)
            case 6:
                self.resumed += 1
                for event in [event for event in self._events if event["s"] > said["d"]["seq"]]:
                    await socket.send_json(event)
                await socket.send_json({"op": 0, "t": "RESUMED", "s": len(self._events) + 2, "d": {}})
                self._sockets.append(socket)
            case _:
                pass

    # REST

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The address to give the channel as its base URL."""
        app = web.Application()
        app.router.add_get("/ws/", self._gateway)
        app.router.add_route("*", "/api/{rest:.*}", self._answer)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/api"
            yield self.base_url
        finally:
            for socket in self._sockets:
                await socket.close()
            await runner.cleanup()

    def _socket_url(self) -> str:
        return self.base_url.replace("http:", "ws:").removesuffix("api") + "ws/"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["rest"].split("/")
        if path[0] not in ("interactions", "webhooks") and request.headers.get("Authorization") != f"Bot {self.token}":
            return _error(401, 0, "401: Unauthorized")
        match request.method, path:
            case "GET", ["users", "@me"]:
                return _json(_BOT_USER)
            case "GET", ["oauth2", "applications", "@me"] | ["applications", "@me"]:
                return _json(_application())
            case "GET", ["gateway"]:
                return _json({"url": self._socket_url()})
            case "PUT", ["applications", _, "commands"]:
                given = await request.json()
                self.commands = [command["name"] for command in given]
                return _json([{**one, "id": "1", "application_id": str(BOT), "version": "1"} for one in given])
            case "POST", ["interactions", number, _, "callback"]:
                self.shown.append(await request.json())
                if request.query.get("with_response", "").lower() not in ("true", "1"):
                    return web.Response(status=204)
                return _json({"interaction": {"id": number, "type": 3}})
            case "POST", ["channels", channel, "messages"]:
                return await self._post(request, int(channel))
            case "PATCH", ["channels", _, "messages", number]:
                return await self._edit(request, int(number))
            case _:
                return _error(404, 0, f"404: {request.method} {path}")

    async def _post(self, request: web.Request, channel: int) -> web.StreamResponse:
        given = await request.json()
        refused, fault = self._refusal(request, str(given["content"]))
        if refused is not None:
            return refused
        nonce = str(given.get("nonce", ""))
        posted = next((one for one in self.posted if nonce and one.nonce == nonce and given["enforce_nonce"]), None)
        if posted is None:
            buttons = [button for row in given.get("components", []) for button in row["components"]]
            posted = Posted(next(self._ids), channel, str(given["content"]), nonce, buttons)
            self.posted.append(posted)
        if fault == "lost":
            _hang_up(request)
        return _json(self._message(posted))

    async def _edit(self, request: web.Request, number: int) -> web.StreamResponse:
        content = str((await request.json())["content"])
        refused, _ = self._refusal(request, content)
        if refused is not None:
            return refused
        posted = next(one for one in self.posted if one.id == number)
        posted.content, posted.edits = content, posted.edits + 1
        return _json(self._message(posted))

    def _refusal(self, request: web.Request, content: str) -> tuple[web.Response | None, object]:
        fault = self.faults.popleft() if self.faults else None
        if fault == "cut":
            _hang_up(request)
        if isinstance(fault, float):
            body = {"message": "You are being rate limited.", "retry_after": fault, "global": False}
            headers = {"Via": "1.1 google", "Retry-After": str(fault), "X-RateLimit-Reset-After": str(fault)}
            return _json(body, status=429, headers=headers), fault
        if isinstance(fault, tuple):
            return _error(*fault), fault
        if not content.strip():
            return _error(400, 50006, "Cannot send an empty message"), fault
        if len(content) > LIMIT:
            return _error(400, 50035, "Invalid Form Body: Must be 2000 or fewer in length."), fault
        return None, fault

    def _message(self, posted: Posted) -> dict[str, Any]:
        return {
            "id": str(posted.id),
            "channel_id": str(posted.channel),
            "author": _BOT_USER,
            "content": posted.content,
            "timestamp": "2026-03-03T00:00:00+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "components": [],
            "nonce": posted.nonce,
        }


def _person(user: int) -> dict[str, Any]:
    return {"id": str(user), "username": f"person{user}", "discriminator": "0", "avatar": None, "bot": False}


def _member() -> dict[str, Any]:
    return {"roles": [], "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False, "flags": 0}


def _channel(number: int) -> dict[str, Any]:
    if number == PRIVATE:
        return {"id": str(number), "type": 1, "last_message_id": None, "recipients": [_person(7)]}
    if number == THREAD:
        times = {"archived": False, "auto_archive_duration": 60, "archive_timestamp": "2026-01-01T00:00:00+00:00"}
        return {
            "id": str(number), "type": 11, "guild_id": str(GUILD), "parent_id": str(CHANNEL), "owner_id": "7",
            "name": "thread", "message_count": 0, "member_count": 1, "rate_limit_per_user": 0,
            "thread_metadata": {**times, "locked": False},
        }  # fmt: skip
    return {
        "id": str(number), "type": 0, "guild_id": str(GUILD), "name": "general", "position": 0, "nsfw": False,
        "permission_overwrites": [], "parent_id": None, "topic": None, "last_message_id": None,
    }  # fmt: skip


def _guild() -> dict[str, Any]:
    return {
        "id": str(GUILD), "name": "Guild", "owner_id": "7", "member_count": 2, "roles": [], "emojis": [],
        "stickers": [], "features": [], "channels": [_channel(CHANNEL)], "threads": [_channel(THREAD)], "members": [],
        "presences": [], "voice_states": [], "stage_instances": [], "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
        "nsfw_level": 0, "premium_tier": 0, "preferred_locale": "en-US", "system_channel_flags": 0, "afk_timeout": 60,
        "icon": None, "splash": None, "banner": None, "description": None, "large": False, "unavailable": False,
    }  # fmt: skip


def _application() -> dict[str, Any]:
    return {
        "id": str(BOT), "name": "night", "icon": None, "description": "", "bot_public": False, "flags": 0,
        "bot_require_code_grant": False, "verify_key": "", "summary": "", "team": None, "owner": _person(7),
    }  # fmt: skip


def _json(data: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """The library takes an answer for JSON only under exactly this type."""
    more = {"Content-Type": "application/json", **(headers or {})}
    return web.Response(body=json.dumps(data).encode(), status=status, headers=more)


def _error(status: int, code: int, words: str) -> web.Response:
    return _json({"message": words, "code": code}, status=status)


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError
