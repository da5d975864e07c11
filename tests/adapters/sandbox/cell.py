"""A house with a worktree, and a sandbox around commands in it, as the engine would put one around an agent."""

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from nightcrew.ports.workspace import Checkout
from nightcrew.process import Completed, run_process
from nightcrew.sandbox import (
    Bind,
    Kind,
    Network,
    SandboxSpec,
    Unusable,
    Usable,
    build_argv,
    checkout_view,
    ensure_worktree_view,
    find_sandbox,
)
from tests.adapters.workspaces.house import PROJECT, House


@dataclass(slots=True)
class Cell:
    """`spec` is an author's sandbox in the worktree of the house; `person` stands for the person's home."""

    house: House
    sandbox: Usable
    spec: SandboxSpec
    env: dict[str, str]

    @property
    def home(self) -> Path:
        return self.spec.home

    @property
    def tree(self) -> Path:
        return self.spec.workspace

    def argv(self, script: str, *words: str) -> tuple[str, ...]:
        """A bash script with `words` as its arguments, confined."""
        return build_argv(self.spec, ("bash", "-c", script, "agent", *words), self.sandbox)

    async def run(self, script: str, *words: object) -> Completed:
        argv = self.argv(script, *(str(word) for word in words))
        return await run_process(argv, cwd=self.tree, env=self.env, timeout_s=30)

    async def says(self, script: str, *words: object) -> str:
        """What a script prints that has to succeed."""
        done = await self.run(script, *words)
        assert done.ok, done.complaint
        return done.text.strip()

    async def fails(self, script: str, *words: object) -> str:
        """What a script prints on its errors that must not succeed; the sandbox itself has to have worked."""
        done = await self.run(f"echo inside; {script}", *words)
        assert "inside" in done.text, done.complaint
        assert not done.ok, done.text
        return done.stderr.decode()

    def with_network(self, network: Network) -> "Cell":
        return replace(self, spec=replace(self.spec, network=network))


async def get_sandbox() -> Usable:
    """The one of this machine; skips where there is none."""
    found = await find_sandbox(Kind.BWRAP)
    if isinstance(found, Unusable):
        pytest.skip(f"{found.reason} ({found.hint})")
    return found


async def make_cell(root: Path) -> Cell:
    sandbox = await get_sandbox()
    house = House(root / "person home" / "nightcrew")
    house.publish({"README.md": "Widget\n", "src/app.py": "spin = 0\n"})
    checkout = await house.start()
    return Cell(house, sandbox, author_spec(house, checkout), environment(root / "person home"))


def author_spec(house: House, checkout: Checkout) -> SandboxSpec:
    view = ensure_worktree_view(common=house.agents, own=house.admin, borrowed=house.engine / "objects")
    folder = house.home / "runs" / "acme" / "7 author" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    return SandboxSpec(
        workspace=checkout.path,
        folder=folder,
        home=house.root.parent,
        binds=view.binds,
        private=view.private,
    )


async def reviewer_cell(cell: Cell) -> Cell:
    """The same for a throw-away checkout of the base."""
    sha = await cell.house.workspaces.find_branch(PROJECT, "main")
    assert sha is not None
    path = await cell.house.workspaces.ensure_review_checkout(PROJECT, "run-2", sha)  # type: ignore[arg-type]  # a NewType of str
    view = checkout_view(checkout=path, borrowed=cell.house.engine / "objects")
    return replace(cell, spec=replace(cell.spec, workspace=path, binds=view.binds, private=view.private))


def environment(home: Path) -> dict[str, str]:
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "claude"), ("EMAIL", "claude@nightcrew.invalid"))}  # fmt: skip
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C", **who}


def is_alive(marker: str) -> bool:
    """Whether a process has `marker` among its arguments, seen from outside."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return any(marker in line and "ps -eo" not in line for line in listed.splitlines())


def add_bind(cell: Cell, *binds: Bind, private: tuple[Path, ...] = ()) -> Cell:
    spec = cell.spec
    return replace(cell, spec=replace(spec, binds=(*spec.binds, *binds), private=(*spec.private, *private)))
