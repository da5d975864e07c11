"""Reading commits, trees and differences from the engine's repository. Nothing is changed."""

import codecs
from collections.abc import Sequence

from nightcrew.core.ids import Sha
from nightcrew.ports.workspace import Commit
from nightcrew.process import Completed
from nightcrew.workspaces.build import find_merge_base
from nightcrew.workspaces.commit import AGENT_TRAILER
from nightcrew.workspaces.ref import parse_object_id
from nightcrew.workspaces.repository import Repository

_FIELDS = 5
_FORMAT = f"%H%x00%s%x00%an%x00%ae%x00%(trailers:key={AGENT_TRAILER},valueonly,unfold,separator=%x1f)"
_BYTES_A_CHARACTER = 4
_LONGEST_PATH = 4_200


async def list_commits(repository: Repository, *, base: Sha, head: Sha, emails: tuple[str, ...]) -> tuple[Commit, ...]:
    """base..head, oldest first. `emails` are the patterns (`{agent}@…`) by which an author is an agent."""
    await repository.check_there(base, head)
    done = await repository.run(
        "log", "-z", "--reverse", "--topo-order", f"--format={_FORMAT}", f"{base}..{head}", "--"
    )
    parts = done.text.split("\0")
    signed = await _find_signed(repository, parts[::_FIELDS])
    commits = []
    for index in range(0, len(parts) - _FIELDS + 1, _FIELDS):
        sha, subject, author, email, trailers = parts[index : index + _FIELDS]
        named = {name.strip() for name in trailers.split("\x1f") if name.strip()}
        named |= {agent for pattern in emails if (agent := _match(pattern, email))}
        commits.append(Commit(Sha(sha), subject, f"{author} <{email}>", frozenset(named), sha in signed))
    return tuple(commits)


async def _find_signed(repository: Repository, shas: Sequence[str]) -> frozenset[str]:
    """Those of the commits that bear a signature, of whatever kind. Git is not asked whether it is good: that would
    start other programs."""
    wanted = "".join(f"{sha}\n" for sha in shas if parse_object_id(sha) == sha)
    raw = (await repository.run("cat-file", "--batch", stdin=wanted.encode())).stdout if wanted else b""
    found, at = set(), 0
    while (end := raw.find(b"\n", at)) > 0:
        sha, kind, size = raw[at:end].split(b" ")
        text = raw[end + 1 : end + 1 + int(size)]
        headers = text.partition(b"\n\n")[0]
        if kind == b"commit" and (b"\ngpgsig " in headers or b"\ngpgsig-sha256 " in headers):
            found.add(sha.decode("ascii"))
        at = end + 1 + int(size) + 1
    return frozenset(found)


def _match(pattern: str, email: str) -> str:
    before, mark, after = pattern.partition("{agent}")
    fits = bool(mark) and len(email) > len(before) + len(after) and email.startswith(before) and email.endswith(after)
    return email[len(before) : len(email) - len(after)] if fits else ""


async def load_diff(repository: Repository, *, base: Sha, head: Sha, limit: int) -> str:
    """What head changes since it left base."""
    await repository.check_there(base, head)
    since = await find_merge_base(repository, base, head) or base
    done = await repository.run(
        "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/",
        since, head, "--",
        output_cap=(limit + 1) * _BYTES_A_CHARACTER,
    )  # fmt: skip
    return done.text[:limit]


async def list_tree(repository: Repository, sha: Sha, *, limit: int) -> tuple[str, ...]:
    """Paths of files and links; submodules are not files."""
    done = await list_entries(repository, sha, "-r", output_cap=(limit + 1) * _LONGEST_PATH)
    paths: list[str] = []
    # What follows the last NUL is empty, or a path that was cut.
    for entry in done.stdout.split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        if len(paths) == limit:
            break
        if facts.split(b" ")[1:2] == [b"blob"]:
            paths.append(path.decode("utf-8", "replace"))
    return tuple(paths)


async def find_file(repository: Repository, sha: Sha, path: str, *, limit: int) -> str | None:
    """The text of a regular file; None for anything else, a link included, and for what is not UTF-8."""
    if not path or "\0" in path or path.startswith("/"):
        await repository.check_there(sha)
        return None
    listed = await list_entries(repository, sha, paths=(path,))
    for entry in listed.stdout.split(b"\0"):
        facts, _, name = entry.partition(b"\t")
        if name == path.encode("utf-8", "surrogateescape") and facts.startswith(b"100"):
            return await _load_text(repository, facts.split(b" ")[2].decode("ascii"), limit=limit)
    return None


async def list_entries(
    repository: Repository, sha: Sha, *options: str, paths: Sequence[str] = (), output_cap: int = 1_000_000
) -> Completed:
    """Entries of a commit's tree. Missing if it is not there, which is looked for only where git complains: an agent
    waits for its prompt meanwhile. A path that git refuses gives nothing."""
    if parse_object_id(sha) != sha:
        await repository.check_there(sha)
    words = ("ls-tree", "-z", "--full-tree", *options, f"{sha}^{{commit}}", "--", *paths)
    done = await repository.run(*words, ok=(0, 128), output_cap=output_cap)
    if done.returncode:
        await repository.check_there(sha)
    return done


async def _load_text(repository: Repository, blob: str, *, limit: int) -> str | None:
    done = await repository.run("cat-file", "blob", blob, output_cap=(limit + 1) * _BYTES_A_CHARACTER)
    if b"\0" in done.stdout:
        return None
    try:
        # A character that the cap cut in two is dropped; one that is wrong in itself is an error.
        return codecs.getincrementaldecoder("utf-8")().decode(done.stdout, final=not done.truncated)[:limit]
    except UnicodeDecodeError:
        return None
