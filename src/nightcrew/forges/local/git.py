"""Asking git about one bare repository. Facts about history and content come from here, at the time of asking, and from
nowhere else. Names that come from outside are checked before they reach a command line.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid, Unavailable
from nightcrew.process import Completed, clean_environment, run_process

TIMEOUT_S = 120.0
OUTPUT_CAP = 64_000_000
ZERO = "0" * 40
_SHA = re.compile(r"[0-9a-f]{40}\Z")
_SHORT_SHA = re.compile(r"[0-9a-f]{4,40}\Z")
_BAD_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_FIELDS = 10


@dataclass(frozen=True, slots=True)
class Signature:
    """Who and when, as a commit says it; `date` is ISO 8601."""

    name: str
    email: str
    date: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as git has it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0]

    @property
    def rest(self) -> str:
        return self.message.split("\n", 1)[1].strip() if "\n" in self.message else ""


def is_sha(text: str) -> bool:
    return _SHA.match(text) is not None


def is_ref_name(name: str) -> bool:
    """Whether git takes this as a branch or tag name (the rules of git-check-ref-format, and no leading dash)."""
    if not name or name == "@" or name.startswith(("-", "/")) or name.endswith(("/", ".")) or _BAD_IN_REF.search(name):
        return False
    return all(not part.startswith(".") and not part.endswith(".lock") for part in name.split("/"))


class Git:
    """Commands on one bare repository, without hooks and without the configuration of any person."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def run(
        self, *argv: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, ok: Sequence[int] = (0,)
    ) -> Completed:
        """Run `git <argv>` here; a return code outside `ok` raises Unavailable with git's own words."""
        done = await run_git(f"--git-dir={self.path}", *argv, stdin=stdin, env=env)
        if done.returncode not in ok:
            raise Unavailable(f"git {argv[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
        if done.truncated:
            raise Unavailable(f"git {argv[0]}: the answer is larger than {OUTPUT_CAP} bytes")
        return done

    async def text(self, *argv: str) -> str:
        return (await self.run(*argv)).stdout.decode("utf-8", "replace").strip()

    def refs_print(self) -> tuple[object, ...]:
        """A value that differs whenever a branch may have moved, read without starting git."""
        packed = self.path / "packed-refs"
        heads = self.path / "refs" / "heads"
        loose = tuple(sorted((str(file), file.read_bytes()) for file in heads.rglob("*") if file.is_file()))
        return (packed.read_bytes() if packed.exists() else b"", loose)

    async def refs(self, prefix: str) -> dict[str, str]:
        """Every ref under `prefix` (such as `refs/heads/`): full name to object id."""
        out = await self.text("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        pairs = (line.split(" ") for line in out.splitlines())
        return {name: sha for name, sha in pairs if name.startswith(prefix)}

    async def heads(self) -> dict[str, str]:
        return {name.removeprefix("refs/heads/"): sha for name, sha in (await self.refs("refs/heads/")).items()}

    async def ref(self, full_name: str) -> str | None:
        """The object of exactly this ref."""
        if not is_ref_name(full_name):
            return None
        done = await self.run("show-ref", "--verify", "--hash", "--", full_name, ok=(0, 1, 128))
        return done.stdout.decode().strip() or None

    async def branch(self, name: str) -> str | None:
        return await self.ref(f"refs/heads/{name}")

    async def commit_of(self, name: str) -> str | None:
        """The commit that a branch, tag, full ref or (short) id names; None if there is none."""
        for full in (f"refs/heads/{name}", f"refs/tags/{name}", name if name.startswith("refs/") else ""):
            if full and await self.ref(full):
                return await self._peel(full)
        if name.startswith(("heads/", "tags/")) and await self.ref(f"refs/{name}"):
            return await self._peel(f"refs/{name}")
        return await self._peel(name) if _SHORT_SHA.match(name) else None

    async def _peel(self, name: str) -> str | None:
        done = await self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", ok=(0, 1, 128))
        return done.stdout.decode().strip() or None

    async def kind_of(self, sha: str) -> str | None:
        """`commit`, `tree`, `blob` or `tag`, or None if there is no such object."""
        if not is_sha(sha):
            return None
        done = await self.run("cat-file", "-t", sha, ok=(0, 1, 128))
        return done.stdout.decode().strip() or None

    async def commits(self, *revisions: str, walk: bool = True, limit: int = 0) -> list[Commit]:
        """Commits of a range (oldest first), or exactly the given ones when `walk` is false."""
        if not revisions:
            return []
        how = ["--reverse", "--topo-order"] if walk else ["--no-walk=unsorted"]
        if limit:
            how.append(f"--max-count={limit}")
        form = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        done = await self.run(
            "-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.showSignature=false", "log", *how, "-z",
            f"--format=tformat:{form}", "--end-of-options", *revisions,
        )  # fmt: skip
        return parse_commits(done.stdout.decode("utf-8", "replace"))

    async def unsigned(self, revisions: str) -> int:
        """How many commits of a range bear no signature. Whether one is good is not asked."""
        shas = (await self.text("rev-list", revisions)).split()
        raw = [await self.text("cat-file", "commit", sha) for sha in shas]
        return sum("\ngpgsig" not in text.partition("\n\n")[0] for text in raw)

    async def commit(self, sha: str) -> Commit:
        return (await self.commits(sha, walk=False))[0]

    async def count(self, revisions: str) -> int:
        return int(await self.text("rev-list", "--count", "--end-of-options", revisions))

    async def ahead_behind(self, base: str, head: str) -> tuple[int, int]:
        """How many commits `head` has that `base` has not, and the other way."""
        behind, ahead = (await self.text("rev-list", "--left-right", "--count", f"{base}...{head}")).split()
        return int(ahead), int(behind)

    async def merge_base(self, one: str, other: str) -> str | None:
        done = await self.run("merge-base", one, other, ok=(0, 1))
        return done.stdout.decode().strip() or None

    async def is_ancestor(self, older: str, newer: str) -> bool:
        return (await self.run("merge-base", "--is-ancestor", older, newer, ok=(0, 1, 128))).returncode == 0

    async def merge_tree(self, ours: str, theirs: str) -> str | None:
        """The tree of a clean merge of two commits; None if they conflict or have no history in common."""
        if await self.merge_base(ours, theirs) is None:
            return None
        done = await self.run("merge-tree", "--write-tree", "--no-messages", "-z", ours, theirs, ok=(0, 1))
        return done.stdout.split(b"\0", 1)[0].decode() if done.returncode == 0 else None

    async def commit_tree(
        self, tree: str, parents: Sequence[str], *, message: str, author: Signature, committer: Signature
    ) -> str:
        """Write a commit object; no ref moves."""
        env = {
            "GIT_AUTHOR_NAME": author.name, "GIT_AUTHOR_EMAIL": author.email, "GIT_AUTHOR_DATE": author.date,
            "GIT_COMMITTER_NAME": committer.name, "GIT_COMMITTER_EMAIL": committer.email,
            "GIT_COMMITTER_DATE": committer.date,
        }  # fmt: skip
        argv = [part for parent in parents for part in ("-p", parent)]
        done = await self.run("commit-tree", tree, *argv, "-F", "-", stdin=message.encode(), env=env, ok=(0, 1, 128))
        if done.returncode != 0:
            raise Invalid(done.stderr.decode("utf-8", "replace").strip())
        return done.stdout.decode().strip()

    async def move_ref(self, full_name: str, *, new: str, old: str) -> bool:
        """Compare and set; `ZERO` as `old` means that it must not exist. False if it was something else."""
        argv = ("update-ref", "--no-deref", full_name, new, old)
        return (await self.run(*argv, ok=(0, 1, 128))).returncode == 0

    async def set_ref(self, full_name: str, new: str) -> None:
        await self.run("update-ref", "--no-deref", full_name, new)

    async def delete_ref(self, full_name: str, *, old: str) -> bool:
        return (await self.run("update-ref", "--no-deref", "-d", full_name, old, ok=(0, 1, 128))).returncode == 0


async def run_git(*argv: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> Completed:
    """Run git with neither hooks nor anybody's configuration."""
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0"}
    plain = {"LC_ALL": "C", "GIT_DEFAULT_REF_FORMAT": "files", "GIT_DEFAULT_HASH": "sha1"}
    settings = ("-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "gc.auto=0")
    return await run_process(
        ["git", *settings, *argv],
        env=clean_environment(extra={**quiet, **plain, **(env or {})}),
        stdin=stdin,
        timeout_s=TIMEOUT_S,
        output_cap=OUTPUT_CAP,
    )


def parse_commits(text: str) -> list[Commit]:
    """Read the NUL-separated output of `Git.commits`."""
    parts = text.split("\0")
    commits = []
    for start in range(0, len(parts) - _FIELDS + 1, _FIELDS):
        sha, tree, parents, an, ae, ad, cn, ce, cd, message = parts[start : start + _FIELDS]
        commits.append(
            Commit(
                sha, tree, tuple(parents.split()), Signature(an, ae, ad), Signature(cn, ce, cd), message.rstrip("\n")
            )
        )
    return commits
