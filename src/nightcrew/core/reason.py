"""Why a task waits, as a value: a stable code, words, and until when. Every place that shows it shows the same."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """`code` is stable and machine-readable; `words` complete the sentence "It waits because …"; `next` says what
    happens next; `until_at` is the earliest time at which it can go on, if one is known (for a run at work, the latest:
    its deadline)."""

    code: str
    words: str
    next: str = ""
    until_at: datetime | None = None
