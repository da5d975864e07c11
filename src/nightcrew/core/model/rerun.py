"""Checks that were run again by Nightcrew itself, and what was found to be flaky by that."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha


class RerunState(Enum):
    """`wanted`: written down, and perhaps asked for; `asked`: the forge was asked; `refused`: it cannot be had, and
    `why` says why; `passed` and `failed`: how it ended."""

    WANTED = "wanted"
    ASKED = "asked"
    REFUSED = "refused"
    PASSED = "passed"
    FAILED = "failed"


class RerunAnswer(Enum):
    """What the forge says to it. `asked`: it will run again; `running`: it runs again already; `spent`: it did so
    before."""

    ASKED = "asked"
    RUNNING = "running"
    SPENT = "spent"


@dataclass(frozen=True, slots=True)
class Rerun:
    """One check that failed at one head of one pull request, as it was when it was to run again. `check` and `source`
    name it; `mark` is that of its red answer; `tests` the failing tests that its log named. `at` is when its state last
    changed."""

    pull: int
    head_sha: Sha
    check: str
    source: str
    mark: str
    at: datetime
    state: RerunState = RerunState.WANTED
    tests: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Flake:
    """A check of a project that passed when it was run again, and (if its log named any) a test that had failed in it:
    how often, and when first and last. `test` is empty where the log named none."""

    project: str
    check: str
    test: str
    times: int
    first_at: datetime
    last_at: datetime
