"""The journal: every outside effect is written down before it is made, and again after it was seen.

An entry that stays at `intent` means that the service died in between: whether the effect was made is then found out
by looking, never by trying again blindly.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from nightcrew.core.errors import OutcomeUnknown, PortError
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.neutral import one_line
from nightcrew.engine.trace import NoTracer, Tracer
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Store

T = TypeVar("T")

Boundary = Callable[[str, str], None]
"""Called with `before` or `after`, and the kind of effect. The product's own does nothing."""


def _pass(_phase: str, _kind: str) -> None:
    return None


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Subject:
    """What an effect is about."""

    task: TaskKey | None = None
    run: RunId | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One effect as the journal has settled it, without secrets. `why` is that of the action that it belongs to."""

    kind: str
    task: TaskKey | None
    run: RunId | None
    state: str
    detail: str
    why: str
    took_s: float


WHY: ContextVar[str] = ContextVar("why", default="")
"""Why the action that is under way is made."""


async def look_for(unknown: OutcomeUnknown, find: Callable[[], Awaitable[T | None]]) -> T:
    """What an effect left whose outcome is not known. A look that fails, or that finds nothing (yet), leaves it so:
    it must not come out as a plain refusal, which is tried again sooner than lists can show what was made."""
    try:
        found = await find()
    except PortError as error:
        raise unknown from error
    if found is None:
        raise unknown
    return found


class Journal:
    """Writes down effects around making them. `mask` takes secrets out of what is written: it is kept."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        boundary: Boundary | None = None,
        mask: Callable[[str], str] = _as_it_is,
        say: Callable[[Said], None] = lambda _said: None,
        tracer: Tracer | None = None,
    ) -> None:
        """`say` is told each effect once it is settled; `tracer` has a span of each."""
        self._store = store
        self._clock = clock
        self._boundary = boundary or _pass
        self._mask = mask
        self._say = say
        self._tracer = tracer or NoTracer()
        self.settled: Counter[tuple[str, str]] = Counter()
        """How many effects of a kind came to a state, since the start."""

    async def effect(
        self,
        kind: str,
        subject: Subject,
        make: Callable[[], Awaitable[T]],
        *,
        detail: str = "",
        mark: str = "",
        timeout_s: float = 120.0,
    ) -> T:
        """Make one effect: intent, act, record. What `make` raises goes through, recorded as refused, or as unknown
        where it may have taken effect. `mark` ends the key of the entry, by which it can be found again."""
        key = f"{kind}:{subject.task or ''}:{subject.run or ''}" + (f":{mark}" if mark else "")
        said = self._mask(detail)
        entry = await self._store.record_intent(
            key=key, kind=kind, task=subject.task, run=subject.run, detail=said, at=self._clock.now()
        )
        began_s = self._clock.monotonic()

        async def settle(state: str, words: str) -> None:
            words = one_line(self._mask(words), 500)
            await self._store.settle_effect(entry, state=state, detail=words, at=self._clock.now())
            self.settled[kind, state] += 1
            took_s = self._clock.monotonic() - began_s
            self._say(Said(kind, subject.task, subject.run, state, words, self._mask(WHY.get()), took_s))

        self._boundary("before", kind)
        try:
            about = {"task": str(subject.task or ""), "run": subject.run or "", "detail": said}
            with self._tracer.span(kind, **about):
                async with asyncio.timeout(timeout_s):
                    result = await make()
        except TimeoutError as error:
            await settle("unknown", f"no answer within {timeout_s:g} s")
            raise OutcomeUnknown(f"{kind}: no answer within {timeout_s:g} s") from error
        except OutcomeUnknown as error:
            await settle("unknown", str(error))
            raise
        except PortError as error:
            await settle("refused", str(error))
            raise
        self._boundary("after", kind)
        await settle("done", detail)
        return result
