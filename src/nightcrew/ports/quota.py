"""How much may still be asked of a forge."""

from collections.abc import Collection
from typing import Protocol

from nightcrew.core.model.quota import PaceNow, TokenStanding


class Quota(Protocol):
    """Asks nothing of anybody: it tells from the answers that came. Requests that a limit rules out raise Unavailable
    by themselves, those that only a threshold rules out HeldBack."""

    def pace(self, project: str) -> PaceNow:
        """How freely this project may be read."""
        ...

    def standings(self, projects: Collection[str]) -> tuple[TokenStanding, ...]:
        """Each token that there is, and how many of these projects it serves."""
        ...


class Unlimited:
    """A forge without limits."""

    def pace(self, project: str) -> PaceNow:  # noqa: ARG002 - all are alike
        return PaceNow()

    def standings(self, projects: Collection[str]) -> tuple[TokenStanding, ...]:  # noqa: ARG002 - as above
        return ()
