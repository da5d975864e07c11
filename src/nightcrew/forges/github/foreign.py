"""Texts on addresses that others wrote: the page that a commit status names. Only where that is allowed, without
credentials, bounded in size and time; nothing that answers there is believed to be more than text.

Anybody who may set a status chooses its address, so that what is not allowed by name is not asked for: neither
the machine's own network nor a host that only looks like an allowed one.
"""

import asyncio
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import httpx

from nightcrew.forges.github.redirect import CODES, origin

HOPS_AT_MOST = 3
WITHIN_S = 20.0
BYTES_AT_MOST = 1_000_000
"""Of a longer text its end is kept, up to this; more than twenty times as much is not read at all."""


def is_allowed(url: str, *, base_url: str, hosts: tuple[str, ...]) -> bool:
    """Whether a text may be asked for there: on the forge itself, or on a host that was named, by `host` (at the usual
    port of https) or `host:port`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.password:
        return False
    if origin(url) == origin(base_url) or origin(url) == _pages_of(base_url):
        return True
    host = parts.hostname.lower()
    named = {name.lower() for name in hosts}
    return (parts.scheme == "https" and port in (None, 443) and host in named) or f"{host}:{port}" in named


def _pages_of(base_url: str) -> tuple[str, str, int | None]:
    """Where the forge shows pages, if its API has a host of its own."""
    scheme, host, port = origin(base_url)
    return scheme, host.removeprefix("api."), port


async def fetch_text(http: httpx.AsyncClient, url: str, *, allows: Callable[[str], bool]) -> str:
    """The text; empty if there is none to be had: not allowed (or sent on to where it is not), not there, no text, too
    much, too slow. The end of it, if it is long."""
    try:
        async with asyncio.timeout(WITHIN_S):
            for _ in range(HOPS_AT_MOST + 1):
                if not allows(url):
                    return ""
                async with http.stream("GET", url, headers={"Accept": "text/plain, text/html;q=0.5"}) as response:
                    if response.status_code in CODES:
                        url = urljoin(url, response.headers.get("location", ""))
                        continue
                    return await _read(response) if response.status_code == 200 else ""
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL):
        return ""
    return ""


async def _read(response: httpx.Response) -> str:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("text/plain", "text/html", "application/octet-stream", ""):
        return ""
    kept, count = bytearray(), 0
    async for chunk in response.aiter_bytes(65_536):
        count += len(chunk)
        if count > 20 * BYTES_AT_MOST:
            return ""
        kept += chunk
        del kept[:-BYTES_AT_MOST]
    text = kept.decode("utf-8", "replace").lstrip("\ufeff")
    return _preformatted(text) if kind == "text/html" else text


class _Preformatted(HTMLParser):
    """Collects what stands in `<pre>`: that is how pages of CI show a log."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the name is the library's
        self._depth += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self._depth:
            self._depth -= 1
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.parts.append(data)


def _preformatted(page: str) -> str:
    parser = _Preformatted()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts).strip()
