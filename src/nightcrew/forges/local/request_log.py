"""What was asked of the forge, in order: for tests and figures that count requests and bytes."""

from dataclasses import dataclass
from datetime import datetime

KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One answered request. `counted`: it used the primary limit. `size`: bytes of the body as sent."""

    method: str
    path: str
    query: str
    status: int
    counted: bool
    size: int
    login: str
    at: datetime


class RequestLog:
    """The newest requests; `clear` starts a count anew."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def record(self, entry: Entry) -> None:
        self._entries.append(entry)
        del self._entries[:-KEPT]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries)

    def matching(self, method: str = "", path: str = "") -> tuple[Entry, ...]:
        """Those with this method and with `path` in their path; an empty one matches all."""
        return tuple(e for e in self._entries if method in {"", e.method} and path in e.path)

    @property
    def counted(self) -> int:
        return sum(entry.counted for entry in self._entries)

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self._entries)

    def clear(self) -> None:
        self._entries.clear()
