"""What comes of a command."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a command: whether anything was changed, and one line for the person."""

    changed: bool
    words: str
    data: Mapping[str, object] = field(default_factory=dict)
