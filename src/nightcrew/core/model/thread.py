"""A review thread: what was said about one place of a pull request, and whether it is settled."""

from dataclasses import dataclass

from nightcrew.core.model.pull import Remark


@dataclass(frozen=True, slots=True)
class Thread:
    """`id` is the forge's own and opaque. `line` is None where the diff does not show the place any more, and
    `is_outdated` says that it changed since. `hunk` is the part of the diff above it. `remarks` has the first one and
    all replies, oldest first."""

    id: str
    path: str
    line: int | None
    is_resolved: bool
    is_outdated: bool
    hunk: str
    remarks: tuple[Remark, ...]
