"""A person's home folder with stateful stand-ins for launchctl, systemctl and loginctl first on the PATH."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightcrew.config.home import Home
from nightcrew.service.background.control import find_keeper
from nightcrew.service.background.keeper import Keeper
from nightcrew.service.background.plan import Plan, draw_plan
from tests.fakes.program import install_program


@dataclass(frozen=True)
class Person:
    folder: Path

    @property
    def home(self) -> Home:
        return Home(self.folder / ".nightcrew")

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "SHELL": "", "USER": "sam"}

    async def plan(self, home: Home | None = None, **variables: str) -> Plan:
        return await draw_plan(home or self.home, {**self.environ, **variables}, programs=())

    async def keeper(self, system: str, home: Home | None = None, **variables: str) -> Keeper:
        return find_keeper(await self.plan(home, **variables), self.environ, system=system)

    def memory(self, system: str) -> Any:
        name = "launchd.json" if system == "Darwin" else "systemd.json"
        return json.loads((self.state / name).read_text(encoding="utf-8"))

    def running(self, system: str) -> list[int]:
        """The pids that the manager runs."""
        memory = self.memory(system)
        if system == "Darwin":
            return [one["pid"] for one in memory["loaded"].values() if one["pid"]]
        return list(memory["running"].values())

    def calls(self) -> list[str]:
        log = self.state / "calls.log"
        return log.read_text(encoding="utf-8").splitlines() if log.is_file() else []


def move_in(folder: Path) -> Person:
    for name in ("launchctl", "systemctl", "loginctl"):
        install_program(name, folder=folder / "bin", state=folder / "state")
    return Person(folder)
