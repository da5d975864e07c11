"""The actions about a machine's claim on a task; part of the union in `actions`."""

from dataclasses import dataclass

from nightcrew.core.ids import TaskKey


@dataclass(frozen=True, slots=True)
class ClaimTask:
    """Claim the task for this machine, before anything else is done about it. `inherits`: others may have worked on
    it, so its branch and pull request are looked for."""

    task: TaskKey
    inherits: bool
    why: str

    @property
    def key(self) -> str:
        return f"claim:{self.task}"


@dataclass(frozen=True, slots=True)
class RenewClaim:
    """Renew this machine's claim, beside whatever else is done."""

    task: TaskKey
    why: str

    @property
    def key(self) -> str:
        return f"renew:{self.task}"


@dataclass(frozen=True, slots=True)
class ReleaseClaim:
    """Give this machine's claim up: nothing is left to do but for a person."""

    task: TaskKey
    why: str

    @property
    def key(self) -> str:
        return f"release:{self.task}"
