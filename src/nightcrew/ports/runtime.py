"""Where runs live: sessions that outlive the service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from nightcrew.core.known import Observed
from nightcrew.core.model.run import Probe

SHOW_FILE = "show.json"
"""How a run's output is made readable, in its folder, for those who look at it later."""


@dataclass(frozen=True, slots=True)
class ShowRule:
    """One rule of a readable rendering: for a JSON line in which every dotted `match` path has the given value, show
    the text at dotted path `show` (`a.b[].c` walks lists) behind `prefix`. Rules are tried in order, the first wins;
    `show` empty hides the line."""

    match: Mapping[str, str | bool]
    show: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """A session to start. `env` is the whole environment of the agent; `stdin` a file whose content it reads (or
    none); `folder` the run folder, where output and result are written; `deadline_s` the hard limit that the session
    itself keeps. `show` renders a JSON stream for the pane; without rules the raw lines are shown."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    folder: Path
    deadline_s: float
    stdin: Path | None = None
    show: tuple[ShowRule, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionResult:
    """What the session wrote when its agent ended. `exit_code` is 128+n after death by signal n; `timed_out` that its
    own deadline ended it; `error` is set when the agent could not be started or its output not be kept."""

    exit_code: int
    timed_out: bool
    started_at: datetime
    ended_at: datetime
    error: str = ""


@dataclass(frozen=True, slots=True)
class Sessions:
    """All sessions of this installation, by name."""

    by_name: Mapping[str, Probe] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """What one look at a run folder shows: whether the result is there, the size of the output, and when anything was
    last printed (None: nothing yet)."""

    has_result: bool
    output_bytes: int
    output_at: datetime | None = None


class Runtime(Protocol):
    """Sessions. Names are made of `[A-Za-z0-9_-]` and matched exactly. Errors: Unavailable, Invalid."""

    async def start_session(self, spec: SessionSpec) -> None:
        """Have the session running. Idempotent: if one of that name lives, or its result is already written, nothing
        is started. Returns once the session is there."""
        ...

    async def list_sessions(self) -> Observed[Sessions]:
        """Every session, with one command however many there are. No server is Known(empty); failure is Unknown.
        A session whose agent has ended, or whose pane is dead, is DEAD."""
        ...

    async def stop_session(self, name: str) -> None:
        """End the agent and everything it started, and the session. Idempotent. Gone when it returns."""
        ...

    def look(self, folder: Path) -> Progress:
        """One look at a run folder (a stat or three). Never raises for a missing folder."""
        ...

    def load_result(self, folder: Path) -> SessionResult | None:
        """The result, if it is written; Invalid if the file cannot be read as one."""
        ...

    def attach_argv(self, name: str) -> Sequence[str]:
        """The command that attaches a terminal to the session."""
        ...
