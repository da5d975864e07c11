"""A server that speaks Telegram's Bot API as far as the real library needs it, and holds what was said.

It keeps the rules that clients trip over: the limit is counted in UTF-16 units, entities must lie within the text, a
blank message is refused, updates come again until a later offset confirms them, and a flood limit says how long.
"""

import asyncio
import itertools
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from nightcrew.service.clock import SystemClock

TOKEN = "12345:test"
BOT = {"id": 12345, "is_bot": True, "first_name": "Night", "username": "night_bot"}
LIMIT = 4096


@dataclass(slots=True)
class Said:
    """One message of the bot."""

    id: int
    chat: str
    text: str
    thread: int | None = None
    entities: list[dict[str, Any]] = field(default_factory=list)
    buttons: list[dict[str, Any]] = field(default_factory=list)
    quiet: bool = False
    edits: int = 0


class TelegramServer:
    """`faults` are used up by calls that send: a number of seconds (429), `lost` (taken, and the connection closed),
    `cut` (closed before it is taken), or a status with a description."""

    def __init__(self) -> None:
        self.address = ""
        self.said: list[Said] = []
        self.faults: deque[float | str | tuple[int, str]] = deque()
        self.pressed: list[str] = []
        self.calls: list[str] = []
        self.token = TOKEN
        self.is_silent = False
        self._updates: list[dict[str, Any]] = []
        self._numbers = itertools.count(100)
        self._news = asyncio.Event()

    @property
    def texts(self) -> list[str]:
        return [said.text for said in self.said]

    def write(
        self,
        text: str,
        *,
        user: int = 7,
        chat: int | None = None,
        thread: int | None = None,
        number: int | None = None,
        age_s: int = 0,
    ) -> None:
        """A person writes: to the bot alone, or in a group. `number`: that of the update."""
        message = self._message(text, user=user, chat=chat, thread=thread)
        message["date"] -= age_s
        message["from"] = {"id": user, "is_bot": False, "first_name": "A person"}
        self._add({"message": message}, number)

    def press(self, button: dict[str, Any], said: Said, *, user: int = 7, is_old: bool = False) -> None:
        """A person presses a button under a message."""
        chat = int(said.chat)
        message = self._message(said.text, user=user, chat=None if chat > 0 else chat, thread=said.thread)
        message |= {"message_id": said.id, "from": BOT}
        if is_old:  # an InaccessibleMessage
            message = {"chat": message["chat"], "message_id": said.id, "date": 0}
        press: dict[str, Any] = {
            "id": str(next(self._numbers)),
            "from": {"id": user, "is_bot": False, "first_name": "A person"},
        }
        press |= {"message": message, "chat_instance": "1", "data": button["callback_data"]}
        self._add({"callback_query": press})

    def repeat_last(self) -> None:
        """The last update comes again, under the same number."""
        self._updates.append(dict(self._updates[-1]))
        self._news.set()

    def _message(self, text: str, *, user: int, chat: int | None, thread: int | None) -> dict[str, Any]:
        where = {"id": user, "type": "private"} if chat is None else {"id": chat, "type": "supergroup", "title": "G"}
        message: dict[str, Any] = {
            "message_id": next(self._numbers),
            "date": int(SystemClock().now().timestamp()),
            "chat": where,
            "text": text,
        }
        return message | ({"message_thread_id": thread, "is_topic_message": True} if thread else {})

    def _add(self, update: dict[str, Any], number: int | None = None) -> None:
        self._updates.append({"update_id": next(self._numbers) if number is None else number, **update})
        self._news.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The address to give the library as its base URL."""
        app = web.Application()
        app.router.add_post("/bot{token}/{method}", self._answer)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            self.address = f"http://127.0.0.1:{port}/bot"
            yield self.address
        finally:
            self._news.set()
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        self.calls.append(method)
        if self.is_silent:
            await asyncio.sleep(3600)
        if request.match_info["token"] != self.token:
            return _refusal(401, "Unauthorized")
        given = {name: _value(text) for name, text in (await request.post()).items()}
        if method in ("sendMessage", "editMessageText"):
            return await self._say(request, method, given)
        match method:
            case "getMe":
                return _result(BOT)
            case "getUpdates":
                return _result(await self._wait(given))
            case "answerCallbackQuery":
                self.pressed.append(str(given["callback_query_id"]))
                return _result(True)
            case _:
                return _refusal(404, "Not Found")

    async def _wait(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        offset = int(given.get("offset", 0))
        self._updates = [update for update in self._updates if update["update_id"] >= offset]
        if not self._updates:
            self._news.clear()
            try:
                async with asyncio.timeout(float(given.get("timeout", 0))):
                    await self._news.wait()
            except TimeoutError:
                return []
        return [update for update in self._updates if update["update_id"] >= offset]

    async def _say(self, request: web.Request, method: str, given: dict[str, Any]) -> web.StreamResponse:
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, float | int):
            return _refusal(429, f"Too Many Requests: retry after {fault}", {"retry_after": int(fault)})
        if isinstance(fault, tuple):
            return _refusal(*fault)
        if fault == "cut":
            _hang_up(request)
        problem = _problem(str(given["text"]), given.get("entities") or [])
        if problem:
            return _refusal(400, problem)
        said = self._keep(method, given)
        if fault == "lost":
            _hang_up(request)
        chat = {"id": int(said.chat), "type": "private"}
        return _result({"message_id": said.id, "date": 1_772_000_000, "chat": chat, "text": said.text})

    def _keep(self, method: str, given: dict[str, Any]) -> Said:
        markup = given.get("reply_markup") or {"inline_keyboard": []}
        buttons = [button for row in markup["inline_keyboard"] for button in row]
        text, entities = str(given["text"]), given.get("entities") or []
        if method == "editMessageText":
            said = next(said for said in self.said if said.id == int(given["message_id"]))
            said.text, said.entities, said.edits = text, entities, said.edits + 1
            return said
        thread = int(given["message_thread_id"]) if "message_thread_id" in given else None
        said = Said(next(self._numbers), str(given["chat_id"]), text, thread, entities, buttons)
        said.quiet = bool(given.get("disable_notification"))
        self.said.append(said)
        return said


def _problem(text: str, entities: list[dict[str, Any]]) -> str:
    units = len(text.encode("utf-16-le")) // 2
    if not text.strip():
        return "Bad Request: message text is empty"
    if units > LIMIT:
        return "Bad Request: message is too long"
    if any(entity["offset"] < 0 or entity["offset"] + entity["length"] > units for entity in entities):
        return "Bad Request: ENTITY_BOUNDS_INVALID"
    return ""


def _value(text: Any) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, dict | list | bool) else text


def _result(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})


def _refusal(status: int, words: str, parameters: dict[str, Any] | None = None) -> web.Response:
    body: dict[str, Any] = {"ok": False, "error_code": status, "description": words}
    return web.json_response(body | ({"parameters": parameters} if parameters else {}), status=status)


def _hang_up(request: web.Request) -> None:
    """Close the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError
