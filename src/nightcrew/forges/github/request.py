"""One request through everything: limits checked, trouble on the way retried where that is safe, refusals typed.

A read is always repeated. A write is repeated only if the caller says that repeating is harmless, or if the forge
cannot have seen it; else a missing answer is OutcomeUnknown and the caller looks before it does anything again.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from nightcrew.core.errors import OutcomeUnknown, PortError, Unavailable
from nightcrew.forges.github.budget import Budget
from nightcrew.forges.github.classify import parse_error
from nightcrew.forges.github.client import Answer, Lost, Transport
from nightcrew.forges.github.lane import Sleep, WriteLane
from nightcrew.forges.github.limit import parse_retry_after
from nightcrew.forges.github.retry import Outage, RetryPolicy
from nightcrew.ports.clock import Clock

GOOD = frozenset({200, 201, 202, 204, 304})


@dataclass(frozen=True, slots=True)
class _Trouble:
    """One try failed on the way: what to raise in the end, and whether the forge may have acted."""

    error: PortError
    sent: bool
    not_before_s: float = 0.0


class Requester:
    """One forge, one token: all requests of all projects pass here."""

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Clock,
        jitter: Callable[[], float],
        sleep: Sleep,
        write_interval_s: float,
        budget: Budget | None = None,
    ) -> None:
        self.transport = transport
        self.sleep = sleep
        self._clock = clock
        self._jitter = jitter
        self._policy = RetryPolicy()
        self._budget = budget or Budget(clock)
        self._outage = Outage(clock)
        self._lane = WriteLane(write_interval_s, clock=clock, sleep=sleep)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def read(
        self, url: str, *, headers: Mapping[str, str] | None = None, accept: Collection[int] = (), tail: bool = False
    ) -> Answer:
        """GET. An answer with a good status or one in `accept`; anything else is raised as a typed error. The body of
        a 200 is whole JSON, unless it is a text of which the `tail` is wanted."""

        async def once() -> Answer:
            if tail:
                return await self.transport.send_for_tail(url)
            answer = await self.transport.send("GET", url, headers=headers)
            if answer.status == 200:
                answer.json()
            return answer

        return await self._repeat(once, method="GET", url=url, accept=accept, repeatable=True)

    async def ask(self, url: str, body: Any) -> Answer:
        """A POST that only reads: repeated like a read, and out of the turns of the writes."""
        content = json.dumps(body).encode()

        async def once() -> Answer:
            answer = await self.transport.send("POST", url, body=content)
            if answer.status == 200:
                answer.json()
            return answer

        return await self._repeat(once, method="POST", url=url, accept=(), repeatable=True)

    async def write(
        self, method: str, url: str, body: Any = None, *, repeatable: bool, accept: Collection[int] = ()
    ) -> Answer:
        """A write, in its turn. Errors as `read`; OutcomeUnknown if it may have taken effect and is not repeatable."""
        # Lone surrogates cannot be written as UTF-8; text from outside may hold them.
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

        async def once() -> Answer:
            async with self._lane.turn():
                self._budget.check(url)
                answer = await self.transport.send(method, url, body=content)
                if answer.status in (200, 201) and answer.content:
                    answer.json()
                return answer

        return await self._repeat(once, method=method, url=url, accept=accept, repeatable=repeatable)

    async def _repeat(
        self, once: Callable[[], Any], *, method: str, url: str, accept: Collection[int], repeatable: bool
    ) -> Answer:
        self._outage.check()
        await self._budget.load()
        what = f"{method} {urlsplit(url).path}"
        started = self._clock.monotonic()
        tries = 1 if self._outage.is_suspected else self._policy.tries
        failures = 0
        while True:
            self._budget.check(url)
            found = await self._try_once(once, what=what, is_write=method != "GET", accept=accept)
            if isinstance(found, Answer):
                return found
            failures += 1
            if found.sent and not repeatable:
                raise OutcomeUnknown(f"{found.error}: sent, and whether it took effect is not known") from found.error
            wait_s = max(self._policy.wait_s(failures, self._jitter), found.not_before_s)
            spent_s = self._clock.monotonic() - started
            if failures >= tries or spent_s + wait_s > self._policy.within_s:
                retry_at = self._outage.record_failure()
                if isinstance(found.error, Unavailable) and found.error.retry_at is None:
                    found.error.retry_at = retry_at
                raise found.error
            await self.sleep(wait_s)

    async def _try_once(
        self, once: Callable[[], Any], *, what: str, is_write: bool, accept: Collection[int]
    ) -> Answer | _Trouble:
        try:
            answer: Answer = await once()
        except Lost as lost:
            return _Trouble(Unavailable(f"{what}: {lost}"), sent=lost.sent)
        retry_at = self._budget.observe(answer, is_write=is_write)
        await self._budget.keep()
        if answer.status < 500:
            self._outage.record_success()
        if answer.status in GOOD or answer.status in accept:
            return answer
        if answer.status >= 500 and answer.status != 501:
            not_before_s = parse_retry_after(answer) or 0.0
            if not_before_s:
                retry_at = self._clock.now() + timedelta(seconds=not_before_s)
            error = parse_error(answer, what=what, mask=self.transport.mask, retry_at=retry_at)
            return _Trouble(error, sent=True, not_before_s=not_before_s)
        raise parse_error(answer, what=what, mask=self.transport.mask, retry_at=retry_at)
