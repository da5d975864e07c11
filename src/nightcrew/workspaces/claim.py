"""Claims as refs of the forge's repository, `refs/nightcrew/claims/<number>`: the port Claims on real git.

A claim is a commit without files or parents whose first line is what it says, written as `exchange.py` does. So no
request of the forge's API is needed, and none is counted. What stands of jobs is in `due.py`.
"""

import asyncio
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from nightcrew.core.ids import Sha
from nightcrew.core.model.claim import Claim, ClaimNote, Due, DueNote
from nightcrew.core.neutral import one_line
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import Remote
from nightcrew.workspaces.due import DUES, fetch_due, render_due
from nightcrew.workspaces.exchange import TIMEOUT_S, exchange_ref
from nightcrew.workspaces.git import NIGHTCREW, NIGHTCREW_EMAIL, Git, Identity, identity_environment
from nightcrew.workspaces.push import check_address
from nightcrew.workspaces.ref import parse_object_id
from nightcrew.workspaces.repository import NO_TREE, Repository

CLAIMS = "refs/nightcrew/claims/"
_MARK = "nightcrew-claim "
_LONGEST = 2_000
_LONGEST_LEASE_S = 30 * 86_400.0


class GitClaims:
    """See `nightcrew.ports.claim.Claims`. It shares the engine's repositories with the workspaces of the same home."""

    def __init__(self, home: Path, clock: Clock, *, git: str = "git", git_env: Mapping[str, str] | None = None) -> None:
        self._home = home.resolve()
        self._clock = clock
        self._git = Git(git, dict(git_env or {}))
        self._locks: dict[str, asyncio.Lock] = {}

    async def list_claims(self, project: str, remote: Remote) -> tuple[Claim, ...]:
        repository = self._get(project)
        async with self._lock(project):
            await _fetch(repository, remote)
            return await _read(repository)

    async def put_claim(
        self, project: str, remote: Remote, number: int, *, note: ClaimNote, expected: Sha | None
    ) -> Sha:
        repository = self._get(project)
        made = await self._commit(repository, render_note(note))
        await self._exchange(repository, remote, number, new=made, expected=expected)
        return made

    async def drop_claim(self, project: str, remote: Remote, number: int, *, expected: Sha) -> None:
        await self._exchange(self._get(project), remote, number, new=None, expected=expected)

    async def find_due(self, project: str, remote: Remote, job: str) -> Due | None:
        async with self._lock(project):
            return await fetch_due(self._get(project), remote, job)

    async def put_due(self, project: str, remote: Remote, job: str, *, note: DueNote, expected: Sha | None) -> None:
        repository = self._get(project)
        made = await self._commit(repository, render_due(note))
        what = f"the turn of {job} in {project}"
        async with self._lock(project):
            await exchange_ref(repository, remote, f"{DUES}{job}", new=made, expected=expected, what=what)

    def _get(self, project: str) -> Repository:
        return Repository(self._home, project, self._git).get()

    async def _commit(self, repository: Repository, text: str) -> Sha:
        who = Identity(NIGHTCREW, NIGHTCREW_EMAIL, int(self._clock.now().timestamp()))
        done = await repository.run(
            "commit-tree", NO_TREE, "-F", "-",
            doing="writing a claim", env=identity_environment(who), stdin=text.encode(),
        )  # fmt: skip
        return Sha(done.text.strip())

    async def _exchange(
        self, repository: Repository, remote: Remote, number: int, *, new: Sha | None, expected: Sha | None
    ) -> None:
        what = f"the claim on {repository.project}#{number}"
        async with self._lock(repository.project):
            await exchange_ref(repository, remote, f"{CLAIMS}{number}", new=new, expected=expected, what=what)

    def _lock(self, project: str) -> asyncio.Lock:
        return self._locks.setdefault(project, asyncio.Lock())


async def _fetch(repository: Repository, remote: Remote) -> None:
    await repository.run(
        "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=",
        "--end-of-options", check_address(remote.url), f"+{CLAIMS}*:{CLAIMS}*",
        doing=f"reading the claims of {repository.project}", env=dict(remote.env), timeout_s=TIMEOUT_S,
    )  # fmt: skip


async def _read(repository: Repository) -> tuple[Claim, ...]:
    listed = await repository.run("for-each-ref", "--format=%(objectname) %(refname) %(contents:subject)", CLAIMS)
    found: list[Claim] = []
    for line in listed.text.split("\n"):
        sha, _, rest = line.partition(" ")
        name, _, subject = rest.partition(" ")
        number, known = name.removeprefix(CLAIMS), parse_object_id(sha) if sha else None
        if known is not None and number.isascii() and number.isdigit() and len(number) < 12 and int(number) > 0:
            found.append(Claim(int(number), known, parse_note(subject)))
    return tuple(sorted(found, key=lambda claim: claim.number))


def render_note(note: ClaimNote) -> str:
    """The first line of the claim's commit."""
    content = {
        "holder": note.holder,
        "host": note.host,
        "until": note.until_at.astimezone(UTC).isoformat(timespec="seconds"),
        "lease_s": note.lease_s,
        "branch": note.branch,
    }
    return f"{_MARK}{json.dumps(content)}\n"


def parse_note(line: str) -> ClaimNote | None:
    """What a claim says, as far as it is one: anybody with write access can put anything there."""
    if not line.startswith(_MARK) or len(line) > _LONGEST:
        return None
    try:
        content = json.loads(line.removeprefix(_MARK))
        until_at = datetime.fromisoformat(content["until"])
        lease_s = float(content["lease_s"])
        holder, host, branch = (str(content.get(name, "")) for name in ("holder", "host", "branch"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if until_at.tzinfo is None or not math.isfinite(lease_s) or not 0 < lease_s <= _LONGEST_LEASE_S:
        return None
    return ClaimNote(one_line(holder, 80), one_line(host, 80), until_at, lease_s, branch)
