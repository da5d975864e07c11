"""A remote, a home and what an agent does in its worktree, all with plain git; for the tests of workspaces."""

import os
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nightcrew.core.branch import branch_name
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import Checkout, Left, WorkspaceSpec
from nightcrew.workspaces import GitWorkspaces

PROJECT = "acme/widget"
NUMBER = 7
BRANCH = branch_name(NUMBER, "Make the widget spin")

_PLAIN = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C",
    "GIT_EDITOR": "true",
}
_WHO = {
    "GIT_AUTHOR_NAME": "claude",
    "GIT_AUTHOR_EMAIL": "claude@nightcrew.invalid",
    "GIT_COMMITTER_NAME": "claude",
    "GIT_COMMITTER_EMAIL": "claude@nightcrew.invalid",
}


def git(where: Path, *args: str, check: bool = True, who: bool = True) -> str:
    """Plain git, as a person or an agent runs it in a folder."""
    env = {**_PLAIN, "HOME": str(where), **(_WHO if who else {})}
    done = subprocess.run(["git", *args], cwd=where, env=env, capture_output=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"git {args}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class House:
    """One remote repository and one Nightcrew home."""

    root: Path
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.bare = self.root / "remote.git"
        self.person = self.root / "person"
        self.home = self.root / "home"
        self.root.mkdir(parents=True, exist_ok=True)
        self.home.mkdir()
        git(self.root, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(self.root, "init", "-q", "-b", "main", str(self.person))
        git(self.person, "remote", "add", "origin", str(self.bare))
        self.workspaces = self.open()

    def open(self, **options: Any) -> GitWorkspaces:
        """The workspaces of this home, as a fresh process would see them."""
        return GitWorkspaces(self.home, self.clock, **{"retry_waits_s": (0.0, 0.0), **options})

    @property
    def remote(self) -> Remote:
        return Remote(str(self.bare))

    @property
    def engine(self) -> Path:
        return self.home / "repos" / "acme__widget" / "engine.git"

    @property
    def agents(self) -> Path:
        """The repository of the task's agents."""
        return self.agents_of(NUMBER)

    def agents_of(self, number: int) -> Path:
        return self.home / "repos" / "acme__widget" / "agents" / f"{number}.git"

    @property
    def tree(self) -> Path:
        return self.workspaces.path(PROJECT, NUMBER)

    @property
    def admin(self) -> Path:
        return self.agents / "worktrees" / self.tree.name

    def publish(self, files: dict[str, str | None], *, branch: str = "main", message: str = "Change") -> Sha:
        """A person's commit, pushed; None removes a file."""
        if git(self.person, "rev-parse", "--verify", "-q", "HEAD", check=False):
            if git(self.person, "rev-parse", "--verify", "-q", branch, check=False):
                git(self.person, "checkout", "-q", branch)
            else:
                git(self.person, "checkout", "-q", "-b", branch)
        elif branch != "main":
            git(self.person, "checkout", "-q", "-b", branch)
        for name, text in files.items():
            path = self.person / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        git(self.person, "add", "-A", "-f")
        git(self.person, "commit", "-q", "--allow-empty", "-m", message)
        git(self.person, "push", "-q", "origin", branch)
        return Sha(git(self.person, "rev-parse", "HEAD"))

    def tip(self, branch: str) -> str:
        return git(self.bare, "rev-parse", "--verify", "-q", f"refs/heads/{branch}", check=False)

    async def fetch(self) -> None:
        await self.workspaces.fetch(PROJECT, self.remote)

    async def start(self, *, run: str = "run-1", number: int = NUMBER, base_ref: str = "main", **rest: Any) -> Checkout:
        """Fetch, and have the workspace."""
        await self.fetch()
        return await self.workspaces.ensure_workspace(spec(run=run, number=number, base_ref=base_ref, **rest))

    async def collect(self, *, agent: str = "claude", number: int = NUMBER, **settings: Any) -> Left:
        return await self.workspaces.collect(
            PROJECT, number, agent=agent, commit=CommitSettings(**settings), message="Work of the run"
        )

    def salvaged(self) -> dict[str, str]:
        """Salvage refs and their commits."""
        lines = git(self.engine, "for-each-ref", "--format=%(refname) %(objectname)", "refs/nightcrew/salvage")
        return dict(line.split(" ") for line in lines.splitlines())

    def show(self, revision: str) -> str:
        return git(self.engine, "show", revision)


def spec(
    *,
    run: str = "run-1",
    number: int = NUMBER,
    base_ref: str = "main",
    branch: str = "",
    start: Sha | None = None,
    project: str = PROJECT,
) -> WorkspaceSpec:
    """What to ask for; the branch follows the number."""
    name = branch or branch_name(number, "Make the widget spin")
    return WorkspaceSpec(project, number, name, base_ref, RunId(run), start)
