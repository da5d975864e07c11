"""The way of every request: faults, token, limits, repository, permission, the noun, validators, headers, log.

No noun is known here; which route is meant was decided by the router.
"""

import asyncio
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from nightcrew.core.errors import Invalid, PortError
from nightcrew.forges.local import access
from nightcrew.forges.local.call import Actor, Answer, Call, Route
from nightcrew.forges.local.error import DOCS, Refusal, not_found, requires_authentication
from nightcrew.forges.local.etag import make_etag, matches
from nightcrew.forges.local.fault import Fault, FaultKind
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.limit import SECONDARY
from nightcrew.forges.local.merge_queue import advance_queues, entries
from nightcrew.forges.local.push import observe_pushes
from nightcrew.forges.local.request_log import Entry
from nightcrew.forges.local.store import Row

READS = frozenset({"GET", "HEAD"})
_FREE = frozenset({"/rate_limit"})
_LIMIT_S = 3600.0


@dataclass(slots=True)
class _Turn:
    """One request's own facts while it is answered."""

    request: Request
    route: Route | None
    call: Call
    resource: str
    counts: bool = True
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def user_id(self) -> int:
        return self.call.actor.id if self.call.actor else 0


class Pipeline:
    """Answers requests against one forge. Writes and first looks at a repository take turns, one at a time."""

    def __init__(self, forge: LocalForge) -> None:
        self._forge = forge
        self._locks: dict[int, asyncio.Lock] = {}
        self._seen: dict[int, tuple[object, ...]] = {}
        self._served = 0

    async def answer(self, request: Request, route: Route | None) -> Response:
        """The response to one request. Only a broken invariant of the forge itself raises."""
        turn = await self._begin(request, route)
        lost: Fault | None = None
        try:
            lost = await self._early_fault(turn)
            answer = await self._handle(turn)
        except Refusal as refusal:
            answer = Answer(refusal.status, refusal.body, refusal.headers)
        except Invalid as error:
            answer = Answer(
                422, {"message": f"Invalid request.\n\n{error}", "documentation_url": DOCS, "status": "422"}
            )
        except PortError as error:
            answer = Answer(500, {"message": str(error)})
        if lost is not None:
            answer = Answer(lost.status, {"message": "Server Error"})
        return self._render(turn, answer)

    async def _begin(self, request: Request, route: Route | None) -> _Turn:
        forge = self._forge
        self._served += 1
        # Where it is mounted is part of the base, not of the path.
        path = unquote(request.url.path.removeprefix(request.scope.get("root_path", "")))
        call = Call(
            method=request.method,
            path=path,
            base=str(request.base_url).rstrip("/"),
            params=request.path_params,
            query=request.query_params,
            content=await request.body(),
            store=forge.store,
            live=forge.store,
            faults=forge.faults,
            now=forge.now(),
            log_key=forge.log_key,
            accept=request.headers.get("accept", ""),
            authorization=request.headers.get("authorization", ""),
        )
        return _Turn(request, route, call, route.resource if route else "core", counts=path not in _FREE)

    async def _early_fault(self, turn: _Turn) -> Fault | None:
        """Wait or refuse as armed; a fault that loses the answer of what is still to be done is returned."""
        take, call = self._forge.faults.take, turn.call
        if slow := take(FaultKind.LATENCY, call.method, call.path):
            await asyncio.sleep(slow.seconds)
        if broken := take(FaultKind.ERROR, call.method, call.path):
            turn.counts = False
            raise Refusal(broken.status, "Not Found" if broken.status == 404 else "Server Error")
        if limited := take(FaultKind.SECONDARY_LIMIT, call.method, call.path):
            wait = {"Retry-After": f"{limited.seconds:.0f}"} if limited.seconds else None
            turn.counts = False
            raise Refusal(429 if limited.status == 429 else 403, SECONDARY, headers=wait)
        if used_up := take(FaultKind.PRIMARY_LIMIT, call.method, call.path):
            actor = access.find_actor(self._forge.store, turn.request.headers.get("authorization"), call.now)
            reset_at = call.now + timedelta(seconds=used_up.seconds or _LIMIT_S)
            self._forge.limits.exhaust(actor.id if actor else 0, call.now, reset_at=reset_at, resource=turn.resource)
        return take(FaultKind.LOST_ANSWER, call.method, call.path)

    async def _handle(self, turn: _Turn) -> Answer:
        call, route = turn.call, turn.route
        is_signed = route is not None and route.is_signed
        if not is_signed:
            call.actor = access.get_actor(self._forge.store, call.authorization, call.now)
        self._limit(turn)
        if route is None:
            raise not_found()
        turn.headers |= {"X-Accepted-GitHub-Permissions": route.needs} if route.needs else {}
        if call.method not in READS and call.actor is None and not is_signed:
            raise requires_authentication()
        if not route.path.startswith("~"):
            call.visit = lambda row: self._visit(call, row)
            call.standing = self._forge.limits.standing(turn.user_id, turn.resource, call.now)
            return await self._run(call, route)
        access.find_repository(call, turn.request)
        call.place = self._forge.git_of(call.repo)
        access.check_permission(call, route)
        if call.method not in READS:
            async with self._lock(call):
                await self._look(call)
                answer = await route.handle(call)
                await advance_queues(call)
                return answer
        await self._catch_up(call)
        return await self._run(call, route)

    def _lock(self, call: Call) -> asyncio.Lock:
        return self._locks.setdefault(call.repo["id"], asyncio.Lock())

    async def _catch_up(self, call: Call) -> None:
        if call.git.refs_print() != self._seen.get(call.repo["id"]) or entries(call):
            async with self._lock(call):
                await self._look(call)

    async def _visit(self, call: Call, row: Row) -> Call | None:
        here = replace(call, found=row, place=self._forge.git_of(row))
        if not here.may("read") or row["block"]:
            return None
        await self._catch_up(here)
        return here

    async def _run(self, call: Call, route: Route) -> Answer:
        if call.method in READS and (stale := self._forge.faults.take(FaultKind.STALE, call.method, call.path)):
            call.store = stale.before or call.store
        return await route.handle(call)

    async def _look(self, call: Call) -> None:
        # Taken before looking: what moves meanwhile is noticed by the next look.
        before = call.git.refs_print()
        await observe_pushes(call)
        await advance_queues(call)
        self._seen[call.repo["id"]] = before
        access.reload_repository(call)

    def _limit(self, turn: _Turn) -> None:
        call, limits = turn.call, self._forge.limits
        if not turn.counts:
            return
        refusal = limits.refuse_primary(turn.user_id, turn.resource, call.now)
        if refusal is None:
            endpoint = turn.route.path if turn.route else call.path
            refusal = limits.refuse_secondary(turn.user_id, call.method, endpoint, call.now)
        if refusal is not None:
            turn.counts = False
            raise refusal

    def _render(self, turn: _Turn, answer: Answer) -> Response:
        call = turn.call
        body = answer.raw if answer.raw is not None else _encode(answer.body)
        headers: dict[str, str] = {**self._standard(turn), **answer.headers}
        takes_gzip = "gzip" in turn.request.headers.get("accept-encoding", "").lower()
        if call.method in READS and answer.status == 200 and answer.raw is None:
            tag = make_etag(body, url=str(turn.request.url), token_id=call.actor.token_id if call.actor else 0)
            if matches(turn.request.headers.get("if-none-match", ""), tag):
                turn.counts = False
                answer, body = replace(answer, status=304), b""
            headers["ETag"] = f"W/{tag}" if takes_gzip and answer.status == 200 else tag
            headers["Cache-Control"] = "private, max-age=60, s-maxage=60" if call.actor else "public, max-age=60"
            headers["Vary"] = "Accept, Authorization, Cookie, Accept-Encoding"
        if takes_gzip and body and answer.raw is None:
            body = gzip.compress(body, compresslevel=1, mtime=0)
            headers["Content-Encoding"] = "gzip"
        if body:
            headers["Content-Type"] = answer.media_type
        return self._finish(turn, answer.status, headers, body=body)

    def _finish(self, turn: _Turn, status: int, headers: Mapping[str, str], *, body: bytes) -> Response:
        call, forge = turn.call, self._forge
        if turn.counts and status != 401:
            forge.limits.count(turn.user_id, turn.resource, call.now, cost=call.cost)
        standing = forge.limits.standing(turn.user_id, turn.resource, call.now)
        length = len(body)
        if body and forge.faults.take(FaultKind.TRUNCATED, call.method, call.path):
            body = body[: length // 2]
        path, query = call.path, turn.request.url.query
        login = call.actor.login if call.actor else ""
        counted = turn.counts and status != 401
        forge.log.record(Entry(call.method, path, query, status, counted, len(body), login, call.now))
        response = Response(body if status not in {204, 304} else b"", status)
        for name, value in {**headers, **standing.headers()}.items():
            response.headers[name] = value
        if status not in {204, 304}:
            response.headers["Content-Length"] = str(length)
        return response

    def _standard(self, turn: _Turn) -> dict[str, str]:
        return {
            "Server": "nightcrew-forge",
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Request-Id": f"NC{self._served:06X}",
            "X-GitHub-Api-Version-Selected": turn.request.headers.get("x-github-api-version", "2022-11-28"),
            **turn.headers,
        }


def _encode(body: Any) -> bytes:
    return (
        b"" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    )


def rate_limit_body(forge: LocalForge, actor: Actor | None) -> dict[str, Any]:
    """What `GET /rate_limit` says; asking costs nothing."""
    user_id, now = actor.id if actor else 0, forge.now()
    names = ("core", "search", "graphql")
    core, search, graphql = (forge.limits.standing(user_id, name, now).body() for name in names)
    return {"resources": {"core": core, "search": search, "graphql": graphql}, "rate": core}
