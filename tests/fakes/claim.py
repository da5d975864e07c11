"""Claims in memory, shared by as many machines as a test has. `fail` scripts errors of the next calls."""

from dataclasses import dataclass, field

from nightcrew.core.errors import Conflict, PortError
from nightcrew.core.ids import Sha
from nightcrew.core.model.claim import Claim, ClaimNote, Due, DueNote
from nightcrew.ports.scm import Remote


@dataclass
class FakeClaims:
    """`claims` is what stands on the forge; `calls` lists (method, number) of every call (number 0 for lists)."""

    claims: dict[tuple[str, int], Claim] = field(default_factory=dict)
    dues: dict[tuple[str, str], Due] = field(default_factory=dict)
    calls: list[tuple[str, int]] = field(default_factory=list)
    count: int = 0
    _faults: list[tuple[str, PortError, bool]] = field(default_factory=list)

    def fail(self, method: str, error: PortError, *, times: int = 1, after: bool = False) -> None:
        """The next `times` calls of a method raise; with `after`, once they have taken effect."""
        self._faults += [(method, error, after)] * times

    def put(self, project: str, number: int, note: ClaimNote | None) -> Sha:
        """Another machine puts its claim there, whatever stood there."""
        self.count += 1
        sha = Sha(f"{self.count:040x}")
        self.claims[project, number] = Claim(number, sha, note)
        return sha

    async def list_claims(self, project: str, remote: Remote) -> tuple[Claim, ...]:
        self._leave(self._enter("list_claims", 0))
        return tuple(claim for (slug, _), claim in sorted(self.claims.items()) if slug == project)

    async def put_claim(
        self, project: str, remote: Remote, number: int, *, note: ClaimNote, expected: Sha | None
    ) -> Sha:
        error = self._enter("put_claim", number)
        self._compare(project, number, expected)
        sha = self.put(project, number, note)
        self._leave(error)
        return sha

    async def drop_claim(self, project: str, remote: Remote, number: int, *, expected: Sha) -> None:
        error = self._enter("drop_claim", number)
        if (project, number) in self.claims:
            self._compare(project, number, expected)
            del self.claims[project, number]
        self._leave(error)

    async def find_due(self, project: str, remote: Remote, job: str) -> Due | None:
        self._leave(self._enter("find_due", 0))
        return self.dues.get((project, job))

    async def put_due(self, project: str, remote: Remote, job: str, *, note: DueNote, expected: Sha | None) -> None:
        error = self._enter("put_due", 0)
        there = self.dues.get((project, job))
        if (there.sha if there is not None else None) != expected:
            raise Conflict(f"the turn of {job} in {project} is another machine's by now")
        self.count += 1
        self.dues[project, job] = Due(Sha(f"{self.count:040x}"), note)
        self._leave(error)

    def _compare(self, project: str, number: int, expected: Sha | None) -> None:
        there = self.claims.get((project, number))
        if (there.sha if there is not None else None) != expected:
            raise Conflict(f"the claim on {project}#{number} is another machine's by now")

    def _enter(self, method: str, number: int) -> PortError | None:
        self.calls.append((method, number))
        for fault in self._faults:
            if fault[0] == method:
                self._faults.remove(fault)
                if not fault[2]:
                    raise fault[1]
                return fault[1]
        return None

    def _leave(self, error: PortError | None) -> None:
        if error is not None:
            raise error
