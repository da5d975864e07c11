"""Where machines claim tasks, so that two that look after one repository do not do the same work."""

from typing import Protocol

from nightcrew.core.ids import Sha
from nightcrew.core.model.claim import Claim, ClaimNote, Due, DueNote
from nightcrew.ports.scm import Remote


class Claims(Protocol):
    """Claims on the tasks of a project, kept by its forge outside of its branches, so that nothing is started by them.

    Each write is one comparison and exchange: it takes effect only where the claim is as `expected` says, whatever
    other machines do at the same time. Errors: Unavailable, Missing (never fetched), Conflict (it is not as expected),
    Denied and Invalid (the forge takes no claims).
    """

    async def list_claims(self, project: str, remote: Remote) -> tuple[Claim, ...]:
        """All claims as they stand on the forge now."""
        ...

    async def put_claim(
        self, project: str, remote: Remote, number: int, *, note: ClaimNote, expected: Sha | None
    ) -> Sha:
        """Make or renew a claim, or take one over: have it say `note` if it is at `expected` (None: there is none).
        Returns its new id. Where the answer got lost it is looked for, so that an error means that it is not there."""
        ...

    async def drop_claim(self, project: str, remote: Remote, number: int, *, expected: Sha) -> None:
        """Give a claim up if it is at `expected`. Idempotent: absent is fine. Conflict if another machine has it."""
        ...

    async def find_due(self, project: str, remote: Remote, job: str) -> Due | None:
        """Who took the last due time of a job, as it stands on the forge now; None if nobody ever did."""
        ...

    async def put_due(self, project: str, remote: Remote, job: str, *, note: DueNote, expected: Sha | None) -> None:
        """Take a due time of a job, as `put_claim` does a task."""
        ...
