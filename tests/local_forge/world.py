"""A forge with people, a repository, clones of it, and judged clients: what the tests of the forge start from."""

import asyncio
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.limit import LimitPolicy
from nightcrew.forges.local.serving import serve
from tests.openapi import JudgedTransport
from tests.waiting import eventually_sync

REPO = "/repos/octo/demo"
TOKENS = {"octo": "token-octo", "bob": "token-bob", "eve": "token-eve"}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 30, 9, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class Clone:
    """A working copy, moved by plain git only."""

    def __init__(self, folder: Path, origin: Path) -> None:
        self.folder = folder
        run("git", "clone", "--quiet", str(origin), str(folder))

    def git(self, *argv: str) -> str:
        return run("git", "-C", str(self.folder), *argv)

    def commit(self, message: str, files: dict[str, str], *, branch: str, start: str = "origin/main") -> str:
        """Commit files on a branch (made from `start` when new) and push it; the new head."""
        self.git("fetch", "--quiet", "origin")
        if branch in self.git("branch", "--format=%(refname:short)").split():
            self.git("checkout", "--quiet", branch)
        else:
            self.git("checkout", "--quiet", "-b", branch, "--no-track", start)
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        self.push(branch)
        return self.git("rev-parse", "HEAD")

    def push(self, branch: str, *, force: bool = False) -> None:
        self.git("push", "--quiet", *(["--force"] if force else []), "origin", branch)


def run(*argv: str) -> str:
    """Plain git, as a person would run it, without their configuration."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Pat Example", f"GIT_{role}_EMAIL": "pat@example.com"}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stderr}"
    return done.stdout.strip()


class World:
    """The forge, and one judged client for each person."""

    def __init__(self, forge: LocalForge, clock: Clock, bare: Path, folder: Path) -> None:
        self.forge, self.clock, self.bare, self._folder = forge, clock, bare, folder
        self.transport = JudgedTransport(httpx.ASGITransport(create_app(forge, faults=True)))
        self.octo, self.bob, self.eve = (self.client(token) for token in TOKENS.values())
        self._clones = 0

    def client(self, token: str | None) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(transport=self.transport, base_url="http://forge.test", headers=headers)

    def clone(self) -> Clone:
        self._clones += 1
        return Clone(self._folder / f"clone-{self._clones}", self.bare)

    def bare_git(self, *argv: str) -> str:
        return run("git", f"--git-dir={self.bare}", *argv)

    async def issue(self, title: str = "A bug", **fields: Any) -> dict[str, Any]:
        answer = await self.octo.post(f"{REPO}/issues", json={"title": title, **fields})
        assert answer.status_code == 201, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def pull(self, head: str, *, base: str = "main", **fields: Any) -> dict[str, Any]:
        body = {"title": f"From {head}", "head": head, "base": base, **fields}
        answer = await self.octo.post(f"{REPO}/pulls", json=body)
        assert answer.status_code == 201, answer.text
        pull: dict[str, Any] = answer.json()
        return pull


@asynccontextmanager
async def forge_world(folder: Path, *, policy: LimitPolicy | None = None) -> AsyncIterator[World]:
    """octo owns `octo/demo`, bob may write to it, eve is an outsider."""
    clock = Clock()
    forge = LocalForge(folder / "forge", clock=clock, limit_policy=policy)
    for login, token in TOKENS.items():
        forge.ensure_user(login, token=token)
    bare = await forge.create_repository("octo/demo", files={"README.md": "# Demo\n", "app.py": "x = 1\n"})
    forge.set_permission("octo/demo", "bob", "write")
    world = World(forge, clock, bare, folder)
    try:
        yield world
    finally:
        for client in (world.octo, world.bob, world.eve):
            await client.aclose()
        forge.close()


@contextmanager
def served(forge: LocalForge) -> Iterator[str]:
    """Serve on loopback in a thread of its own; gives the base URL."""
    urls: list[str] = []
    stop: list[Callable[[], object]] = []
    failed: list[BaseException] = []

    async def main() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel))
        await serve(forge, port=0, faults=True, on_ready=urls.append)

    def body() -> None:
        try:
            asyncio.run(main())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    try:
        eventually_sync(lambda: urls or failed, what="the forge to be served")
        assert urls, failed
        yield urls[0]
    finally:
        stop[0]()
        thread.join(20)
        assert not thread.is_alive()
        assert not failed, failed


def names(labels: Sequence[dict[str, Any]]) -> list[str]:
    return [label["name"] for label in labels]
