"""The bare repositories of a project, and where everything of it lies in Nightcrew's home.

    repos/<owner>__<repo>/engine.git      fetch, push, merges, salvage; only the engine writes here
    repos/<owner>__<repo>/agents/<n>.git  carries the worktree of task n; borrows the engine's objects; its agents
                                          write here, and it goes with the task
    repos/<owner>__<repo>/agents.git      the same for all tasks together, as it was made before: see `retire`
    repos/<owner>__<repo>/tasks/          marker and lease of each task
    worktrees/<owner>__<repo>/<repo>-<n>  the workspace of task n
    checkouts/<owner>__<repo>/<key>       throw-away checkouts

Git is only ever run on the first. The others are read and written as files (see `ref`, `link`).
"""

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from nightcrew.core.branch import is_branch_name
from nightcrew.core.errors import Conflict, Invalid, Missing, PortError, Unavailable
from nightcrew.core.ids import Sha, is_slug
from nightcrew.process import Completed
from nightcrew.workspaces.complaint import is_lock_left
from nightcrew.workspaces.file import discard, find_bytes, find_document, is_folder, replace_document, replace_file
from nightcrew.workspaces.git import LOCAL_TIMEOUT_S, Git
from nightcrew.workspaces.ref import find_ref, parse_object_id
from nightcrew.workspaces.signing import UNSIGNED, Signing

REMOTE = "refs/remotes/origin/"
"""Where the remote's branches are kept, in all of them."""

LAYOUT = 2
"""Of tasks with a repository of their own; those of before share one."""

NO_TREE = Sha("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

_LOCK_STALE_S = 30.0
# Agents commit here by hand; an identity given by environment variables goes first. No remote is configured, so that
# a bare `git push` has nowhere to go; the person's signing and collection settings must not stop or eat a commit.
_AGENTS_CONFIG = b"""[user]
\tname = Unnamed agent
\temail = unnamed@agents.nightcrew.invalid
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[push]
\tdefault = nothing
[gc]
\tauto = 0
\tworktreePruneExpire = never
[maintenance]
\tauto = false
[advice]
\tdetachedHead = false
"""


def _names_an_object(path: Path) -> bool:
    text = (find_bytes(path) or b"").decode("utf-8", "replace").strip()
    return text.startswith("ref: refs/") or parse_object_id(text) is not None


def safe_name(text: str) -> str:
    """A folder name for outside text: readable where it can be, and different for different texts."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-")[:80]
    return plain if plain == text else f"{plain or 'x'}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def is_repository(where: Path) -> bool:
    """Whether git would take a folder for a repository (gitrepository-layout(5))."""
    return is_folder(where / "objects") and is_folder(where / "refs") and find_bytes(where / "HEAD") is not None


class Repository:
    """One project's repositories."""

    def __init__(self, home: Path, project: str, git: Git, *, signing: Signing = UNSIGNED) -> None:
        self.project = project
        self.signing = signing
        owner, _, name = project.rpartition("/")
        plain = is_slug(project) and "__" not in project and not owner.startswith(("-", "_"))
        folder = f"{owner}__{name}" if plain else safe_name(project.replace("/", "__") + f"#{project}")
        self._short = safe_name(name or project)
        self._git = git
        self.folder = home / "repos" / folder
        self.engine = self.folder / "engine.git"
        self.shared = self.folder / "agents.git"
        self.scratch = self.folder / "scratch"
        self.trash = self.folder / "trash"
        self.aside = self.folder / "aside"
        self.worktrees = home / "worktrees" / folder
        self.checkouts = home / "checkouts" / folder

    def tree(self, number: int) -> Path:
        return self.worktrees / f"{self._short}-{number}"

    def agents(self, number: int) -> Path:
        """The repository that carries the worktree of a task."""
        return self.shared if self.is_shared(number) else self.folder / "agents" / f"{number}.git"

    def is_shared(self, number: int) -> bool:
        """Whether the task's worktree was made when all tasks had one repository, in which it stays to its end."""
        if not is_folder(self.shared):
            return False
        found = find_document(self.marker(number))
        return found is not None and found.get("layout", 1) != LAYOUT

    def admin(self, number: int) -> Path:
        """The worktree's own part of that repository (`$GIT_DIR` of commands that an agent runs there)."""
        return self.agents(number) / "worktrees" / self.tree(number).name

    def is_own_link(self, number: int, text: str) -> bool:
        """Whether the text of a worktree's `.git` leads to a repository of this task, as it is or was before."""
        places = (self.folder / "agents" / f"{number}.git", self.shared)
        return text in [f"gitdir: {place / 'worktrees' / self.tree(number).name}" for place in places]

    def marker(self, number: int) -> Path:
        return self.folder / "tasks" / f"{number}.json"

    def lease(self, number: int) -> Path:
        return self.folder / "tasks" / f"{number}.lease"

    async def ensure(self) -> None:
        """Have the engine's repository. A half-made one from a crash is made again. One that somebody deleted, or
        damaged so that git does not take it for one, is made anew around what is left of it."""
        if self.is_there() and self.is_sound():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        await self._init(self.engine)
        replace_document(self.folder / "project.json", {"project": self.project, "version": 1})

    async def ensure_agents(self, number: int) -> None:
        """Have the repository of a task's agents, in the same way. No configuration that is left of one is read."""
        where = self.agents(number)
        if not is_repository(where):
            await asyncio.to_thread(discard, where / "config", self.trash)
            await self._init(where)
            config = (find_bytes(where / "config") or b"") + _AGENTS_CONFIG
            replace_file(where / "config", config)
        self.ensure_alternates(number)

    async def _init(self, where: Path) -> None:
        where.mkdir(parents=True, exist_ok=True)
        await self._git.run(where, "init", "--quiet", "--bare", "--template=", "--initial-branch=none")

    def is_there(self) -> bool:
        """Whether the engine's repository was made whole. Conflict if the folder belongs to another project."""
        found = find_document(self.folder / "project.json")
        if found is not None and found.get("project") != self.project:
            raise Conflict(f"{self.folder} belongs to {found.get('project')!r}, not to {self.project!r}")
        return found is not None

    def is_sound(self) -> bool:
        """Whether git would take the engine's folder for a repository."""
        return is_repository(self.engine)

    def get(self) -> "Repository":
        """Itself; Missing if it was never fetched, Unavailable if it has to be fetched again."""
        if not self.is_there():
            raise Missing(f"{self.project} was not fetched yet")
        if not self.is_sound():
            raise Unavailable(f"the repository in {self.folder} is gone or damaged; it is made again by the next fetch")
        return self

    def drop_damaged(self) -> bool:
        """Remove refs of the engine's repository that name no object: git takes any of them for a reason to stop.
        Nothing is lost by it. Whether there were any."""
        found = [
            path
            for path in (self.engine / "refs").rglob("*")
            if path.is_file() and not path.name.endswith(".lock") and not _names_an_object(path)
        ]
        for path in found:
            path.unlink(missing_ok=True)
        return bool(found)

    def ensure_alternates(self, number: int) -> None:
        """Have the repository of a task's agents borrow the engine's objects, and nothing else's."""
        self.borrow(self.agents(number))

    def borrow(self, where: Path) -> None:
        """Have a repository borrow the engine's objects, and nothing else's."""
        path = where / "objects" / "info" / "alternates"
        wanted = quote_path(self.engine / "objects")
        if find_bytes(path) != wanted:
            replace_file(path, wanted)

    async def run(
        self,
        *args: str,
        doing: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        ok: tuple[int, ...] = (0,),
        timeout_s: float = LOCAL_TIMEOUT_S,
        output_cap: int = 64_000_000,
    ) -> Completed:
        """Git in the engine's repository. A lock that a killed predecessor left is removed, and git run once more."""
        try:
            return await self._git.run(
                self.engine, *args, doing=doing, env=env, stdin=stdin, ok=ok, timeout_s=timeout_s, output_cap=output_cap
            )
        except PortError as error:
            if not is_lock_left(error) or not self._sweep_locks():
                raise
        return await self._git.run(
            self.engine, *args, doing=doing, env=env, stdin=stdin, ok=ok, timeout_s=timeout_s, output_cap=output_cap
        )

    def complain(self, done: Completed, *, doing: str) -> PortError:
        return self._git.error(done, doing=doing)

    def temporary(self) -> TemporaryDirectory[str]:
        """A folder for the length of one operation."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(dir=self.scratch, ignore_cleanup_errors=True)

    async def find_ref(self, name: str) -> Sha | None:
        """The object of a ref of the engine's repository, by its full and exact name. Read as a file: it is asked for
        so often that a process each time would be felt."""
        return find_ref(self.engine, name)

    async def find_branch(self, branch: str) -> Sha | None:
        """A branch of the remote, as last fetched."""
        return await self.find_ref(REMOTE + branch) if is_branch_name(branch) else None

    async def get_base(self, base_ref: str) -> Sha:
        """The branch that tasks start from. Never guessed: Missing names it, Invalid says that there is no commit."""
        if not is_branch_name(base_ref):
            raise Invalid(f"{base_ref!r} cannot be the name of a branch; set base_ref of {self.project}")
        found = await self.find_branch(base_ref)
        if found is not None:
            return found
        listed = await self.run("for-each-ref", "--count=6", "--format=%(refname)", REMOTE)
        names = [name.removeprefix(REMOTE) for name in listed.text.split("\n") if name]
        if not names:
            raise Invalid(f"{self.project} has no commits yet; push a first commit to {base_ref}")
        raise Missing(
            f"{self.project} has no branch {base_ref!r}; it has {', '.join(names[:5])}{' …' * (len(names) > 5)}"
        )

    async def list_absent(self, shas: Sequence[str]) -> tuple[str, ...]:
        """Those of `shas` that are not commits in the engine's repository."""
        asked = [sha for sha in shas if parse_object_id(sha) == sha]
        done = await self.run(
            "cat-file", "--batch-check", stdin="".join(f"{sha}^{{commit}}\n" for sha in asked).encode()
        )
        lines = done.text.splitlines()
        here = {sha for sha, line in zip(asked, lines, strict=True) if line.split(" ")[1:2] == ["commit"]}
        return tuple(sha for sha in shas if sha not in here)

    async def check_there(self, *shas: Sha) -> None:
        """Missing unless all are commits in the engine's repository."""
        if absent := await self.list_absent(shas):
            raise Missing(f"{self.project} has no commit {absent[0]!r} here; fetch first")

    async def is_ancestor(self, ancestor: Sha, descendant: Sha) -> bool:
        if ancestor == descendant:
            return True
        done = await self.run("merge-base", "--is-ancestor", ancestor, descendant, ok=(0, 1))
        return done.returncode == 0

    async def tree_of(self, sha: Sha) -> str:
        return (await self.run("rev-parse", "--verify", "--end-of-options", f"{sha}^{{tree}}")).text.strip()

    async def set_ref(self, name: str, sha: Sha) -> None:
        await self.run("update-ref", "--no-deref", name, sha)

    async def transfer(self, number: int, shas: Sequence[Sha], *, source: Path | None = None) -> None:
        """Bring commits of the repository of a task's agents (or of `source`) over, with git's object checks on.
        Invalid if they do not pass.

        Git's own upload-pack serves them, but from a stand-in repository that we make: its configuration and refs are
        ours, only its objects are borrowed from the agents'. So nothing that an agent configured (a partial clone with
        a command as its remote, for one) is read, and fetch still checks each object and that all are there.
        """
        wanted = await self.list_absent(list(dict.fromkeys(shas)))
        if not wanted:
            return
        made_by_agents = source or self.agents(number)
        self.borrow(made_by_agents)
        with self.temporary() as folder:
            stand_in = Path(folder) / "source.git"
            await self._init(stand_in)
            (stand_in / "objects" / "info").mkdir(exist_ok=True)
            (stand_in / "objects" / "info" / "alternates").write_bytes(quote_path(made_by_agents / "objects"))
            lines = "".join(f"{sha} refs/heads/{index}\n" for index, sha in enumerate(wanted))
            (stand_in / "packed-refs").write_text(f"# pack-refs with: \n{lines}", encoding="ascii")
            done = await self.run(
                "-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true",
                "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=",
                "--end-of-options", str(stand_in), f"+refs/heads/*:refs/nightcrew/incoming/{number}/*",
                ok=(0, 1, 128, 255),
            )  # fmt: skip
        if done.returncode != 0:
            raise Invalid(str(self.complain(done, doing=f"taking over the commits of task {number}")))
        if absent := await self.list_absent(wanted):
            raise Invalid(f"commit {absent[0]} of task {number} could not be taken over")

    def _sweep_locks(self) -> bool:
        # Compared with a file made now on the same disk, so that no clock is involved.
        self.scratch.mkdir(parents=True, exist_ok=True)
        probe = self.scratch / "now"
        probe.write_bytes(b"")
        now = probe.stat().st_mtime
        places = [*self.engine.glob("*.lock"), *(self.engine / "refs").rglob("*.lock")]
        stale = [lock for lock in places if now - lock.lstat().st_mtime > _LOCK_STALE_S]
        for lock in stale:
            lock.unlink(missing_ok=True)
        return bool(stale)


def quote_path(path: Path) -> bytes:
    """A line of an `alternates` file: plain, or in git's C quotes where the path would be taken for something else."""
    raw = bytes(path)
    if not raw.startswith((b'"', b"#")) and b"\n" not in raw:
        return raw + b"\n"
    inner = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + inner + b'"\n'
