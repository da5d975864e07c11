"""What the tests of the client stand on: a clock that only moves when told (sleeping moves it), and a scripted server
that is an ASGI app: it answers by method and path, in order, and remembers what it was asked."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github import GitHubForge, Token
from nightcrew.forges.github.client import Answer
from tests.fakes.store import MemoryStore

BASE = "https://forge.test"
TOKEN = Token("ghp_0123456789secret", "a test")
START = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


class StillClock:
    """Wall and monotonic time that move together, by `advance` or by sleeping."""

    def __init__(self) -> None:
        self.passed_s = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return 500.0 + self.passed_s

    def advance(self, seconds: float) -> None:
        self.passed_s += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None


def limited(message: str, **headers: str) -> Reply:
    return Reply(403, {"message": message}, {name.replace("_", "-"): value for name, value in headers.items()})


def answer_of(status: int, headers: Mapping[str, str], *, url: str = f"{BASE}/repos/o/r/issues/1") -> Answer:
    return Answer(status, httpx.Headers(dict(headers)), b"{}", url)


class Script:
    """Replies by (method, path): each path has a queue, whose last reply is given for ever. A reply may be a function
    of what was asked. What is not in the script is answered by 404, as GitHub words it."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._replies: dict[tuple[str, str], list[Reply | Callable[[Asked], Reply]]] = {}

    def on(self, method: str, path: str, *replies: Reply | Callable[[Asked], Reply]) -> None:
        self._replies[method, path] = list(replies)

    def count(self, method: str = "", path: str = "") -> int:
        return sum(method in ("", one.method) and path in one.path for one in self.asked)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        content = b""
        while True:
            message = await receive()
            content += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        asked = Asked(
            scope["method"],
            scope["path"],
            scope["query_string"].decode(),
            headers,
            json.loads(content) if content else None,
        )
        self.asked.append(asked)
        queue = self._replies.get((asked.method, asked.path), [Reply(404, {"message": "Not Found"})])
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        if callable(reply):
            reply = reply(asked)
        body = reply.raw if reply.raw is not None else b"" if reply.body is None else json.dumps(reply.body).encode()
        raw_headers = [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": raw_headers})
        await send({"type": "http.response.body", "body": body})


class Breaking(httpx.AsyncBaseTransport):
    """Passes requests on, except that the next ones fail on the way as told: before they are sent, or after."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.before: list[Exception] = []
        self.after: list[tuple[str, Exception]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.before:
            raise self.before.pop(0)
        response = await self.inner.handle_async_request(request)
        for planned in self.after:
            if planned[0] == request.method:
                self.after.remove(planned)
                raise planned[1]
        return response


@asynccontextmanager
async def forge_over(
    app: Any,
    *,
    clock: StillClock | None = None,
    store: MemoryStore | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    token: Token | None = TOKEN,
    write_interval_s: float = 1.0,
    base_url: str = BASE,
) -> AsyncIterator[GitHubForge]:
    """A client that talks to an ASGI app in this process."""
    ticking = clock or StillClock()
    forge = GitHubForge(
        ForgeSettings("test", base_url=base_url, write_interval_s=write_interval_s),
        token=token,
        store=store or MemoryStore(),
        clock=ticking,
        jitter=lambda: 0.5,
        transport=transport or httpx.ASGITransport(app=app),
        sleep=ticking.sleep,
    )
    try:
        yield forge
    finally:
        await forge.close()


def issue_json(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": f"Issue {number}",
        "body": "text",
        "labels": [],
        "state": "open",
        "user": {"login": "ada", "type": "User"},
        "created_at": "2026-11-01T08:00:00Z",
        "updated_at": "2026-11-02T08:00:00Z",
        "comments": 0,
        "repository_url": f"{BASE}/repos/o/r",
        **changes,
    }


HEAD, OTHER, BASE_SHA, MERGED = "a" * 40, "b" * 40, "c" * 40, "d" * 40


def pull_json(number: int = 7, **changes: Any) -> dict[str, Any]:
    repo = {"full_name": "o/r"}
    return {
        "number": number,
        "node_id": "PR_7",
        "title": "A change",
        "body": "why",
        "state": "open",
        "user": {"login": "ada"},
        "labels": [],
        "draft": False,
        "merged": False,
        "mergeable": True,
        "mergeable_state": "clean",
        "merge_commit_sha": None,
        "head": {"ref": "work", "sha": HEAD, "repo": repo},
        "base": {"ref": "main", "sha": BASE_SHA, "repo": repo},
        "html_url": "",
        "changed_files": 1,
        **changes,
    }
