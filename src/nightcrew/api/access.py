"""Who may speak to the API at all: nobody through a web page of another site.

On the Unix socket no browser can get here. If the app is ever bound to TCP, a page on any site could make the browser
send requests to it; those are refused by what browsers add themselves, and by the Host header (a name that someone
else's DNS points at this machine).
"""

import logging
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from nightcrew.api.error import answer_error
from nightcrew.serving.guard import render_peer

OWN_HOSTS = frozenset({"nightcrew", "localhost", "127.0.0.1", "::1"})
_OWN_SITES = frozenset({"none", "same-origin"})
_log = logging.getLogger(__name__)


class SameSite:
    """Middleware: refuses (403) what comes from another site's page or asks for a host that we are not."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] = OWN_HOSTS) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and (problem := self._problem(scope)):
            _log.warning("refused: %s, from %s", problem, render_peer(scope))
            await answer_error(403, code="denied", message=problem)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> str:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if _name(f"//{headers.get(b'host', '')}") not in self._hosts:
            return "this host name is not Nightcrew's"
        if headers.get(b"sec-fetch-site", "none") not in _OWN_SITES:
            return "a request from a web page of another site"
        origin = headers.get(b"origin")
        if origin is not None and _name(origin) not in self._hosts:
            return "a request from a web page of another site"
        return ""


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
