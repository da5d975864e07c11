"""A launchd agent. Its file is the template in `launchd/`, filled in as data, so that nothing can break out of it.

Keys: launchd.plist(5). Commands: launchctl(1), `bootstrap`, `bootout`, `enable`, `kickstart` and `print` on the domain
`gui/<uid>`. Written after the manual pages, and not run on a Mac.
"""

import asyncio
import os
import plistlib
import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from nightcrew.core.errors import Unavailable
from nightcrew.service.background.keeper import Manager, State
from nightcrew.service.background.plan import Plan

TEMPLATE = "dev.nightcrew.service.plist"
LOG = "launchd.log"
GONE_WITHIN_S = 30.0
LOOK_EVERY_S = 0.2
_PID = re.compile(r"^\s*pid = (\d+)$", re.MULTILINE)
_STATE = re.compile(r"^\s*state = (.+)$", re.MULTILINE)
_EXIT = re.compile(r"^\s*last exit code = (.+)$", re.MULTILINE)


class LaunchAgent:
    """Implements `Keeper`."""

    def __init__(self, plan: Plan, environ: Mapping[str, str], *, uid: int) -> None:
        self._plan = plan
        self._domain = f"gui/{uid}"
        self._manager = Manager("launchctl", environ)

    @property
    def label(self) -> str:
        return "dev.nightcrew.service" + self._plan.name.removeprefix("nightcrew").replace("-", ".")

    @property
    def file(self) -> Path:
        return self._plan.person / "Library" / "LaunchAgents" / f"{self.label}.plist"

    @property
    def _target(self) -> str:
        return f"{self._domain}/{self.label}"

    @property
    def _log(self) -> Path:
        return self._plan.home.logs / LOG

    def render(self) -> str:
        words = {
            "{label}": self.label,
            "{home}": str(self._plan.home.root),
            "{path}": self._plan.path,
            "{language}": self._plan.language,
            "{log}": str(self._log),
        }
        template = plistlib.loads(find_template().read_bytes())
        filled = _fill(template, words, argv=self._plan.argv)
        return plistlib.dumps(filled, sort_keys=False).decode()

    def is_stale(self, text: str) -> bool:
        try:
            argv = plistlib.loads(text.encode()).get("ProgramArguments")
        except (plistlib.InvalidFileException, ExpatError, AttributeError):
            return True
        return not argv or not os.access(argv[0], os.X_OK)

    def find_path(self, text: str) -> str:
        try:
            found = plistlib.loads(text.encode())["EnvironmentVariables"]["PATH"]
        except (plistlib.InvalidFileException, ExpatError, KeyError, TypeError):
            return ""
        return found if isinstance(found, str) else ""

    async def load_state(self) -> State:
        done = await self._manager.ask("print", self._target)
        if not done.ok:
            return State(is_known=False)
        pid, state, last = _PID.search(done.text), _STATE.search(done.text), _EXIT.search(done.text)
        words = [state[1] if state else "loaded", *([f"last exit code {last[1]}"] if last and not pid else [])]
        return State(is_known=True, pid=int(pid[1]) if pid else 0, words=", ".join(words))

    async def adopt(self, *, is_changed: bool) -> None:
        if is_changed:
            await self.stop()
        await self._manager.tell("enable", self._target)
        await self.start()

    async def start(self) -> None:
        if (await self.load_state()).is_known:
            await self._manager.tell("kickstart", self._target)
            return
        hint = "log in on the Mac itself: an agent belongs to a session with a screen"
        await self._manager.tell("bootstrap", self._domain, str(self.file), hint=hint)

    async def stop(self) -> None:
        """Unloaded: what is only stopped would be started again. At the next login it is loaded again."""
        if not (await self.load_state()).is_known:
            return
        await self._manager.ask("bootout", self._target)  # it may say that it has only begun; what counts is seen
        try:
            async with asyncio.timeout(GONE_WITHIN_S):
                while (await self.load_state()).is_known:  # noqa: ASYNC110 - launchd tells nobody when it is done
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            raise Unavailable(f"launchd still has {self.label} after {GONE_WITHIN_S:g} s") from None

    async def restart(self) -> None:
        if (await self.load_state()).is_known:
            await self._manager.tell("kickstart", "-k", self._target)
        else:
            await self.start()

    async def forget(self) -> None:
        await self.stop()

    async def settle(self) -> None:
        return

    async def hints(self) -> tuple[str, ...]:
        return ("a closed lid puts a Mac to sleep, whatever runs; on a charger with an external screen it stays awake",)

    def log_argv(self, *, lines: int, follow: bool) -> tuple[str, ...]:
        return ("tail", "-n", str(lines), *(["-F"] if follow else []), str(self._log))


def find_template() -> Traversable:
    """In the installed package, else at the top of the checkout that this runs from."""
    inside = resources.files("nightcrew").joinpath("launchd").joinpath(TEMPLATE)
    return inside if inside.is_file() else Path(__file__).resolve().parents[4] / "launchd" / TEMPLATE


def _fill(value: Any, words: Mapping[str, str], *, argv: tuple[str, ...]) -> Any:
    """The template with its words replaced; the item `{argv}` of a list stands for all words of the command."""
    if isinstance(value, dict):
        return {key: _fill(inner, words, argv=argv) for key, inner in value.items()}
    if isinstance(value, list):
        return list(argv) if value == ["{argv}"] else [_fill(inner, words, argv=argv) for inner in value]
    return words.get(value, value) if isinstance(value, str) else value
