"""Identifiers, injected."""

from typing import Protocol
from uuid import UUID

from nightcrew.core.ids import RunId


class Ids(Protocol):
    """Every answer is new and never repeats."""

    def run_id(self) -> RunId:
        """A ULID for a run."""
        ...

    def session_uuid(self) -> UUID:
        """A UUID for a CLI that wants its session named by one."""
        ...
