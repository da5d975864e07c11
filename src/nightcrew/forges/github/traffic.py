"""How much was asked of the forge: plain counts for status and benchmarks. No decisions are made from them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traffic:
    """Counts since the start. `counted` are the answers that GitHub counts against the hourly limit, which is all but
    304; `received` are bytes of bodies as they came over the wire; `remaining` is the last told rest of the limit."""

    requests: int = 0
    counted: int = 0
    writes: int = 0
    failures: int = 0
    received: int = 0
    remaining: int | None = None

    def __sub__(self, earlier: "Traffic") -> "Traffic":
        """What happened since `earlier`."""
        return Traffic(
            requests=self.requests - earlier.requests,
            counted=self.counted - earlier.counted,
            writes=self.writes - earlier.writes,
            failures=self.failures - earlier.failures,
            received=self.received - earlier.received,
            remaining=self.remaining,
        )


class Meter:
    """Keeps the running counts."""

    def __init__(self) -> None:
        self._now = Traffic()

    @property
    def reading(self) -> Traffic:
        return self._now

    def count_answer(self, *, status: int, size: int, is_write: bool, remaining: str | None) -> None:
        was = self._now
        self._now = Traffic(
            requests=was.requests + 1,
            counted=was.counted + (status != 304),
            writes=was.writes + is_write,
            failures=was.failures,
            received=was.received + size,
            remaining=int(remaining) if remaining is not None and remaining.isdigit() else was.remaining,
        )

    def count_failure(self, *, is_write: bool) -> None:
        """A request without a whole answer; it may have counted."""
        was = self._now
        self._now = Traffic(
            requests=was.requests + 1,
            counted=was.counted + 1,
            writes=was.writes + is_write,
            failures=was.failures + 1,
            received=was.received,
            remaining=was.remaining,
        )
