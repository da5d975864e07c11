"""Time, injected."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time and monotonic time apart: if they drift, the machine slept or its clock was set."""

    def now(self) -> datetime:
        """The wall clock: aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from some fixed point; never goes back."""
        ...
