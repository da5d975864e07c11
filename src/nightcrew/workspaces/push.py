"""Talking to the remote: fetch, and a push that is proven by reading the remote back. It forces only where that was
asked for, and then only over the very commit that was expected.

Credentials travel in the remote's variables, never in arguments. What the network breaks is tried again here, so that
no run is spent on it; what the remote refuses is told in its own words.
"""

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nightcrew.core.branch import is_branch_name
from nightcrew.core.errors import Conflict, Invalid, PortError, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.ports.scm import Remote
from nightcrew.workspaces.ref import parse_object_id
from nightcrew.workspaces.repository import REMOTE, Repository

PULLS = "refs/nightcrew/pulls/"
"""Where heads of pull requests are kept that may be on no branch of the remote."""
_ADDRESS = re.compile(
    r"(https?|ssh|git|file)://[^\x00-\x20\x7f]+|/[^\x00\n]*|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\x00-\x1f]+"
)


def check_address(url: str) -> str:
    """The address if git would take it for one; Invalid for options, commands (`ext::`) and relative paths."""
    if _ADDRESS.fullmatch(url) is None or "::" in url.split("/", 1)[0]:
        raise Invalid(f"{url[:100]!r} is not an address that git may be given")
    return url


async def fetch_branches(repository: Repository, remote: Remote, *, timeout_s: float, waits_s: Sequence[float]) -> None:
    """All branches of the remote, and none that it has no more."""

    async def fetch() -> None:
        await repository.run(
            "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=",
            "--end-of-options", check_address(remote.url), f"+refs/heads/*:{REMOTE}*",
            doing=f"fetching {repository.project}", env=dict(remote.env), timeout_s=timeout_s,
        )  # fmt: skip

    for wait_s in waits_s:
        try:
            return await fetch()
        except (Unavailable, Conflict):  # a conflict: a push wrote one of the refs meanwhile
            await asyncio.sleep(wait_s)
        except PortError:
            if not repository.drop_damaged():
                raise
    return await fetch()


async def find_tip(repository: Repository, remote: Remote, branch: str, *, timeout_s: float) -> Sha | None:
    """Where a branch is on the remote now; None if it is not there."""
    doing = f"reading {branch} of the remote"
    return await find_ref(repository, remote, f"refs/heads/{branch}", doing=doing, timeout_s=timeout_s)


async def find_ref(repository: Repository, remote: Remote, ref: str, *, doing: str, timeout_s: float) -> Sha | None:
    """Where a ref is on the remote now; None if it is not there."""
    done = await repository.run(
        "ls-remote", "--quiet", "--refs", "--end-of-options", check_address(remote.url), ref,
        doing=doing, env=dict(remote.env), timeout_s=timeout_s,
    )  # fmt: skip
    # A pattern also matches at the end of longer names, so the exact one is picked here.
    for line in done.text.splitlines():
        sha, _, name = line.partition("\t")
        if name == ref:
            return parse_object_id(sha)
    return None


async def fetch_pull(repository: Repository, remote: Remote, number: int, *, timeout_s: float) -> None:
    """The head of a pull request, which may be in a fork, under a ref of our own (github's `refs/pull/N/head`)."""
    await repository.run(
        "-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true",
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=",
        "--end-of-options", check_address(remote.url), f"+refs/pull/{number:d}/head:{PULLS}{number:d}",
        doing=f"fetching pull request {number} of {repository.project}", env=dict(remote.env), timeout_s=timeout_s,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a branch is to be, and where it is expected to be before; `replace`: the one need not contain the other."""

    branch: str
    sha: Sha
    expected: Sha | None
    replace: bool = False


async def push_branch(
    repository: Repository, remote: Remote, goal: Goal, *, timeout_s: float, waits_s: Sequence[float]
) -> None:
    """Have the branch at `sha`. Each try starts by reading the remote, so that an answer that got lost is not a
    second push; the last error is raised when the tries are spent."""
    branch, sha, expected = goal.branch, goal.sha, goal.expected
    if not is_branch_name(branch):
        raise Invalid(f"{branch!r} cannot be the name of a branch")
    await repository.check_there(sha)
    if expected is not None and not goal.replace and not await _contains(repository, sha, expected):
        raise Conflict(f"{branch} is at {expected[:10]}, which {sha[:10]} does not contain; a push would have to force")
    push = _Push(repository, remote, goal, timeout_s=timeout_s)
    for wait_s in waits_s:
        try:
            return await push.once()
        except Unavailable:
            await asyncio.sleep(wait_s)
    return await push.once()


async def _contains(repository: Repository, descendant: Sha, ancestor: Sha) -> bool:
    if await repository.list_absent([ancestor]):
        return False
    return await repository.is_ancestor(ancestor, descendant)


class _Push:
    """One push of one branch, which may be tried several times."""

    def __init__(self, repository: Repository, remote: Remote, goal: Goal, *, timeout_s: float) -> None:
        self._remote = remote
        self._repository, self._url, self._env = repository, check_address(remote.url), dict(remote.env)
        self._branch, self._sha, self._expected = goal.branch, goal.sha, goal.expected
        self._ref = f"refs/heads/{goal.branch}"
        self._lease = (f"--force-with-lease={self._ref}:{goal.expected or ''}",) if goal.replace else ()
        self._timeout_s = timeout_s

    async def once(self) -> None:
        there = await self._fetch_tip()
        if there == self._sha:
            return await self._remember()
        if there != self._expected:
            raise Conflict(self._elsewhere(there))
        failure = await self._send()
        there = await self._fetch_tip()
        if there == self._sha:
            return await self._remember()
        raise failure or Conflict(self._elsewhere(there))

    async def _send(self) -> PortError | None:
        # --no-verify: a pre-push hook could hide the remote's own answer; there is none here in any case.
        doing = f"pushing {self._branch}"
        try:
            done = await self._repository.run(
                "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
                *self._lease, "--end-of-options", self._url, f"{self._sha}:{self._ref}",
                doing=doing, env=self._env, timeout_s=self._timeout_s, ok=tuple(range(256)),
            )  # fmt: skip
        except Unavailable as error:
            return error
        return None if done.ok else self._repository.complain(done, doing=doing)

    async def _fetch_tip(self) -> Sha | None:
        return await find_tip(self._repository, self._remote, self._branch, timeout_s=self._timeout_s)

    async def _remember(self) -> None:
        # A fetch may be writing the same ref right now; then it will say the same.
        with contextlib.suppress(Unavailable, Conflict):
            await self._repository.set_ref(REMOTE + self._branch, self._sha)

    def _elsewhere(self, there: Sha | None) -> str:
        now = f"at {there[:10]}" if there else "not there"
        wanted = f"at {self._expected[:10]}" if self._expected else "not there"
        return f"{self._branch} on the remote is {now}, expected it {wanted}; nothing was forced"
