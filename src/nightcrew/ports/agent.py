"""A coding CLI, as the engine sees it: what to run, and how to read what it left."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from nightcrew.core.failures import Failure
from nightcrew.core.model.report import Report, Usage
from nightcrew.core.model.run import Role
from nightcrew.ports.runtime import ShowRule


@dataclass(frozen=True, slots=True)
class AgentJob:
    """What a run needs from its CLI. `prompt` is the whole prompt; `folder` the part of the run folder (absolute) that
    is the agent's, which the CLI must be able to write; `workspace` its working directory; `report` the file it must
    write its report to (inside `folder`); `session` a UUID for its own session; `env` the resolved variables of the
    agent's settings; `repository_settings` whether the CLI may load the settings that the workspace has for it (it is
    known that they are those of the base). A reviewer and a router must not be able to change the workspace, as far as
    the CLI can keep that."""

    role: Role
    prompt: str
    folder: Path
    workspace: Path
    report: Path
    model: str
    session: str
    env: Mapping[str, str] = field(default_factory=dict)
    resume: str = ""
    repository_settings: bool = False


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """What to start. `files` are to be written into the job's folder first (name to content); `stdin` names one of them
    as the agent's standard input; `env` is added to the clean environment; `show` renders its stream for the pane."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    show: tuple[ShowRule, ...] = ()


@dataclass(frozen=True, slots=True)
class RunOutput:
    """What a run left: the raw streams, the exit code (128+n by signal), whether its deadline ended it, and the text
    of the report file (None if it was not written). Streams are bytes as the CLI wrote them. `ended_at` is when it
    ended (without it no time to try again is read from it), `zone` that of the machine it ran on; None means this
    one."""

    role: Role
    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool
    report: str | None
    error: str = ""
    ended_at: datetime | None = None
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the adapter reads it: a report in the strict shape of the role, or a failure; never both None. What is
    unclear is a failure. `session` is the CLI's own session id, for resuming; `usage_of_session` that the usage counts
    the whole session, with what came before it was resumed. `unknown` is what the CLI said of a failure that no
    pattern knows, kept for study."""

    report: Report | None
    failure: Failure | None
    usage: Usage = Usage()
    session: str = ""
    unknown: str = ""
    usage_of_session: bool = False
    spoke: bool = False
    """The model has answered something."""


class Access(StrEnum):
    """`write` and `read` are the person's own, as far as they are there. `guard` is read-only and always there. `empty`
    is a folder with nothing in it, which goes when the run ends."""

    WRITE = "write"
    READ = "read"
    GUARD = "guard"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class HomePath:
    """A file or folder, relative to the home or absolute; one that ends with `/` is a folder.

    A login has to be bound with its folder: CLIs replace the file, which a mounted one cannot be. So the folder is
    writable, and what else is in it needs a word: `guard` is for what the CLI would obey when the person runs it next
    (settings, hooks, instructions). It must be there to be read-only, else an agent could make it; so where there is
    none, one with the content `content` is put down. `empty` is for what a CLI of the person would run or take for its
    own while the agent runs. A folder to `write` is made if it is not there.
    """

    path: str
    access: Access
    content: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a CLI needs of the machine in a sandbox, besides its workspace, its part of the run folder and its program.

    `home`: of the person's home; `read`: paths to read. `hosts`: the names of the servers that it talks to, each with a
    port if that is not 443. `nested` names a sandbox that the CLI itself starts inside and that root cannot nest.
    """

    home: tuple[HomePath, ...] = ()
    read: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ()
    nested: str = ""


class Enforcement:
    """How far a CLI keeps a limit: three words used in the table that `config check` shows."""

    ENFORCED = "enforced"
    ADVICE = "advice"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Limit:
    """One row of the table: what is limited, how far the CLI keeps it, and by which means."""

    what: str
    how_far: str
    means: str


class Agent(Protocol):
    """An adapter for one CLI. Pure apart from what the engine does with its answers: it starts nothing itself."""

    @property
    def name(self) -> str:
        """The name of the agent in the settings."""
        ...

    @property
    def program(self) -> str:
        """The program that must be on PATH."""
        ...

    @property
    def settings_paths(self) -> tuple[str, ...]:
        """Files and folders of a repository that this CLI would obey (settings, hooks, servers to start), where it is
        let. A job without `repository_settings` obeys none of them."""
        ...

    def command(self, job: AgentJob) -> AgentCommand:
        """The exact non-interactive command of a job. Invalid if the job cannot be done by this CLI."""
        ...

    def needs(self, job: AgentJob) -> Needs:
        """What the CLI needs of the machine for a job, in a sandbox."""
        ...

    def read(self, output: RunOutput) -> Reading:
        """Read a finished run. Never raises for bad output: that is a failure of kind bad_output or crash."""
        ...

    @property
    def can_resume(self) -> bool:
        """Whether `command` takes a job that goes on with an earlier session."""
        ...

    def is_at_work(self, output: bytes) -> bool:
        """Whether the end of the stream says that a tool of the agent is running, so that silence means nothing. False
        where it cannot be told. Never raises; `output` may begin in the middle of a line."""
        ...

    def limits(self) -> tuple[Limit, ...]:
        """What this CLI enforces of our limits, and what is only advice."""
        ...

    def homes(self) -> tuple[str, ...]:
        """What the CLI reads and writes outside the workspace (login, logs), as words for a person."""
        ...


@runtime_checkable
class TellsLimit(Protocol):
    """What an adapter has besides, whose CLI may go on repeating that a limit is reached in the place of ending."""

    def find_limit(self, output: bytes) -> str:
        """The line about a limit that only time lifts, if the end of the stream is nothing but that line, again and
        again; else empty. Never raises; `output` may begin in the middle of a line."""
        ...


@runtime_checkable
class TellsLogin(Protocol):
    """What an adapter has besides, whose CLI a person logs in."""

    def login_command(self) -> str:
        """The command that a person runs for that."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """What an adapter has besides, whose CLI can say which models there are."""

    def models_command(self) -> AgentCommand:
        """The command that prints the names of its models, one a line. It needs no workspace and no prompt."""
        ...


@dataclass(frozen=True, slots=True)
class LoginSign:
    """How it is seen, without calling a model, whether a CLI is logged in. `command` tells it, from version `since` on;
    older ones would take it for a prompt. `files`, relative to the person's home, hold a login if they are there; that
    they are not there says nothing."""

    command: tuple[str, ...] = ()
    since: tuple[int, ...] = ()
    files: tuple[str, ...] = ()


@runtime_checkable
class ShowsLogin(TellsLogin, Protocol):
    """What an adapter has besides, whose CLI shows whether it is logged in."""

    def login_sign(self) -> LoginSign:
        """Where to look."""
        ...

    def read_login(self, exit_code: int, output: str) -> bool | None:
        """What its command answered, on both streams; None if that says neither. Never raises."""
        ...
