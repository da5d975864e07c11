"""What a forge still allows: how much each token has left, and what may be asked with it. Numbers only, no rules."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Pace(Enum):
    """How freely a token may be used: `open`; `slow`: lists are read less often; `stopped`: they are not read, what is
    at work goes on; `closed`: nothing is asked."""

    OPEN = "open"
    SLOW = "slow"
    STOPPED = "stopped"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Purse:
    """One of a token's limits (`core` for REST, `graphql` in points, …): how much it is a window, how much of it is
    left, and when it is whole again."""

    resource: str
    limit: int
    left: int
    reset_at: datetime


@dataclass(frozen=True, slots=True)
class TokenStanding:
    """One token of a forge, told by where it came from. `words` say what is wrong with it or holds it back, empty if
    nothing does; `until_at` is when that ends, if it is known. `projects` is how many it serves."""

    forge: str
    source: str
    pace: Pace
    purses: tuple[Purse, ...] = ()
    projects: int = 0
    words: str = ""
    until_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PaceNow:
    """How freely a project may be read, and until when at least if it is not `open`."""

    pace: Pace = Pace.OPEN
    until_at: datetime | None = None
    words: str = ""
