"""Sessions in memory. A test ends them: with a result, without one, or all at once as when the server dies."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nightcrew.core.errors import Invalid, Unavailable
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.run import Probe
from nightcrew.ports.runtime import Progress, SessionResult, Sessions, SessionSpec

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class FakeSession:
    """A session that was started, and since when."""

    spec: SessionSpec
    probe: Probe
    started_at: datetime


class FakeRuntime:
    """The runtime port. `started` holds every spec whose agent was really started, in order; while `unreachable` is
    set, nothing can be seen or done, for that reason. Output goes to `stdout.log` in the run folder, as with the real
    runtime, since agents read it there; results stay in memory."""

    def __init__(self, *, now: Callable[[], datetime] = lambda: _EPOCH) -> None:
        self.started: list[SessionSpec] = []
        self.stopped: list[str] = []
        self.sessions: dict[str, FakeSession] = {}
        self.unreachable = ""
        self._results: dict[Path, SessionResult] = {}
        self._printed_at: dict[Path, datetime] = {}
        self._now = now

    async def start_session(self, spec: SessionSpec) -> None:
        _check_name(spec.name)
        if not spec.argv:
            raise Invalid(f"session {spec.name}: its command is empty")
        self._check_reachable()
        session = self.sessions.get(spec.name)
        if spec.folder in self._results or (session is not None and session.probe is Probe.ALIVE):
            return
        self.started.append(spec)
        self.sessions[spec.name] = FakeSession(spec, Probe.ALIVE, self._now())

    async def list_sessions(self) -> Observed[Sessions]:
        if self.unreachable:
            return Unknown(self.unreachable)
        return Known(Sessions({name: session.probe for name, session in self.sessions.items()}))

    async def stop_session(self, name: str) -> None:
        _check_name(name)
        self._check_reachable()
        self.stopped.append(name)
        if name in self.sessions and self.sessions[name].probe is Probe.ALIVE:
            self.end(name, exit_code=143, error="stopped by SIGTERM")
        self.sessions.pop(name, None)

    def look(self, folder: Path) -> Progress:
        log = folder / "stdout.log"
        size = log.stat().st_size if log.exists() else 0
        return Progress(folder in self._results, size, self._printed_at.get(folder))

    def load_result(self, folder: Path) -> SessionResult | None:
        return self._results.get(folder)

    def attach_argv(self, name: str) -> Sequence[str]:
        _check_name(name)
        return ("true", name)

    def write(self, name: str, output: bytes) -> None:
        """The agent prints something."""
        folder = self.sessions[name].spec.folder
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "stdout.log").open("ab") as log:
            log.write(output)
        self._printed_at[folder] = self._now()

    def end(
        self, name: str, *, exit_code: int = 0, output: bytes = b"", timed_out: bool = False, error: str = ""
    ) -> None:
        """The agent prints `output` and ends; its session stays as a dead one."""
        session = self.sessions[name]
        if output:
            self.write(name, output)
        self._results[session.spec.folder] = SessionResult(exit_code, timed_out, session.started_at, self._now(), error)
        session.probe = Probe.DEAD

    def die(self, name: str) -> None:
        """The session dies without a result, as when its shim is killed."""
        self.sessions[name].probe = Probe.DEAD

    def lose_all(self) -> None:
        """The server is gone and all sessions with it; no result is written."""
        self.sessions.clear()

    def _check_reachable(self) -> None:
        if self.unreachable:
            raise Unavailable(self.unreachable)


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,200}", name):
        raise Invalid(f"{name!r} is not a name for a session")
