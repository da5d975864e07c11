"""Until when an agent, or one model of it, is not used."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.failures import FailureKind


@dataclass(frozen=True, slots=True)
class Cooldown:
    """One row of the only table that answers "may this agent be used now". `model` None means the whole agent."""

    agent: str
    model: str | None
    kind: FailureKind
    until_at: datetime
    count: int
    why: str

    def covers(self, agent: str, model: str) -> bool:
        return self.agent == agent and (self.model is None or self.model == model)
