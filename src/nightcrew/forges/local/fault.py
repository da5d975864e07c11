"""Faults on demand: what a network or a busy GitHub does to a client, for tests. Nothing fails by itself."""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nightcrew.core.errors import Invalid
from nightcrew.forges.local.store import Store


class FaultKind(StrEnum):
    LATENCY = "latency"
    """Wait `seconds` before anything is done."""
    ERROR = "error"
    """Answer `status` (a 4xx or 5xx) and do nothing."""
    LOST_ANSWER = "lost_answer"
    """Do it, then answer `status` (502): the effect is made, the answer lost."""
    TRUNCATED = "truncated"
    """Send half of the body under the Content-Length of the whole."""
    PRIMARY_LIMIT = "primary_limit"
    """Answer as if the hourly limit were used up, for `seconds` more."""
    SECONDARY_LIMIT = "secondary_limit"
    """Answer as GitHub's secondary limit, with Retry-After of `seconds` unless they are 0."""
    STALE = "stale"
    """Answer reads from how things were when the fault was armed."""
    MERGEABLE_UNKNOWN = "mergeable_unknown"
    """`mergeable: null` on a single pull request, as while GitHub computes it."""
    BASE_MOVED = "base_moved"
    """Refuse a merge with the 405 of a base that moved meanwhile."""


@dataclass(slots=True)
class Fault:
    """An armed fault: it meets the next `times` requests whose method and path fit. `path` is a shell pattern over
    the whole path; `*` also spans slashes."""

    kind: FaultKind
    method: str = "*"
    path: str = "*"
    times: int = 1
    status: int = 502
    seconds: float = 0.0
    before: Store | None = None
    met: int = 0

    def fits(self, method: str, path: str) -> bool:
        return self.times > 0 and self.method in {"*", method} and fnmatch.fnmatchcase(path, self.path)


class Faults:
    """All armed faults, in the order in which they were armed. Spent ones are dropped."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._armed: list[Fault] = []

    def arm(
        self,
        kind: FaultKind | str,
        *,
        method: str = "*",
        path: str = "*",
        times: int = 1,
        status: int = 502,
        seconds: float = 0.0,
    ) -> Fault:
        """Arm a fault for the next `times` fitting requests."""
        kind = FaultKind(kind)
        before = self._store.snapshot() if kind is FaultKind.STALE else None
        fault = Fault(kind, method.upper(), path, times, status, seconds, before)
        self._armed.append(fault)
        return fault

    def take(self, kind: FaultKind, method: str, path: str) -> Fault | None:
        """The first armed fault of this kind that fits, used once by this."""
        for fault in self._armed:
            if fault.kind is kind and fault.fits(method, path):
                fault.times -= 1
                fault.met += 1
                self._armed = [other for other in self._armed if other.times > 0]
                return fault
        return None

    @property
    def armed(self) -> tuple[Fault, ...]:
        return tuple(self._armed)

    def clear(self) -> None:
        self._armed.clear()


def parse_fault(body: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Faults.arm` out of a JSON object; Invalid if it is none."""
    shapes: dict[str, type | tuple[type, ...]] = {
        "kind": str, "method": str, "path": str, "times": int, "status": int, "seconds": (int, float),
    }  # fmt: skip
    for name, value in body.items():
        if name not in shapes or not isinstance(value, shapes[name]):
            raise Invalid(f"not a fault: {name}={value!r}")
    if body.get("kind") not in set(FaultKind):
        raise Invalid(f"no such kind of fault; there are {', '.join(FaultKind)}")
    return dict(body)
