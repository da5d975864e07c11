"""A machine's claim on a task: several machines may look after one repository, and each task is worked on by one."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha


@dataclass(frozen=True, slots=True)
class Machine:
    """Who claims: `id` is kept in the home, `host` is for people."""

    id: str
    host: str


@dataclass(frozen=True, slots=True)
class ClaimNote:
    """What a claim says: who, for how long unless it is renewed, and on which branch the work is."""

    holder: str
    host: str
    until_at: datetime
    lease_s: float
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as it stands on the forge. `sha` is another one after each renewal. `note` None: it cannot be read."""

    number: int
    sha: Sha
    note: ClaimNote | None


@dataclass(frozen=True, slots=True)
class DueNote:
    """What stands of a job for all machines: who took its last due time."""

    holder: str
    host: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """The same as it stands on the forge. `note` None: it cannot be read."""

    sha: Sha
    note: DueNote | None


class Hold(Enum):
    """How a task is claimed, seen from this machine."""

    OFF = "off"
    """Claims are not made for this project."""
    FREE = "free"
    OURS = "ours"
    ELSEWHERE = "elsewhere"
    """Another machine has it, and may be alive."""
    STALE = "stale"
    """Another machine has it, and has not renewed it for as long as it said: it may be taken over."""


@dataclass(frozen=True, slots=True)
class ClaimView:
    """What is seen of a task's claim. `host` and `until_at` tell of another machine's; `is_due`: renew ours."""

    hold: Hold
    host: str = ""
    until_at: datetime | None = None
    is_due: bool = False


NO_CLAIMS = ClaimView(Hold.OFF)
