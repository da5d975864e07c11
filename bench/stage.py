"""What benchmarks are set on: throw-away homes, forges in this process or in one of their own, services, and their end.

Nothing here measures.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightcrew.config.home import Home
from nightcrew.config.load import Configuration, parse_configuration
from nightcrew.core.errors import PortError
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve as serve_forge
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.service.adapter import adapter_names
from nightcrew.service.clock import SystemClock
from nightcrew.service.compose import home_of
from nightcrew.service.local import OWNER, owner_token
from nightcrew.service.throwaway import remove_home

PATIENCE_S = 120.0
FOREVER = ("sleep", "100000")
"""An agent that does nothing for as long as a benchmark lasts."""


@contextmanager
def throw_away_home() -> Iterator[Home]:
    """A home that is gone afterwards, with its tmux server and every session in it."""
    with throw_away_folder() as folder:
        home = home_of(folder / "home")
        try:
            yield home
        finally:
            asyncio.run(_end_sessions(home))
            remove_home(home)


@contextmanager
def throw_away_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="nightcrew-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _end_sessions(home: Home) -> None:
    """Agents first: a shim whose agent has ended is done at once, one whose terminal is gone takes its time."""
    runtime = TmuxRuntime(home.root)
    if not runtime.server.answers():
        return
    running = [facts for facts in home.runs.rglob("shim.json") if not facts.with_name("result.json").exists()]
    for facts in running:
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.kill(json.loads(facts.read_bytes())["agent"]["pid"], signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await until(lambda: all(facts.with_name("result.json").exists() for facts in running), within_s=10)
    with contextlib.suppress(PortError):
        await runtime.server.command("kill-server")


async def until(condition: Callable[[], object], *, within_s: float = PATIENCE_S, every_s: float = 0.02) -> None:
    """Wait for it; TimeoutError if it does not come."""
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(every_s)


def wait_until(condition: Callable[[], object], *, within_s: float = PATIENCE_S, every_s: float = 0.02) -> None:
    """The same where no event loop runs."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what was waited for did not come")
        time.sleep(every_s)


def configuration(
    home: Home,
    slugs: Sequence[str],
    *,
    forge: Mapping[str, Any],
    agents: Mapping[str, Any] | None = None,
    interval_s: float = 3600,
    max_runs: int = 4,
    merge: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
) -> Configuration:
    """The configuration of a home, also written into it. Without `agents`, two that sleep. `top`: further sections."""
    content = {
        "interval": interval_s,
        "forges": {"bench": dict(forge)},
        "projects": [{"slug": slug, "forge": "bench", "max_runs": max_runs} for slug in slugs],
        "agents": dict(agents) if agents is not None else sleepers(max_runs),
        "router": {"mode": "round_robin"},
        "limits": {"max_runs": max_runs},
        "defaults": {"merge": dict(merge or {})},
        **(top or {}),
    }
    text = json.dumps(content)
    home.config.write_text(text, encoding="utf-8")
    home.config.chmod(0o600)
    return parse_configuration(text, str(home.config), environ={}, adapters=adapter_names())


def sleepers(max_runs: int) -> dict[str, Any]:
    return {name: {"adapter": "custom", "command": list(FOREVER), "max_runs": max_runs} for name in ("owl", "fox")}


def loopback(url: str, home: Home) -> dict[str, Any]:
    """The settings of a local forge that is reached over HTTP, as GitHub is, without pacing."""
    return {"kind": "github", "base_url": url, "token": f"file:{home.forge / 'token'}", "write_interval": 0}


# Forges


@asynccontextmanager
async def forge_here(home: Home) -> AsyncIterator[tuple[LocalForge, str]]:
    """A local forge in this process, and its address on loopback."""
    forge = LocalForge(home.forge, clock=SystemClock().now)
    forge.ensure_user(OWNER, token=owner_token(home.forge))
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve_forge(forge, on_ready=address.set_result))
            try:
                yield forge, await address
            finally:
                serving.cancel()
    finally:
        forge.close()


@contextmanager
def forge_elsewhere(home: Home) -> Iterator[str]:
    """The forge of a home in a process of its own; its address on loopback."""
    with child("forge", "serve", home=home) as process:
        if process.stdout is None:
            raise AssertionError("the forge has no output")
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError("the forge did not start")
        yield url


# Our own command line as a child


@dataclass(frozen=True, slots=True)
class Program:
    """How `nightcrew` is started here: the installed script."""

    path: str

    def argv(self, *words: str) -> list[str]:
        return [self.path, *words]


def program() -> Program:
    """The `nightcrew` beside this interpreter."""
    path = Path(sys.executable).with_name("nightcrew")
    if not path.exists():
        raise RuntimeError("nightcrew is not installed beside this Python; run `make bench`")
    return Program(str(path))


def environment(home: Home, **extra: str) -> dict[str, str]:
    keep = ("PATH", "HOME", "LANG", "TMPDIR", "USER")
    return {
        **{name: os.environ[name] for name in keep if name in os.environ},
        "NIGHTCREW_HOME": str(home.root),
        **extra,
    }


@contextmanager
def child(*words: str, home: Home, **extra: str) -> Iterator["subprocess.Popen[str]"]:
    """`nightcrew …` until the block ends, then asked to stop. Its complaints go to `<home>/logs/child.err`."""
    with (home.logs / "child.err").open("ab") as errors:
        process = subprocess.Popen(
            program().argv(*words),
            env=environment(home, **extra),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
