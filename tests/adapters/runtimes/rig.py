"""A real tmux server for one test, on a short path of its own, and the proof that nothing of it is left."""

import os
import shutil
import signal
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from nightcrew.ports.runtime import SessionSpec
from nightcrew.runtimes.process_table import Process, load_processes, signal_process
from nightcrew.runtimes.tmux import TmuxRuntime
from tests.waiting import eventually

WAIT = "while not os.path.exists(go): time.sleep(0.01)"
PRELUDE = """
import os, sys, time
folder = os.environ["FOLDER"]
go = folder + "/go"
with open(folder + "/starts", "a") as file: file.write("started\\n")
"""


class TmuxRig:
    """A runtime on its own home. Agents are Python scripts that note their start; `go` lets a waiting one end."""

    def __init__(self, home: Path, program: str = "tmux") -> None:
        self.home = home
        self.token = uuid.uuid4().hex
        self.program = program
        self.runtime = self.make_runtime()

    def make_runtime(self) -> TmuxRuntime:
        """Another runtime on the same home, as after a restart of the service."""
        return TmuxRuntime(self.home, installation=self.token, program=self.program)

    def spec(self, name: str = "nc-demo-1-author-1", script: str = WAIT, **changes: object) -> SessionSpec:
        """A session that runs a Python script, by default one that waits for `let_go`."""
        folder = self.home / "runs" / name
        folder.mkdir(parents=True, exist_ok=True)
        spec = SessionSpec(
            name=name,
            argv=(sys.executable, "-I", "-S", "-c", PRELUDE + script),
            cwd=self.home,
            env={"PATH": os.environ["PATH"], "FOLDER": str(folder)},
            folder=folder,
            deadline_s=60.0,
        )
        return replace(spec, **changes)  # type: ignore[arg-type]  # the test names the fields

    def starts(self, spec: SessionSpec) -> int:
        """How often the agent was started."""
        path = spec.folder / "starts"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def let_go(self, spec: SessionSpec) -> None:
        (spec.folder / "go").touch()

    async def until_started(self, spec: SessionSpec) -> None:
        await eventually(lambda: self.starts(spec), what="the agent's start")

    async def until_result(self, spec: SessionSpec) -> None:
        await eventually(lambda: self.runtime.look(spec.folder).has_result, what="the result")

    async def tmux(self, *words: str) -> list[str]:
        """What tmux answers to a command, given from outside of the runtime."""
        return list((await self.runtime.server.command(*words)).lines)

    async def screen(self, spec: SessionSpec) -> str:
        """What the pane shows, and what has scrolled away."""
        return "\n".join(await self.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", f"={spec.name}:"))

    async def processes(self) -> list[Process]:
        """Everything alive that belongs to this rig."""
        every = (await load_processes(with_marks=True)).values()
        signs = (self.token, str(self.home))
        return [p for p in every if p.pid != os.getpid() and any(s in p.arguments + p.variables for s in signs)]

    async def shim_pid(self, spec: SessionSpec) -> int:
        (line,) = await self.tmux("list-panes", "-t", f"={spec.name}:", "-F", "#{pane_pid}")
        return int(line)


async def comes_true(condition: Callable[[], Awaitable[bool]], *, what: str = "", within_s: float = 20.0) -> None:
    """`eventually` for a condition that is awaited."""
    asked: Callable[[], bool | Awaitable[bool]] = condition
    await eventually(asked, what=what, within_s=within_s)


@asynccontextmanager
async def tmux_rig(program: str = "tmux") -> AsyncIterator[TmuxRig]:
    """The rig, and afterwards no process and no file of it."""
    home = Path(tempfile.mkdtemp(prefix="nc-", dir="/tmp"))  # pytest's own folders are too long for a socket
    rig = TmuxRig(home, program)
    try:
        yield rig
    finally:
        await end_all(rig)
        shutil.rmtree(home)


async def end_all(rig: TmuxRig) -> None:
    async def none_left() -> bool:
        left = await rig.processes()
        for process in left:
            signal_process(process, signal.SIGKILL)
        return not left

    await comes_true(none_left, what="nothing of the test is left")
