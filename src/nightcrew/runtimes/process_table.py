"""The processes of this machine: who descends from whom, and ending some of them for good.

A pid alone never names a process here, since pids are used again: the start time goes with it. Read from /proc where
there is one, else from ps.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightcrew.process import run_process

_PROC = Path("/proc")
_EVERY_S = 0.05
_PS_S = 10.0


@dataclass(frozen=True, slots=True)
class Process:
    """A process; `started` is the system's own count or text, and only good for comparing. `arguments` and `variables`
    are its command line and environment, each as one text, where they were asked for and may be read. ps shows both
    in one, which is then in both."""

    pid: int
    parent: int
    group: int
    has_terminal: bool
    started: str
    arguments: str = ""
    variables: str = ""

    def is_marked(self, variables: Iterable[str]) -> bool:
        """Whether it was started with all these `NAME=value`."""
        own = set(self.variables.replace("\0", " ").split(" "))
        return all(variable in own for variable in variables)


async def load_processes(*, with_marks: bool = False) -> dict[int, Process]:
    """All living processes by pid. Reading the marks costs one more file each."""
    if _PROC.joinpath("self/stat").exists():
        return await asyncio.to_thread(_load_from_proc, with_marks)
    return await load_from_ps()


def _load_from_proc(with_marks: bool) -> dict[int, Process]:
    found = {}
    for entry in os.listdir(_PROC):  # noqa: PTH208 - called often, on hundreds of entries
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                process = _load_one(int(entry), with_marks)
                if process is not None:
                    found[process.pid] = process
    return found


def _load_one(pid: int, with_marks: bool) -> Process | None:
    # Counted behind the command's name, which may hold anything: state, ppid, pgrp, session, tty_nr, ..., starttime.
    fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):
        return None
    texts = ["", ""]
    for at, name in enumerate(("cmdline", "environ") if with_marks else ()):
        with contextlib.suppress(OSError):
            texts[at] = (_PROC / str(pid) / name).read_bytes().decode("utf-8", "replace")
    return Process(pid, int(fields[1]), int(fields[2]), fields[4] != b"0", fields[19].decode(), *texts)


async def load_from_ps() -> dict[int, Process]:
    """The same from ps, as BSD and macOS have it. Variables are seen where its `-E` shows them."""
    columns = "pid=,ppid=,pgid=,tty=,lstart=,command="
    listed = await run_process(["ps", "-A", "-E", "-ww", "-o", columns], timeout_s=_PS_S)
    if not listed.ok:
        listed = await run_process(["ps", "-A", "-ww", "-o", columns], timeout_s=_PS_S)
    return parse_ps(listed.text)


def parse_ps(text: str) -> dict[int, Process]:
    """Lines of pid, parent, group, terminal, start (five words) and command."""
    found = {}
    for line in text.splitlines():
        words = line.split(None, 9)
        with contextlib.suppress(ValueError, IndexError):
            pid, parent, group = int(words[0]), int(words[1]), int(words[2])
            marks = words[9] if len(words) > 9 else ""
            found[pid] = Process(pid, parent, group, words[3].strip("?-") != "", " ".join(words[4:9]), marks, marks)
    return found


def find_descendants(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
    """The pids below the roots, without the roots."""
    below: dict[int, list[int]] = {}
    for process in processes.values():
        below.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    queue = list(roots)
    while queue:
        children = [pid for pid in below.get(queue.pop(), []) if pid not in found]
        found.update(children)
        queue += children
    return found


def is_running(process: Process) -> bool:
    """Whether this very process still runs, as far as one look can tell."""
    if _PROC.joinpath("self/stat").exists():
        with contextlib.suppress(OSError, IndexError, ValueError):
            now = _load_one(process.pid, False)
            return now is not None and now.started == process.started
        return False
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def signal_process(process: Process, number: signal.Signals) -> None:
    """Signal exactly this process; nothing if it is gone, even when its pid is in use again."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if not hasattr(os, "pidfd_open"):
            os.kill(process.pid, number)
            return
        descriptor = os.pidfd_open(process.pid)
        try:
            if is_running(process):  # looked at after opening, so the descriptor cannot be another's
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


async def end_processes(find: Callable[[], Awaitable[list[Process]]], *, grace_s: float, kill_s: float = 5.0) -> bool:
    """TERM to whatever `find` names, KILL after `grace_s`; whether nothing is left in the end. It is asked again and
    again, so that what was started meanwhile is found too."""
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, kill_s)):
        told: set[tuple[int, str]] = set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                while found := await find():
                    for process in found:
                        if (process.pid, process.started) not in told:
                            told.add((process.pid, process.started))
                            signal_process(process, number)
                    await asyncio.sleep(_EVERY_S)
                return True
    return not await find()
