"""The transport: one HTTP client for the life of the service, and one request at a time through it, redirects included.

No retries, limits or meaning of status codes here; those are in `request`, `limit` and `classify`.
"""

import asyncio
import ipaddress
import json
import ssl
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github.foreign import fetch_text, is_allowed
from nightcrew.forges.github.redirect import CODES, MOST, Hop, MovedNames, follow
from nightcrew.forges.github.token import Credential
from nightcrew.forges.github.traffic import Meter
from nightcrew.version import VERSION

CONNECTIONS = 8
KEEP_ALIVE_S = 120.0
"""Longer than a tick, so that a quiet service does not shake hands anew each time."""
EXCHANGE_S = 60.0
"""The longest time for one request and its whole answer, however slowly it drips."""
TAIL_BYTES = 1_000_000

_TIMEOUT = httpx.Timeout(connect=10.0, read=30.0, write=30.0, pool=30.0)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


class Lost(Exception):
    """There was no whole answer. `sent` is false only if the forge cannot have seen the request."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, whatever its status."""

    status: int
    headers: httpx.Headers
    content: bytes
    url: str

    def json(self) -> Any:
        """The body; Lost if it is not JSON, since then it was cut or is not from the forge."""
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise Lost("the answer is not whole JSON", sent=True) from error


class Transport:
    """Sends requests to one forge. Credentials go to its origin and nowhere else."""

    def __init__(
        self,
        base_url: str,
        *,
        token: Credential | None,
        meter: Meter,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.moved = MovedNames()
        self._token = token
        self._meter = meter
        self._transport = transport
        self._http = httpx.AsyncClient(
            transport=transport,
            verify=_trust(base_url),
            timeout=_TIMEOUT,
            limits=httpx.Limits(
                max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=KEEP_ALIVE_S
            ),
            follow_redirects=False,
            trust_env=not _is_loopback(base_url),
            headers={
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
                "User-Agent": f"nightcrew/{VERSION}",
            },
        )

        self._abroad: httpx.AsyncClient | None = None

    async def close(self) -> None:
        await self._http.aclose()
        if self._abroad is not None:
            await self._abroad.aclose()

    async def fetch_foreign(self, url: str, *, hosts: tuple[str, ...]) -> str:
        """A text that somebody named, if it is on the forge or on one of these hosts; empty if it is not to be had."""
        allows = partial(is_allowed, base_url=self.base_url, hosts=hosts)
        if self._abroad is None:
            self._abroad = self._go_abroad()
        return await fetch_text(self._abroad, url, allows=allows)

    def _go_abroad(self) -> httpx.AsyncClient:
        """For addresses that are not the forge's: nothing that it is asked with goes along, and nothing comes back."""
        return httpx.AsyncClient(
            transport=self._transport,
            timeout=_TIMEOUT,
            limits=httpx.Limits(max_connections=2, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=not _is_loopback(self.base_url),
            headers={"User-Agent": f"nightcrew/{VERSION}"},
        )

    def mask(self, text: str) -> str:
        return text if self._token is None else self._token.mask(text)

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        """One request and its answer, redirects followed with method and body kept. Raises Lost, or Unavailable for
        a redirect that must not be followed."""
        return await self._chase(Hop(method, url), headers=dict(headers or {}), body=body)

    async def send_for_tail(self, url: str) -> Answer:
        """GET a text that may be huge and lies elsewhere (a log): at most its last `TAIL_BYTES` are kept, and no
        redirect of it carries the credentials."""
        return await self._chase(Hop("GET", url), headers={}, body=None, tail=True)

    async def _chase(self, hop: Hop, *, headers: dict[str, str], body: bytes | None, tail: bool = False) -> Answer:
        for _ in range(MOST + 1):
            answer = await self._ask(hop, headers=headers, body=body, tail=tail)
            if answer.status not in CODES:
                return answer
            before = hop
            hop = follow(hop, answer.headers.get("location", ""), base_url=self.base_url, keep_token=not tail)
            self.moved.learn(before.url, hop.url)
        raise Unavailable(f"{hop.method} {urlsplit(hop.url).path}: redirected more than {MOST} times")

    async def _ask(self, hop: Hop, *, headers: dict[str, str], body: bytes | None, tail: bool) -> Answer:
        """One exchange, with credentials where they belong; one more if they were refused and there are newer ones."""
        sent = dict(headers)
        if body is not None:
            sent["Content-Type"] = "application/json"
        if not hop.with_token or self._token is None:
            return await self._exchange(hop, headers=sent, body=body, tail=tail)
        token = await self._token.current()
        answer = await self._exchange(hop, headers=_bearing(sent, token), body=body, tail=tail)
        if answer.status != 401 or not self._token.drop(token):
            return answer
        return await self._exchange(hop, headers=_bearing(sent, await self._token.current()), body=body, tail=tail)

    async def _exchange(self, hop: Hop, *, headers: dict[str, str], body: bytes | None, tail: bool) -> Answer:
        is_write = hop.method != "GET"
        try:
            async with (
                asyncio.timeout(EXCHANGE_S),
                self._http.stream(hop.method, hop.url, headers=headers, content=body) as response,
            ):
                content = await (_read_tail(response) if tail else response.aread())
        except TimeoutError as error:
            self._meter.count_failure(is_write=is_write)
            raise Lost(f"no whole answer within {EXCHANGE_S:g} s", sent=True) from error
        except httpx.RequestError as error:
            self._meter.count_failure(is_write=is_write)
            why = self.mask(f"{type(error).__name__}: {error}".removesuffix(": "))
            raise Lost(why, sent=not isinstance(error, _NOT_SENT)) from error
        self._meter.count_answer(
            status=response.status_code,
            size=response.num_bytes_downloaded,
            is_write=is_write,
            remaining=response.headers.get("x-ratelimit-remaining"),
        )
        return Answer(response.status_code, response.headers, content, hop.url)


def _bearing(headers: Mapping[str, str], token: str) -> dict[str, str]:
    return {**headers, "Authorization": f"Bearer {token}"}


async def _read_tail(response: httpx.Response) -> bytes:
    chunks: deque[bytes] = deque()
    held = 0
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        held += len(chunk)
        while chunks and held - len(chunks[0]) >= TAIL_BYTES:
            held -= len(chunks.popleft())
    return b"".join(chunks)[-TAIL_BYTES:]


def _trust(base_url: str) -> ssl.SSLContext | bool:
    """Loading the authorities takes a while, and a forge over plain HTTP is never spoken to by TLS. If it were all the
    same, nobody would be trusted."""
    return True if urlsplit(base_url).scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
