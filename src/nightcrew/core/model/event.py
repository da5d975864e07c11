"""Facts that happened, as they are kept for ever: every decision and effect, with its why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightcrew.core.ids import RunId, TaskKey


@dataclass(frozen=True, slots=True)
class Event:
    """One fact. `kind` is a dotted word (`status.changed`, `effect.done`, `run.ended`, …); `why` is for a person;
    `data` holds JSON values. `id` is given by the store, 0 before that."""

    kind: str
    why: str
    at: datetime
    task: TaskKey | None = None
    run: RunId | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    id: int = 0
