"""The command line as a process of its own, against the API of a fake service on a real socket."""

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightcrew.config.home import Home
from nightcrew.ports.service import Service
from nightcrew.process import Completed, clean_environment, run_process
from tests.adapters.api.serving import served

ARGV = (sys.executable, "-m", "nightcrew.cli.main")


def environment(home: Path, **extra: str) -> dict[str, str]:
    """Variables of a person with this home; and those by which coverage measures processes that tests start."""
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    person = {"NIGHTCREW_HOME": str(home), "HOME": str(home.parent), "TZ": "UTC"}
    return clean_environment(extra={**measured, **person, **extra})


@dataclass(frozen=True, slots=True)
class Shell:
    """Types commands of a person with this home."""

    home: Path

    async def run(self, *arguments: str, stdin: bytes | None = None, **extra: str) -> Completed:
        return await run_process(
            [*ARGV, *arguments], env=environment(self.home, **extra), stdin=stdin, cwd=self.home.parent, timeout_s=60
        )

    async def said(self, *arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """What a command that works prints."""
        done = await self.run(*arguments, stdin=stdin, **(env or {}))
        assert done.returncode == 0, done.complaint
        assert done.stderr == b""
        return done.text

    async def told(self, *arguments: str) -> Any:
        """The same as JSON."""
        return json.loads(await self.said(*arguments, "--json"))

    async def refused(self, *arguments: str, code: int = 1) -> str:
        """The one line that a command says which does not work."""
        done = await self.run(*arguments)
        assert done.returncode == code, done
        assert done.stdout == b""
        lines = done.stderr.decode().splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("nightcrew: ")
        return lines[0].removeprefix("nightcrew: ")


@asynccontextmanager
async def shell(service: Service, folder: Path) -> AsyncIterator[Shell]:
    """A shell of a person whose Nightcrew runs."""
    home = Home(folder / "home")
    home.ensure()
    async with served(service, home.socket):
        yield Shell(home.root)
