"""What living through one seed came to. Both suites answer with it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """`broken` names the rule that broke at `step`, empty if none did; `words` say how. `trace` is the tail of what
    happened (all of it, where that was asked for)."""

    seed: int
    days: float
    steps: int
    merged: int = 0
    cpu_s: float = 0.0
    rule: str = ""
    words: str = ""
    trace: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        return not self.rule


Live = Callable[..., Outcome]
"""`live(seed, *, days, whole_trace=False)`: a suite. The same seed and days give the same outcome, `cpu_s` apart."""
