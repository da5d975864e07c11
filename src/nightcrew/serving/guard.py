"""What lies around every app that is served: no answer is ever a page that a browser would run, whatever text of others
stands in it, and who asks is whoever holds the other end of the connection, whatever headers say."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from nightcrew.core.neutral import one_line

HEADERS = (
    (
        "content-security-policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
    ),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)
"""On every answer, the server's own included."""

HARMLESS = frozenset({"application/json", "application/problem+json", "text/plain", "text/event-stream"})
"""Media types in which nothing runs. Any other is served as plain text."""

_PLAIN = b"text/plain; charset=utf-8"
_TYPE, _CACHE = b"content-type", b"cache-control"

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]


class Guarded:
    """An app whose answers are harmless data, and are kept by nobody on the way unless the app says so."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def say(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _harmless(message.get("headers", ()))}
            await send(message)

        await self._app(scope, receive, say)


def render_peer(scope: Message) -> str:
    """Who asks, for the log: the address at the other end of the connection. `X-Forwarded-For`, `Forwarded` and their
    kin are anybody's words, since no proxy stands before us."""
    client = scope.get("client")
    return one_line(str(client[0]), 60) if client and client[0] else "this machine"


def _harmless(headers: Any) -> list[tuple[bytes, bytes]]:
    kept = [(bytes(name).lower(), bytes(value)) for name, value in headers]
    kept = [(name, _PLAIN if name == _TYPE and not _is_harmless(value) else value) for name, value in kept]
    return kept if any(name == _CACHE for name, _ in kept) else [*kept, (_CACHE, b"no-store")]


def _is_harmless(media_type: bytes) -> bool:
    return media_type.decode("latin-1").partition(";")[0].strip().lower() in HARMLESS
