"""What holds up the merge of one head, with since when and how often: kept in the task's row, so that neither a restart
nor a status that flaps starts it anew."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import Sha


class HoldupKind(Enum):
    """`refused`: by the forge, when it was asked to merge; `checks`: they pend, or have not reported; `mergeable`: the
    forge does not know; `base_red`: its checks failed as those of the base do; `enqueued`: it was put into the forge's
    own merge queue."""

    REFUSED = "refused"
    CHECKS = "checks"
    MERGEABLE = "mergeable"
    BASE_RED = "base_red"
    ENQUEUED = "enqueued"


@dataclass(frozen=True, slots=True)
class Holdup:
    """One thing that holds up one head of a pull request. `count` is how often that was (the merge refused, or it put
    in), the last time at `last_at`; `reason` is a stable word for what it is (of a refusal, its kind), `words` are the
    forge's own; `seen` is a print of what was seen of the pull request then."""

    pull: int
    head_sha: Sha
    kind: HoldupKind
    since_at: datetime
    last_at: datetime
    count: int = 1
    reason: str = ""
    words: str = ""
    seen: str = ""


def find_holdup(holdups: tuple[Holdup, ...], kind: HoldupKind, *, head_sha: Sha) -> Holdup | None:
    return next((one for one in holdups if one.kind is kind and one.head_sha == head_sha), None)


def with_holdup(holdups: tuple[Holdup, ...], new: Holdup) -> tuple[Holdup, ...]:
    """The holdups with another one. Those of other heads go; one of its kind goes on from when it began."""
    before = find_holdup(holdups, new.kind, head_sha=new.head_sha)
    rest = tuple(one for one in holdups if one.head_sha == new.head_sha and one.kind is not new.kind)
    if before is None:
        return (*rest, new)
    merged = Holdup(
        new.pull, new.head_sha, new.kind, before.since_at, new.last_at, before.count + 1,
        new.reason, new.words, new.seen,
    )  # fmt: skip
    return (*rest, merged)


def without_holdup(holdups: tuple[Holdup, ...], kind: HoldupKind) -> tuple[Holdup, ...]:
    return tuple(one for one in holdups if one.kind is not kind)
