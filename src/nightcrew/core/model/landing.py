"""What became of a base after a merge into it: watched for a while, in the task's row."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Observed
from nightcrew.core.model.pull import Check


class LandingState(Enum):
    """`watched`: it is not known yet; `green`: its checks succeeded on the base; `red`: what was green before it failed
    with it; `over`: nothing was found out in time."""

    WATCHED = "watched"
    GREEN = "green"
    RED = "red"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Landing:
    """A merge of pull request `pull` into `base_ref`: from `before_sha`, where the base was, to `merge_sha`. `checks`
    are those that failed with it; `revert` is the task that takes it back, once that was asked for."""

    pull: int
    base_ref: str
    before_sha: Sha
    merge_sha: Sha
    at: datetime
    state: LandingState = LandingState.WATCHED
    checks: tuple[str, ...] = ()
    revert: TaskKey | None = None


@dataclass(frozen=True, slots=True)
class LandingView:
    """A landing that is watched, with the checks of the base before it, with it, and as it is now (which are those with
    it where nothing has landed since). The first and last are only read once one failed with it."""

    task: TaskKey
    landing: Landing
    checks: Observed[tuple[Check, ...]]
    before: Observed[tuple[Check, ...]]
    now: Observed[tuple[Check, ...]]
