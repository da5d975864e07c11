"""The program inside a session: starts one agent, keeps its output, its deadline and its result, and cleans up.

It runs by file path under `python -I -S` and uses the standard library alone (so do its siblings `output` and
`rendering`), because every import costs time before the agent starts and nothing installed may break it. It knows no
agent: what to run and what to show is data in its spec file, a JSON object with name, installation, argv, cwd, env,
stdin, deadline_s, show and output_cap, which is removed once read, since it holds the agent's environment. Talking to
tmux belongs elsewhere.

In the run folder, the one of the spec file, it leaves `shim.json` (who runs), `stdout.log`, `stderr.log` and, last of
all and in one step, `result.json`. It holds `shim.lock` while it lives, so a folder never has two agents.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import sys
import time

if not __package__:  # started by path
    sys.path.append(os.path.abspath(f"{__file__}/../../.."))  # noqa: PTH100 - pathlib costs start-up time

from nightcrew.runtimes.output import Lines, Log, Screen
from nightcrew.runtimes.rendering import render_line, render_safe

TYPE_CHECKING = False  # the typing module costs start-up time
if TYPE_CHECKING:
    from typing import Any

__all__ = ["main", "render_line", "render_safe"]

GRACE_S = 5.0
"""Between TERM and KILL when the agent has to stop."""
LEFTOVER_GRACE_S = 1.0
"""The same for what an agent that ended by itself left running."""
DRAIN_S = 1.0
"""How long output is still awaited once nothing of the agent is left."""
OUTPUT_CAP = 200_000_000
"""Bytes of a stream that are kept from its beginning."""
RESERVED = 4096
"""Bytes of disk set aside for the result before the agent can fill the disk."""
NOT_STARTED = 127
STOPS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

_CHUNK = 65_536
_LOOK_EVERY_S = 0.05
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


class NotStartedError(Exception):
    """The agent could not be started; the text says why."""


def _control(option: int, value: int) -> bool:
    """Linux's prctl; False where there is none."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def started_ticks(pid: int) -> str:
    """When the process started, in the system's own count, so that a pid used again is told apart; empty if unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def descendants() -> list[int]:
    """Everything below this process that still runs. It adopts orphans, so detached grandchildren are among them."""
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib costs start-up time
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123 - as above
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    parents.setdefault(int(parent), []).append(int(entry))
    found, queue = [], [os.getpid()]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += below
    return found


class Agent:
    """The agent's process and whatever comes from it."""

    def __init__(self, spec: dict[str, Any], outputs: tuple[int, int]) -> None:
        self._adopts = _control(_PR_SET_CHILD_SUBREAPER, 1)
        self.status: int | None = None
        try:
            stdin = os.open(spec.get("stdin") or os.devnull, os.O_RDONLY)
        except OSError as error:
            raise NotStartedError(f"cannot read the agent's input: {error}") from error
        complaint, complain = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _become_agent(spec, (stdin, *outputs), parent)
            except OSError as error:
                os.write(complain, (error.strerror or str(error)).encode())
            except (ValueError, TypeError) as error:
                os.write(complain, str(error).encode("utf-8", "replace"))
            finally:
                os._exit(NOT_STARTED)
        os.close(complain)
        os.close(stdin)
        why = os.read(complaint, 1000).decode("utf-8", "replace")
        os.close(complaint)
        if why:
            os.waitpid(self.pid, 0)
            raise NotStartedError(f"cannot start {spec['argv'][0]!r} in {spec['cwd']}: {why}")

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.pid:
                    self.status = os.waitstatus_to_exitcode(ended[1])

    def send(self, number: signal.Signals) -> None:
        """Signal everything that the agent started, each once; its group alone where orphans are not adopted."""
        for pid in descendants() if self._adopts else [-self.pid]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def has_left(self) -> bool:
        """Whether anything of it still runs."""
        if self._adopts:
            return bool(descendants())
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def _become_agent(spec: dict[str, Any], streams: tuple[int, int, int], parent: int) -> None:
    os.setsid()  # no terminal: nothing typed into the pane can reach the agent
    _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(NOT_STARTED)
    for target, source in enumerate(streams):
        os.dup2(source, target)
    signal.set_wakeup_fd(-1)
    for number in (*STOPS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    marks = {"NIGHTCREW_SESSION": spec["name"], "NIGHTCREW_INSTALLATION": spec["installation"]}
    os.chdir(spec["cwd"])
    os.execvpe(spec["argv"][0], spec["argv"], {**spec["env"], **marks})  # noqa: S606 - argv list, on purpose no shell


# --- One run --------------------------------------------------------------------------------------------------------


class _ShowRule:
    """A rule as it comes in the spec file."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.match: dict[str, str | bool] = dict(data["match"])
        self.show = str(data["show"])
        self.prefix = str(data["prefix"])


class Result:
    """The file that says how the run ended. Its space is taken at the start, so that a full disk cannot lose it."""

    def __init__(self, folder: str) -> None:
        self._folder, self._part = folder, f"{folder}/result.part"
        self._fd = self._open()
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._fd, 0, RESERVED)
        else:
            os.write(self._fd, bytes(RESERVED))

    def _open(self) -> int:
        return os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def publish(self, facts: dict[str, object]) -> None:
        facts["error"] = str(facts["error"])[:600]  # at most 6 bytes a character in JSON: stays within what is reserved
        content = json.dumps(facts).encode()
        if not os.path.exists(self._part):  # noqa: PTH110 - the agent may write here, and has removed it
            self._fd = self._open()
        os.pwrite(self._fd, content, 0)
        os.ftruncate(self._fd, len(content))
        os.fsync(self._fd)
        os.replace(self._part, f"{self._folder}/result.json")  # noqa: PTH105 - pathlib costs start-up time
        folder = os.open(self._folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


class Run:
    """From the start of the agent to the moment when nothing of it is left."""

    def __init__(self, folder: str, spec: dict[str, Any], screen: Screen) -> None:
        cap = int(spec.get("output_cap") or OUTPUT_CAP)
        rules = [_ShowRule(rule) for rule in spec["show"]]
        self._wakes = _catch_signals()
        self._logs = Log(f"{folder}/stdout.log", cap), Log(f"{folder}/stderr.log", cap)
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        self._screen = screen
        self._open = {out: (self._logs[0], Lines(screen, rules)), err: (self._logs[1], Lines(screen, ()))}
        try:
            self.agent = Agent(spec, (to_out, to_err))
        finally:
            os.close(to_out)
            os.close(to_err)
        self._deadline = _now() + float(spec["deadline_s"])
        self._kill_at: float | None = None
        self.timed_out, self.stopped_by = False, ""

    @property
    def error(self) -> str:
        kept = next((log.error for log in self._logs if log.error), "")
        return "; ".join(part for part in (self.stopped_by and f"stopped by {self.stopped_by}", kept) if part)

    @property
    def is_cut(self) -> bool:
        return any(log.is_cut for log in self._logs)

    def watch(self) -> int:
        """Until the end; the exit code, 128+n after death by signal n."""
        while self.agent.status is None:
            self._look()
            if self._kill_at is None and _now() >= self._deadline:
                self.timed_out = True
                self._stop(GRACE_S)
        if self.agent.has_left():
            self._stop(LEFTOVER_GRACE_S)
            until = _now() + GRACE_S  # what another user owns cannot be ended, and must not hold the result
            while self.agent.has_left() and _now() < until:
                self._look()
        until = _now() + DRAIN_S
        while self._open and _now() < until:
            self._look()
        for _, lines in self._open.values():
            lines.end()
        for log in self._logs:
            log.close()
        return self.agent.status if self.agent.status >= 0 else 128 - self.agent.status

    def _stop(self, grace_s: float) -> None:
        self.agent.send(signal.SIGTERM)
        self._kill_at = _now() + grace_s

    def _look(self) -> None:
        """Wait for output, a signal or a deadline, and deal with it."""
        soon = _LOOK_EVERY_S if self.agent.status is not None else max(0.0, (self._kill_at or self._deadline) - _now())
        ready, _, _ = select.select([self._wakes, *self._open], self._screen.waiting, [], min(soon, 3600.0))
        self._screen.flush()
        for descriptor in ready:
            if descriptor == self._wakes:
                self._obey(os.read(self._wakes, 512))
            elif chunk := os.read(descriptor, _CHUNK):
                log, lines = self._open[descriptor]
                log.write(chunk)
                lines.feed(chunk)
            else:
                self._open.pop(descriptor)[1].end()
        if self._kill_at is not None and _now() >= self._kill_at:
            self.agent.send(signal.SIGKILL)
            self._kill_at = _now() + _LOOK_EVERY_S

    def _obey(self, numbers: bytes) -> None:
        self.agent.reap()
        stop = next((signal.Signals(number).name for number in numbers if number in STOPS), "")
        if stop and self._kill_at is None:
            self.stopped_by = stop
            self._stop(GRACE_S)


def _catch_signals() -> int:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (*STOPS, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)  # the number arrives through the pipe
    return reading


def _now() -> float:
    return time.monotonic()  # noqa: TID251 - the shim stands alone


def _moment() -> str:
    seconds = time.time()  # noqa: TID251 - the shim stands alone
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e6):06d}+00:00"


def _take_spec(path: str, folder: str) -> dict[str, Any] | None:
    """The spec, if this folder is free for a run; every spec file in it is removed."""
    lock = os.open(f"{folder}/shim.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    if os.path.exists(f"{folder}/result.json"):  # noqa: PTH110 - pathlib costs start-up time
        return None
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
        spec: dict[str, Any] = json.load(file)
    for name in os.listdir(folder):  # noqa: PTH208 - pathlib costs start-up time
        if name.startswith("spec-"):
            os.unlink(f"{folder}/{name}")  # noqa: PTH108 - pathlib costs start-up time
    return spec


def _write_facts(folder: str, spec: dict[str, Any], agent: int) -> None:
    facts = {"session": spec["name"], "installation": spec["installation"]}
    pids = {"shim": os.getpid(), "agent": agent}
    facts |= {role: {"pid": pid, "started": started_ticks(pid)} for role, pid in pids.items()}
    with contextlib.suppress(OSError):  # for people; a full disk is told by the result
        descriptor = os.open(f"{folder}/shim.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, json.dumps(facts).encode())
        os.close(descriptor)


def main(path: str) -> int:
    """Run what the spec file says. The exit code is the agent's."""
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - pathlib costs start-up time
    screen = Screen()
    spec = _take_spec(path, folder)
    if spec is None:
        screen.show("[nightcrew] this run has its agent already: nothing is started")
        screen.close()
        return 0
    try:
        result = Result(folder)
    except OSError as error:
        screen.show(f"[nightcrew] no room for a result, so the agent is not started: {error.strerror}")
        screen.close()
        return NOT_STARTED
    began, clock = _moment(), _now()
    screen.show(render_safe(f"[nightcrew] {spec['name']}: {spec['argv'][0]}"))
    code, facts = _run(folder, spec, screen)
    why = "its time was up" if facts["timed_out"] else facts["error"]
    try:
        result.publish({"exit_code": code, "started_at": began, "ended_at": _moment(), **facts})
    except OSError as error:
        why = f"its result could not be written: {error.strerror}"
    ending = f"[nightcrew] ended with exit code {code} after {_now() - clock:.0f} s"
    screen.show(render_safe(f"{ending} ({why})" if why else ending))
    screen.close()
    return code


def _run(folder: str, spec: dict[str, Any], screen: Screen) -> tuple[int, dict[str, object]]:
    try:
        run = Run(folder, spec, screen)
    except (NotStartedError, OSError) as error:
        return NOT_STARTED, {"timed_out": False, "error": str(error), "stopped_by": "", "cut": False}
    _write_facts(folder, spec, run.agent.pid)
    code = run.watch()
    return code, {"timed_out": run.timed_out, "error": run.error, "stopped_by": run.stopped_by, "cut": run.is_cut}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
