"""One way to run a program: argv, own process group, clean environment, bounded output, always reaped."""

import asyncio
import contextlib
import errno
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Bug, Invalid, PortError, Unavailable
from nightcrew.process.environment import clean_environment

GRACE_S = 3.0
"""How long a program has between TERM and KILL."""
DRAIN_S = 1.0
"""How long output is awaited after the program's end, when something that left its group still holds the pipes."""

_CANNOT_START = {
    errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENOEXEC, errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR
}  # fmt: skip


class NotFound(PortError):
    """The program is not there, or may not be executed."""


class TimedOut(PortError):
    """The program was stopped after its time limit; `output` is what it had printed by then."""

    def __init__(self, message: str, *, output: bytes = b"") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class Completed:
    """How a program ended. A death by signal n is `returncode == -n`, as the operating system reports it."""

    argv: tuple[str, ...]
    returncode: int
    stdout: bytes
    stderr: bytes
    truncated: bool

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def text(self) -> str:
        """Standard output as text; bytes that are not UTF-8 are replaced."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """What it printed on standard error (or output, if that is empty), without outer white space."""
        return (self.stderr or self.stdout).decode("utf-8", "replace").strip()


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    timeout_s: float,
    output_cap: int = 4_000_000,
) -> Completed:
    """Run `argv` to its end and return what it printed, each stream cut after `output_cap` bytes.

    `env` is the whole environment of the child; without it, the allow-listed one of this process.
    Raises NotFound if the program cannot be started, Unavailable if no program can be at the moment, Invalid if the
    command line is too long or holds a NUL, and TimedOut after `timeout_s` seconds. Whatever happens, cancellation
    included, the program and its process group are gone afterwards; only what made itself a new session lives on.
    """
    watch = _Watch(output_cap)
    transport = await _start(watch, argv, cwd=cwd, env=env, has_stdin=stdin is not None)
    try:
        if stdin is not None and isinstance(pipe := transport.get_pipe_transport(0), asyncio.WriteTransport):
            pipe.write(stdin)  # a program may end without reading it, which is its own affair
            pipe.write_eof()
        async with asyncio.timeout(timeout_s):
            await watch.exited.wait()
    except TimeoutError as error:
        await _end(transport, watch)
        raise TimedOut(f"{argv[0]} did not end within {timeout_s:g} s", output=watch.stdout + watch.stderr) from error
    finally:
        await _end(transport, watch)
    returncode = transport.get_returncode()
    if returncode is None:
        raise TimedOut(f"{argv[0]} could not be reaped", output=watch.stdout)
    return Completed(tuple(argv), returncode, watch.stdout, watch.stderr, watch.is_cut)


class _Watch(asyncio.SubprocessProtocol):
    """Follows one program. Keeps the first `cap` bytes of each stream and lets the rest go, so that it never blocks.

    The protocol rather than asyncio's Process, because that one's `wait` also waits for the pipes, which a child in
    the background may hold open for ever.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._kept = {1: bytearray(), 2: bytearray()}
        self.is_cut = False
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    @property
    def stdout(self) -> bytes:
        return bytes(self._kept[1])

    @property
    def stderr(self) -> bytes:
        return bytes(self._kept[2])

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        room = self._cap - len(self._kept[fd])
        self._kept[fd] += data[:room]
        self.is_cut = self.is_cut or len(data) > room

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.closed.set()


async def _start(
    watch: _Watch, argv: Sequence[str], *, cwd: Path | None, env: Mapping[str, str] | None, has_stdin: bool
) -> asyncio.SubprocessTransport:
    if not argv:
        raise Bug("an empty command line")
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: watch,
            *argv,
            cwd=cwd,
            env=dict(env) if env is not None else clean_environment(),
            stdin=asyncio.subprocess.PIPE if has_stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except ValueError as error:
        raise Invalid(f"cannot start {argv[0]!r}: {error}") from error
    except OSError as error:
        where = f" in {cwd}" if cwd is not None and not cwd.is_dir() else ""
        message = f"cannot start {argv[0]!r}{where}: {error.strerror}"
        if error.errno in _CANNOT_START:
            raise NotFound(message) from error
        if error.errno == errno.E2BIG:
            raise Invalid(message) from error
        raise Unavailable(message) from error
    return transport


async def _end(transport: asyncio.SubprocessTransport, watch: _Watch) -> None:
    """TERM, wait, KILL the whole group, reap the leader, read the rest of its output; also what a finished leader left
    behind. Cancelled on the way, it still kills."""
    if transport.is_closing():
        return
    group = transport.get_pid()
    try:
        if not watch.exited.is_set():
            _signal_group(group, signal.SIGTERM)
            await _wait_for(watch.exited, GRACE_S)
        _signal_group(group, signal.SIGKILL)
        await _wait_for(watch.exited, GRACE_S)
        await _wait_for(watch.closed, DRAIN_S)
    finally:
        if not watch.closed.is_set():
            _signal_group(group, signal.SIGKILL)
        transport.close()


async def _wait_for(event: asyncio.Event, patience_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            await event.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
