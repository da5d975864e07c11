"""What the two service managers have in common, as commands see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nightcrew.core.errors import Missing, Unavailable
from nightcrew.core.neutral import one_line
from nightcrew.process import Completed, NotFound, TimedOut, clean_environment, run_process

COMMAND_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class State:
    """What the manager says. `pid` 0: it does not run now; `words` are its own, for a person."""

    is_known: bool
    pid: int = 0
    words: str = ""


class Keeper(Protocol):
    """A service manager and the one service that it keeps for a home. Every method may be called twice."""

    @property
    def file(self) -> Path:
        """Where the manager reads the service from."""
        ...

    def render(self) -> str:
        """What that file has to hold."""
        ...

    def is_stale(self, text: str) -> bool:
        """Whether what stands in the file names a program that is not there any more."""
        ...

    def find_path(self, text: str) -> str:
        """The PATH that the file gives to the service; empty if it gives none."""
        ...

    async def load_state(self) -> State:
        """How it is now. Unavailable if the manager cannot be asked."""
        ...

    async def adopt(self, *, is_changed: bool) -> None:
        """Have the manager know the file and keep the service running, also after the next login."""
        ...

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """End it in an orderly way. Sessions of agents go on."""
        ...

    async def restart(self) -> None: ...

    async def forget(self) -> None:
        """Stop it, and have the manager no longer know it. The file is removed by the caller, before `settle`."""
        ...

    async def settle(self) -> None:
        """What has to be done once the file is gone."""
        ...

    async def hints(self) -> tuple[str, ...]:
        """What a person should do besides."""
        ...

    def log_argv(self, *, lines: int, follow: bool) -> tuple[str, ...]:
        """The command that shows what the service printed."""
        ...


class Manager:
    """The program that commands a service manager, with the variables that it needs."""

    def __init__(self, program: str, environ: Mapping[str, str], *, allow: tuple[str, ...] = ()) -> None:
        self._program = program
        self._env = clean_environment(extra={name: environ[name] for name in ("PATH", *allow) if name in environ})

    async def ask(self, *words: str) -> Completed:
        """What it answers, whether it agrees or not. Missing if there is no such program."""
        try:
            return await run_process([self._program, *words], env=self._env, timeout_s=COMMAND_TIMEOUT_S)
        except NotFound as error:
            raise Missing(f"{self._program} cannot be found: run `nightcrew serve` by other means") from error
        except TimedOut as error:
            raise Unavailable(f"{self._program} {words[0]} did not end within {COMMAND_TIMEOUT_S:g} s") from error

    async def tell(self, *words: str, hint: str = "") -> Completed:
        """The same; Unavailable, with its own words, if it does not agree."""
        done = await self.ask(*words)
        if not done.ok:
            said = one_line(done.complaint, 300) or f"exit code {done.returncode}"
            raise Unavailable(f"{self._program} {' '.join(words)}: {said}" + (f" ({hint})" if hint else ""))
        return done
