"""Nightcrew's own tmux server: where its socket is, how it is configured, and one way to give it a command.

What the sessions mean belongs to the runtime. The user's own tmux shares nothing with this server: neither socket nor
configuration nor environment.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nightcrew.core.errors import Unavailable
from nightcrew.process import clean_environment
from nightcrew.runtimes.process_table import Process, is_running, load_processes, signal_process

if TYPE_CHECKING:
    from libtmux import Server
    from libtmux.common import tmux_cmd

COMMAND_S = 10.0
"""How long one tmux command may take."""
AT_ONCE = 4
"""tmux commands that run at the same time."""
SOCKET_BYTES = 100
"""A Unix socket's path is limited to 104 bytes on BSD and macOS and 108 on Linux, the end mark included."""
REVIVE_S = 3.0

# Sessions hold agents, not people's shells: a dead pane stays readable, nothing that an agent prints may rename,
# copy to a clipboard or ring, and no variable of an attaching client enters a session.
_CONFIG = """\
set -gq remain-on-exit on
set -gq update-environment ""
set -gq default-shell /bin/sh
set -gq default-terminal screen-256color
set -gq history-limit 10000
set -gq set-clipboard off
set -gq allow-passthrough off
set -gq allow-rename off
set -gq automatic-rename off
set -gq set-titles off
set -gq bell-action none
set -gq activity-action none
set -gq destroy-unattached off
set -gq status-right ""
set -gq status-left-length 80
set -gq status-left "#{session_name} "
set -gq window-status-current-format ""
set -gq escape-time 20
"""

# What tmux says when nobody listens on the socket, or the server ended while it was asked.
_ABSENT = re.compile(
    r"no server running on|server exited|lost server|error connecting to .*(No such file|Connection refused)"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended: its lines, and its complaint if it failed."""

    failed: bool
    lines: tuple[str, ...]
    complaint: str

    @property
    def has_no_server(self) -> bool:
        return self.failed and bool(_ABSENT.search(self.complaint))

    @property
    def has_no_session(self) -> bool:
        """A server that has lost its last session, and is about to end, has nothing that a list could start from."""
        return self.failed and bool(re.search(r"no current target|no sessions", self.complaint))


class TmuxServer:
    """The server that belongs to one home of Nightcrew."""

    def __init__(self, home: Path, *, program: str = "tmux") -> None:
        self._folder = home.absolute() / "tmux"
        self.socket = _socket_path(self._folder)
        self.config = self._folder / "tmux.conf"
        self._record = self._folder / "server.json"
        self._program = program
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._client: Server | None = None
        self._recorded = 0
        self._was_searched = False

    @property
    def argv(self) -> tuple[str, ...]:
        """The beginning of a command line that talks to this server, for a terminal of the user."""
        return (self._find_program(), "-u", "-f", str(self.config), "-S", str(self.socket))

    async def command(self, *words: str, timeout_s: float = COMMAND_S) -> Answer:
        """Give tmux one command. Unavailable if there is no tmux or it does not answer in time; whether the command
        had an effect is not known then."""
        client = self._prepare()
        try:
            async with self._slots, asyncio.timeout(timeout_s):
                done = await asyncio.to_thread(_ask, client, words)
        except TimeoutError as error:
            await self._end_clients()
            raise Unavailable(f"tmux did not answer within {timeout_s:g} s to {words[0]}") from error
        except asyncio.CancelledError:
            await self._end_clients()
            raise
        complaint = "; ".join(done.stderr) or f"tmux {words[0]} ended with exit code {done.returncode}"
        return Answer(done.returncode != 0, tuple(done.stdout), complaint if done.returncode else "")

    def has_socket(self) -> bool:
        """Whether there is a socket, answering or not: without one no client reaches a server. Unavailable if there is
        no tmux, or where it cannot be seen."""
        self._ensure_ready()
        try:
            self.socket.lstat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Unavailable(f"cannot look at {self.socket}: {error.strerror}") from error
        return True

    def answers(self) -> bool:
        """Whether a server listens on the socket, without starting a process."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            try:
                probe.connect(os.fsencode(self.socket))
            except TimeoutError:
                return True  # busy, which is not absent
            except OSError:
                return False
            return True

    async def revive(self) -> bool:
        """Whether a server is there after all, although none answered.

        A server whose socket file was removed goes on unseen, and tmux would start a second one beside it, with every
        agent a second time. It makes its socket anew when it gets USR1. False if there is none; Unavailable if there
        is one that stays out of reach.
        """
        server = await self._find_lost()
        if server is None:
            return False
        if not self.answers():
            self._ensure_folder(self.socket.parent)
            signal_process(server, signal.SIGUSR1)
            await _wait_until(lambda: self.answers() or not is_running(server))
        if self.answers():
            return True
        if not is_running(server):
            return False
        raise Unavailable(
            f"the tmux server (pid {server.pid}) lives but cannot be reached at {self.socket}, so its sessions are "
            f"unseen and nothing is started; end it with `kill {server.pid}` if its agents may be lost"
        )

    async def record(self, pid: int) -> None:
        """Remember which process the server is; Unavailable if it is another than the one that still runs."""
        if pid == self._recorded:
            return
        before = self._load_record()
        processes = await load_processes()
        old = processes.get(before[0]) if before is not None else None
        if before is not None and old is not None and old.started == before[1] and old.pid != pid:
            await _wait_until(lambda: not is_running(old))  # it may be just ending
            if is_running(old):
                raise Unavailable(f"two tmux servers run for this home, pid {old.pid} and, at {self.socket}, pid {pid}")
        if pid in processes:
            text = json.dumps({"pid": pid, "started": processes[pid].started})
            _write_if_other(self._record, text, mode=0o600)
            self._recorded, self._was_searched = pid, False

    def _load_record(self) -> tuple[int, str] | None:
        try:
            data = json.loads(self._record.read_text())
            return int(data["pid"]), str(data["started"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    async def _find_lost(self) -> Process | None:
        """The server's process by the record; without one, by its command line, which is looked for once."""
        record = self._load_record()
        if record is not None:
            process = (await load_processes()).get(record[0])
            if process is not None and process.started == record[1]:
                return process
            self._record.unlink(missing_ok=True)
        if self._was_searched:
            return None
        self._was_searched = True
        for process in (await load_processes(with_marks=True)).values():
            is_daemon = process.group == process.pid and not process.has_terminal
            if is_daemon and f"-S{self.socket}" in process.arguments:
                return process
        return None

    async def _end_clients(self) -> None:
        # The thread waits for its tmux, which waits for a server that does not answer.
        own = os.getpid()
        for process in (await load_processes(with_marks=True)).values():
            if process.parent == own and f"-S{self.socket}" in process.arguments:
                signal_process(process, signal.SIGKILL)

    def _find_program(self) -> str:
        program = shutil.which(self._program)
        if program is None:
            raise Unavailable(f"{self._program} is not installed or not on the PATH; Nightcrew needs tmux 3.2 or later")
        return program

    def _prepare(self) -> "Server":
        if self._client is not None and self._launcher.exists() and self.config.exists():
            return self._client
        self._ensure_ready()
        from libtmux import Server  # takes a while to import, and not every command needs it

        self._client = Server(socket_path=self.socket, config_file=str(self.config), tmux_bin=self._launcher)
        return self._client

    def _ensure_ready(self) -> None:
        """What every client needs: the program, folders that are ours, and the configuration."""
        program = self._find_program()
        try:
            self._ensure_folder(self._folder)
            self._ensure_folder(self.socket.parent)
            _write_if_other(self.config, _CONFIG, mode=0o600)
            _write_if_other(self._launcher, _render_launcher(program), mode=0o700)
        except OSError as error:
            raise Unavailable(f"cannot prepare {self._folder} for tmux: {error.strerror}") from error

    @property
    def _launcher(self) -> Path:
        return self._folder / "tmux.sh"

    def _ensure_folder(self, folder: Path) -> None:
        """A folder that only this user can enter; one of somebody else in a shared place is refused."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise Unavailable(f"{folder} is not a folder of this user: remove it")
        if found.st_mode & 0o077:
            folder.chmod(0o700)


def _ask(client: "Server", words: Sequence[str]) -> "tmux_cmd":
    from libtmux.exc import LibTmuxException

    try:
        return client.cmd(words[0], *words[1:])
    except (LibTmuxException, OSError) as error:
        raise Unavailable(f"cannot run tmux: {error!r}") from error


async def _wait_until(condition: Callable[[], bool]) -> bool:
    """Whether it came true in time. Nothing tells of sockets and of other people's processes: they are looked at."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(REVIVE_S):
            while not condition():  # noqa: ASYNC110 - see above
                await asyncio.sleep(0.02)
            return True
    return condition()


def _socket_path(folder: Path) -> Path:
    """Beside the configuration; if that is too long for a socket, in a folder of /tmp named by a hash. Not of TMPDIR:
    a service and a terminal, with different ones, must find the same socket."""
    path = folder / "socket"
    if len(os.fsencode(path)) <= SOCKET_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path("/tmp") / f"nightcrew-{os.getuid()}-{name}" / "socket"  # noqa: S108 - its owner and mode are checked


def _render_launcher(program: str) -> str:
    """libtmux gives tmux the environment of this process, and a server keeps that of its first client for all its
    panes. So tmux is started by this script, with the allowed variables alone and UTF-8 whatever the locale is."""
    allowed = clean_environment(extra={"LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "TERM": "screen-256color"})
    words: Sequence[str] = ["env", "-i", *(f"{name}={value}" for name, value in sorted(allowed.items())), program, "-u"]
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'


def _write_if_other(path: Path, text: str, *, mode: int) -> None:
    if path.exists() and path.read_text() == text and stat.S_IMODE(path.stat().st_mode) == mode:
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(name).chmod(mode)
    Path(name).replace(path)
