"""The server that GitHub, or `gh webhook forward`, delivers to. It checks the signature, says which project may have
news, and answers at once. What a delivery holds besides is not used: whoever is told looks for themselves."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nightcrew.forges.github.webhook.delivery import (
    DELIVERY,
    EVENT,
    EVENTS,
    LARGEST_BYTES,
    SIGNATURE,
    find_project,
    is_signed,
)
from nightcrew.ports.clock import Clock
from nightcrew.serving.guard import render_peer

PATH = "/webhook"
READ_S = 10.0
"""How long a sender may take for a body; GitHub itself gives up on an answer after as long."""
REMEMBERED = 2_000
LONGEST_ID = 128
_log = logging.getLogger(__name__)

Message = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """What has come since the start. `taken` are the signed ones, whatever they were about; `refused` had no valid
    signature; `last_at` is when the last signed one came."""

    taken: int = 0
    refused: int = 0
    last_at: datetime | None = None


class Listener:
    """The ASGI application. Deliveries may come twice, late and in any order: each only says that there may be news."""

    def __init__(self, secret: str, *, clock: Clock, tell: Callable[[str], bool], tally: Tally | None = None) -> None:
        """`tell` is told the project that a signed delivery is about, and says whether it is looked after."""
        self._secret = secret
        self._clock = clock
        self._tell = tell
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self.tally = tally or Tally()

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        status, words = await self._answer(scope, receive)
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": words.encode() + b"\n"})

    async def _answer(self, scope: Message, receive: Callable[[], Awaitable[Message]]) -> tuple[int, str]:
        if scope["path"] != PATH:
            return 404, "nothing is here"
        if scope["method"] != "POST":
            return 405, "deliveries are posted"
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST_BYTES:
            return 413, "too large"
        try:
            async with asyncio.timeout(READ_S):
                body = await _read(receive)
        except TimeoutError:
            return 408, "too slow"
        if body is None:
            return 413, "too large"
        if not is_signed(body, headers.get(SIGNATURE, b""), self._secret):
            self.tally = replace(self.tally, refused=self.tally.refused + 1)
            _log.warning("refused a delivery whose signature is not right, from %s", render_peer(scope))
            return 401, "the signature is not right"
        return 202, self._take(headers, body)

    def _take(self, headers: dict[bytes, bytes], body: bytes) -> str:
        """What becomes of a signed delivery."""
        self.tally = replace(self.tally, taken=self.tally.taken + 1, last_at=self._clock.now())
        delivery = headers.get(DELIVERY, b"")[:LONGEST_ID]
        if delivery and delivery in self._seen:
            return "was here before"
        if delivery:
            self._seen[delivery] = None
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        if headers.get(EVENT, b"").decode("latin-1") not in EVENTS:
            return "not of interest"
        project = find_project(body, headers.get(b"content-type", b"").decode("latin-1"))
        return "taken" if project is not None and self._tell(project) else "not looked after"


async def _read(receive: Callable[[], Awaitable[Message]]) -> bytes | None:
    """The whole raw body, None if it is too large."""
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > LARGEST_BYTES:
            return None
        chunks.append(chunk)
        more = bool(message.get("more_body", False))
    return b"".join(chunks)
