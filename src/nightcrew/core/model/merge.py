"""How a project's pull requests are merged: what a person can set about it."""

from dataclasses import dataclass
from enum import Enum


class MergeMode(Enum):
    AUTO = "auto"
    ASK = "ask"


class MergeMethod(Enum):
    SQUASH = "squash"
    MERGE = "merge"
    REBASE = "rebase"


class MergeStrategy(Enum):
    """`direct` merges what is green on its own; `update` only what is green with the base as it is now in it; `queue`
    tests the result of the merge itself, and lands exactly that."""

    DIRECT = "direct"
    UPDATE = "update"
    QUEUE = "queue"


class UpdateMethod(Enum):
    """How the base is brought into a branch. After `merge` nothing has to be forced."""

    MERGE = "merge"
    REBASE = "rebase"


@dataclass(frozen=True, slots=True)
class MergeSettings:
    mode: MergeMode = MergeMode.AUTO
    method: MergeMethod = MergeMethod.SQUASH
    allow_without_ci: bool = False
    required_checks: tuple[str, ...] = ()
    protected_paths: tuple[str, ...] = (
        ".github/**",
        ".nightcrew.yml",
        ".nightcrew/**",
        ".claude/**",
        ".codex/**",
        ".gemini/**",
        ".opencode/**",
        "opencode.json",
        "opencode.jsonc",
        ".mcp.json",
        ".githooks/**",
        ".husky/**",
    )
    hold_labels: tuple[str, ...] = ("hold",)
    strategy: MergeStrategy = MergeStrategy.DIRECT
    batch: int = 1
    """How many pull requests the queue tests and lands together at most."""
    queue_timeout_s: float = 3600.0
    """How long the checks of a build may take, and how long one head keeps its turn to be brought up to date."""
    update: UpdateMethod = UpdateMethod.MERGE
    fallback: tuple[MergeMethod, ...] = ()
    """What is used, in this order, where the repository does not allow `method`."""
    checks_limit_s: float = 7200.0
    """How long the checks of one head may pend before a person is asked; 0: for ever."""
    watch_s: float = 7200.0
    """How long the base is watched after a merge; 0: not at all."""
