"""One token's place at a forge: its own connections, limits and memory of answers, since all of these belong to it."""

import asyncio
from collections.abc import Callable

import httpx

from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.quota import Pace, TokenStanding
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.app import AppToken
from nightcrew.forges.github.budget import Budget
from nightcrew.forges.github.client import Transport
from nightcrew.forges.github.conditional import Memory
from nightcrew.forges.github.lane import Sleep
from nightcrew.forges.github.request import Requester
from nightcrew.forges.github.token import Token
from nightcrew.forges.github.traffic import Meter
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Store

LACKING_FOR_S = 3600.0
"""How long a token that has no access to a repository is not tried for it again."""
REFUSED_FOR_S = 600.0
"""The same for one that the forge does not take at all."""


class Seat:
    """What one token asks through. Without a token requests are anonymous."""

    def __init__(
        self,
        settings: ForgeSettings,
        token: Token | AppToken | None,
        *,
        store: Store,
        clock: Clock,
        jitter: Callable[[], float],
        meter: Meter,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.token = token
        self.principal = token.principal if token is not None else "anonymous"
        self.memory = Memory(store, principal=self.principal, clock=clock)
        self.budget = Budget(clock, rules=settings.budget, store=store, principal=self.principal)
        http = Transport(settings.base_url, token=token, meter=meter, transport=transport)
        requester = Requester(
            http,
            clock=clock,
            jitter=jitter,
            sleep=sleep,
            write_interval_s=settings.write_interval_s,
            budget=self.budget,
        )
        self.api = Api(http, requester, self.memory)
        self._forge = settings.name
        self._clock = clock
        self._lacking: dict[str, tuple[float, str]] = {}

    @property
    def source(self) -> str:
        """Where its token came from, in words."""
        if isinstance(self.token, AppToken):
            return f"App {self.token.key.id}, installation {self.token.key.installation}"
        return "no token" if self.token is None else self.token.source

    @property
    def is_refused(self) -> bool:
        """Whether the forge did not take its token just now."""
        at = self.budget.refused_at
        return at is not None and self._clock.monotonic() - at < REFUSED_FOR_S

    def lacks(self, project: str) -> bool:
        """Whether it was found to have no access to a repository."""
        found = self._lacking.get(project)
        return found is not None and self._clock.monotonic() - found[0] < LACKING_FOR_S

    def note_lack(self, project: str, why: str) -> None:
        """It has no access to this repository, or not enough."""
        self._lacking[project] = (self._clock.monotonic(), why)

    def standing(self, projects: int, *, is_only: bool = False) -> TokenStanding:
        """How it stands; `projects` is how many it serves. What `is_only` lacks, its projects say themselves."""
        now = self.budget.pace()
        lacking = [project for project in sorted(self._lacking) if self.lacks(project)]
        words = [now.words] if now.words else []
        if lacking and not is_only:
            more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
            words.append(f"no access to {', '.join(lacking[:3])}{more} ({self._lacking[lacking[0]][1]})")
        if self.is_refused:
            words = ["the forge does not take it (it may have expired or been revoked)", *words]
        pace = Pace.CLOSED if self.is_refused else now.pace
        return TokenStanding(
            self._forge, self.source, pace, self.budget.purses, projects, "; ".join(words), now.until_at
        )

    async def flush(self) -> None:
        await self.memory.flush()

    async def close(self) -> None:
        """Write down what is fresh, and close the connections."""
        try:
            await self.flush()
        finally:
            await self.api.transport.close()
            if isinstance(self.token, AppToken):
                await self.token.close()
