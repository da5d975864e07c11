"""What this machine knows of the claims on one project's tasks: its own, and those of others as it watches them.

It reads them once at the start, and again only while another machine's work can be seen. Nothing here decides.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

from nightcrew.core.errors import PortError
from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.claim import NO_CLAIMS, Claim, ClaimView, Hold, Machine
from nightcrew.core.model.settings import ClaimMode, ProjectSettings
from nightcrew.core.policy.claiming import is_due, is_trusted, judge
from nightcrew.ports.claim import Claims
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import Scm

REFUSED_FOR_S = 3600.0
"""How long a forge that took no claim is not asked again."""


@dataclass(frozen=True, slots=True)
class Held:
    """A claim of ours, and when it was last confirmed by both clocks; not in this process's life: None."""

    sha: Sha
    lease_s: float
    at: tuple[datetime, float] | None
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Watched:
    """Another's claim, unchanged since then on our monotonic clock."""

    claim: Claim
    since: float


@dataclass(slots=True)
class ClaimBook:
    """`claims` None: this forge has none. `lock` is held around every look and every write, so that what a look
    brings is never older than what was written."""

    claims: Claims | None
    scm: Scm
    clock: Clock
    project: str
    machine: Machine
    held: dict[int, Held] = field(default_factory=dict)
    watched: dict[int, Watched] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_read: bool = False
    problem: str = ""
    refusal: str = ""
    refused_at: float | None = None

    def is_on(self, settings: ProjectSettings) -> bool:
        """Whether tasks of the project are claimed."""
        if self.claims is None or settings.claim is ClaimMode.OFF:
            return False
        return self.refused_at is None or self.clock.monotonic() - self.refused_at >= REFUSED_FOR_S

    async def refresh(self, settings: ProjectSettings, *, others_at_work: bool) -> None:
        """Read the claims where that can tell anything new. What cannot be read is kept as the problem."""
        if self.is_on(settings) and (not self.is_read or others_at_work or self.problem):
            async with self.lock:
                await self.read()

    async def read(self) -> None:
        """Read them now, with the lock held."""
        if self.claims is None:
            return
        try:
            found = await self.claims.list_claims(self.project, await self.scm.fetch_remote(self.project))
        except PortError as error:
            self.problem = str(error) or type(error).__name__
            return
        self.problem, self.is_read = "", True
        ours = [claim for claim in found if claim.note is not None and claim.note.holder == self.machine.id]
        self.held = {claim.number: self._held(claim) for claim in ours}
        now = self.clock.monotonic()
        watched: dict[int, Watched] = {}
        for claim in found:
            if claim.number not in self.held:
                before = self.watched.get(claim.number)
                same = before is not None and before.claim.sha == claim.sha
                watched[claim.number] = before if same and before is not None else Watched(claim, now)
        self.watched = watched

    def _held(self, claim: Claim) -> Held:
        before = self.held.get(claim.number)
        if before is not None and before.sha == claim.sha:
            return before
        note = claim.note
        return Held(claim.sha, note.lease_s if note else 0.0, None, note.branch if note else "")

    def hold(self, number: int, settings: ProjectSettings) -> Hold:
        """How the task is claimed, as far as is known."""
        if not self.is_on(settings):
            return Hold.OFF
        if number in self.held:
            return Hold.OURS
        seen = self.watched.get(number)
        unchanged_s = self.clock.monotonic() - seen.since if seen is not None else 0.0
        claim = seen.claim if seen is not None else None
        return judge(claim, me=self.machine.id, unchanged_s=unchanged_s, lease_s=settings.claim_expiry_s)

    def view(self, number: int, settings: ProjectSettings) -> Observed[ClaimView]:
        """The same for those who decide."""
        hold = self.hold(number, settings)
        if hold is Hold.OFF:
            return Known(NO_CLAIMS)
        if not self.is_read:
            return Unknown(self.problem or "the claims have not been read yet")
        if hold is Hold.OURS:
            mine = self.held[number]
            return Known(ClaimView(hold, is_due=is_due(age_s=self.age_s(mine), lease_s=mine.lease_s)))
        seen = self.watched.get(number)
        note = seen.claim.note if seen is not None else None
        return Known(ClaimView(hold, note.host if note else "", note.until_at if note else None))

    def age_s(self, mine: Held) -> float:
        """How long ago a claim of ours was confirmed, by the clock that says more."""
        if mine.at is None:
            return float("inf")
        wall, monotonic = mine.at
        return max((self.clock.now() - wall).total_seconds(), self.clock.monotonic() - monotonic)

    def trusts(self, number: int, *, within_s: float | None = None) -> bool:
        """Whether the task is surely ours still."""
        mine = self.held.get(number)
        return mine is not None and is_trusted(age_s=self.age_s(mine), lease_s=mine.lease_s, within_s=within_s)

    def left(self, settings: ProjectSettings) -> frozenset[int]:
        """Numbers whose claim is ours, or that of a machine that is gone."""
        if not self.is_on(settings):
            return frozenset()
        stale = {number for number in self.watched if self.hold(number, settings) is Hold.STALE}
        return frozenset(stale | set(self.held))

    def branch_of(self, number: int) -> str:
        """The branch that the task's claim names; empty without."""
        if number in self.held:
            return self.held[number].branch
        seen = self.watched.get(number)
        return seen.claim.note.branch if seen is not None and seen.claim.note is not None else ""

    def problems(self) -> tuple[str, ...]:
        """What a person should look at."""
        if self.refused_at is None:
            return ()
        words = f"the forge takes no claims ({self.refusal}): let no second machine look after this repository"
        return (words,)
