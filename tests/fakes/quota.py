"""What a forge still allows, as a test sets it."""

from collections.abc import Collection

from nightcrew.core.model.quota import PaceNow, TokenStanding


class FakeQuota:
    """One pace for all projects, and standings as they are given."""

    def __init__(self) -> None:
        self.now = PaceNow()
        self.told: tuple[TokenStanding, ...] = ()

    def pace(self, project: str) -> PaceNow:
        return self.now

    def standings(self, projects: Collection[str]) -> tuple[TokenStanding, ...]:
        return self.told
