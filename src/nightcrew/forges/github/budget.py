"""What one token has left, and who may use it: polling stops first, then everything, before the forge says no.

The answers themselves tell what is left ("Rate limits for the REST API": x-ratelimit-*). REST and GraphQL have limits
of their own. What is known is kept in the store whenever it comes to matter, so that a restart neither asks into a
limit that is in force nor polls away what was kept for merges.
"""

import json
import math
from datetime import datetime, timedelta

from nightcrew.core.errors import HeldBack, PortError, Unavailable
from nightcrew.core.model.forge import ForgeBudget
from nightcrew.core.model.quota import Pace, PaceNow, Purse
from nightcrew.forges.github.client import Answer
from nightcrew.forges.github.limit import LONGEST_WAIT_S, Limits, resource_of
from nightcrew.ports.clock import Clock
from nightcrew.ports.purpose import Purpose, current_purpose
from nightcrew.ports.store import Store

KEY = "forge.limit"
SAME_WINDOW_S = 5.0
"""How far apart two resets of one window may be told: servers differ by a second or two."""
SHORT_OF = {"core": "requests", "graphql": "GraphQL points"}
"""The limits that thresholds hold for; the others are small, and are used up whole."""


class Budget:
    """One token's limits: those that the forge set (`Limits`), and ours above them."""

    def __init__(
        self,
        clock: Clock,
        *,
        rules: ForgeBudget | None = None,
        store: Store | None = None,
        principal: str = "",
    ) -> None:
        self._clock = clock
        self._rules = rules or ForgeBudget()
        self._store = store
        self._key = f"{KEY}.{principal}"
        self._limits = Limits(clock)
        self._purses: dict[str, Purse] = {}
        self._saved = ""
        self._loaded = store is None
        self.refused_at: float | None = None
        """Since when (monotonic) the forge does not take this token; None: it does."""

    @property
    def purses(self) -> tuple[Purse, ...]:
        """What is known and holds."""
        return tuple(purse for purse in self._purses.values() if purse.reset_at > self._clock.now())

    def check(self, url: str) -> None:
        """Whether a request like this may be made for its purpose. Unavailable while a limit is in force or only the
        last reserve is left; HeldBack for polling where there is not enough left for it."""
        self._limits.check(url)
        resource = resource_of(url)
        now = self._of(resource)
        if now.pace is Pace.CLOSED:
            raise Unavailable(now.words, retry_at=now.until_at)
        if now.pace is Pace.STOPPED and current_purpose() is Purpose.POLLING:
            raise HeldBack(now.words, retry_at=now.until_at)

    def observe(self, answer: Answer, *, is_write: bool) -> datetime | None:
        """Take note of an answer; if it is a limit, from when on to try again."""
        self.refused_at = self._clock.monotonic() if answer.status == 401 else None
        self._note(answer)
        return self._limits.observe(answer, is_write=is_write)

    def pace(self) -> PaceNow:
        """How freely projects may be read with this token: by what is left for REST, and any limit in force."""
        until = self._limits.closed_until("core")
        if until is not None:
            return PaceNow(Pace.CLOSED, until, "a rate limit of the forge is in force")
        return self._of("core")

    def is_short(self) -> bool:
        """Whether the hourly limit runs low. A secondary limit is no such thing: it is over soon, and using another
        token meanwhile is what it forbids."""
        return self._of("core").pace is not Pace.OPEN

    def share_left(self) -> float:
        """How much of the hourly limit is left, from 0 to 1; 1 if that is not known."""
        purse = self._find("core")
        return 1.0 if purse is None else purse.left / purse.limit

    def _of(self, resource: str) -> PaceNow:
        purse = self._find(resource)
        if purse is None:
            return PaceNow()
        rules, until = self._rules, f"are left until {purse.reset_at:%H:%M} UTC"
        few = f"few of its {SHORT_OF[resource]} {until}"
        if purse.left <= _part(purse.limit, rules.reserve):
            return PaceNow(Pace.CLOSED, purse.reset_at, f"{few}, the last reserve, and nothing is asked")
        if purse.left <= _part(purse.limit, rules.stop):
            return PaceNow(Pace.STOPPED, purse.reset_at, f"{few}: they are kept for what is at work")
        if purse.left <= _part(purse.limit, rules.slow):
            return PaceNow(Pace.SLOW, purse.reset_at, f"{few}: lists are read less often")
        return PaceNow()

    def _find(self, resource: str) -> Purse | None:
        purse = self._purses.get(resource) if resource in SHORT_OF else None
        return purse if purse is not None and purse.reset_at > self._clock.now() else None

    def _note(self, answer: Answer) -> None:
        limit, left = (_number(answer, f"x-ratelimit-{name}") for name in ("limit", "remaining"))
        until_s = self._limits.find_reset_s(answer)
        if not limit or left is None or until_s is None:
            return
        resource = answer.headers.get("x-ratelimit-resource") or resource_of(answer.url)
        purse = Purse(resource, limit, min(left, limit), self._clock.now() + timedelta(seconds=until_s))
        before = self._find(resource)
        same = before is not None and purse.reset_at <= before.reset_at + timedelta(seconds=SAME_WINDOW_S)
        if before is not None and same and purse.left > before.left and purse.limit == before.limit:
            return  # answers overtake each other
        self._purses[resource] = purse

    # What outlives a restart

    async def load(self) -> None:
        """What was known when it was last kept; does nothing after the first time, and nothing if the store fails."""
        if self._loaded or self._store is None:
            return
        self._loaded = True
        try:
            text = await self._store.find_value(self._key)
        except PortError:
            return
        self._saved = text or ""
        self._read(text or "{}")

    async def keep(self) -> None:
        """Write down what matters, if it is different from what is written: which limits are in force, and what is left
        where that is little."""
        text = self._render()
        if self._store is None or text == self._saved or (text == "{}" and not self._saved):
            return
        self._saved = text
        try:
            await self._store.save_value(self._key, text)
        except PortError:
            self._saved = ""

    def _render(self) -> str:
        """Only what changes seldom, so that a request hardly ever costs a write."""
        short = {
            purse.resource: [purse.limit, _part(purse.limit, bound), purse.reset_at.isoformat(timespec="minutes")]
            for purse in self.purses
            if (bound := self._bound(purse)) is not None
        }
        closed = {name: until.isoformat() for name, until in self._limits.closed().items()}
        return json.dumps({name: part for name, part in (("short", short), ("closed", closed)) if part}, sort_keys=True)

    def _bound(self, purse: Purse) -> int | None:
        """The threshold below which it is; None if below none."""
        if purse.resource not in SHORT_OF:
            return None
        pace = self._of(purse.resource).pace
        of = {Pace.CLOSED: self._rules.reserve, Pace.STOPPED: self._rules.stop, Pace.SLOW: self._rules.slow}
        return of.get(pace)

    def _read(self, text: str) -> None:
        now = self._clock.now()
        latest = now + timedelta(seconds=2 * LONGEST_WAIT_S)
        try:
            found = json.loads(text)
            for resource, (limit, left, reset) in found.get("short", {}).items():
                purse = Purse(str(resource), int(limit), int(left), datetime.fromisoformat(reset))
                if now < purse.reset_at <= latest and purse.limit > 0:
                    self._purses.setdefault(purse.resource, purse)
            for name, until in found.get("closed", {}).items():
                if now < datetime.fromisoformat(until) <= latest:
                    self._limits.close(str(name), datetime.fromisoformat(until))
        except (ValueError, TypeError, AttributeError):
            return


def _part(limit: int, percent: int) -> int:
    return math.ceil(limit * percent / 100)


def _number(answer: Answer, header: str) -> int | None:
    text = answer.headers.get(header, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None
