"""A unit of systemd's user manager. It says when it is ready and that it lives (`service/notify.py`).

Quoting and specifiers: systemd.syntax(7), systemd.unit(5) "Specifiers", systemd.service(5) "Command lines".
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from nightcrew.core.neutral import one_line
from nightcrew.service.background.keeper import Manager, State
from nightcrew.service.background.plan import Plan

WATCHDOG_S = 60
_NEEDED = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XDG_CONFIG_HOME", "USER", "HOME")
_NO_BUS = "there is no user manager here: log in as this user, or `sudo loginctl enable-linger USER`, and try again"

_UNIT = """\
# Written by `nightcrew service install`, which is to be run again when Nightcrew has moved or the PATH has changed.
# A wrong configuration ends nothing: the service waits for it to be mended, and says so as its status.
# KillMode, OOMPolicy: agents are in this unit, outlive the service, and do not take it along.
# Restart: a crash is followed by a new start, an orderly end is not.
[Unit]
Description=Nightcrew
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStart=:{argv}
ExecReload=/bin/kill -HUP $MAINPID
Environment={path} {language}
Restart=on-failure
RestartSec=10
WatchdogSec={watchdog}
WatchdogSignal=SIGKILL
TimeoutStartSec=180
TimeoutStopSec=20
KillMode=process
OOMPolicy=continue

[Install]
WantedBy=default.target
"""
# The colon before the command: variables in it stay as they are.

_SEARCH = re.compile(r'^Environment="PATH=((?:[^"\\]|\\.)*)"', re.MULTILINE)
_PROGRAM = re.compile(r'^ExecStart=:"((?:[^"\\]|\\.)*)"', re.MULTILINE)


class UserUnit:
    """Implements `Keeper`."""

    def __init__(self, plan: Plan, environ: Mapping[str, str], *, user: str) -> None:
        self._plan = plan
        self._user = user
        config = Path(environ.get("XDG_CONFIG_HOME", ""))
        # The XDG specification has a relative one passed over.
        self._config = config if config.is_absolute() else plan.person / ".config"
        self._manager = Manager("systemctl", environ, allow=_NEEDED)
        self._logins = Manager("loginctl", environ, allow=_NEEDED)

    @property
    def unit(self) -> str:
        return f"{self._plan.name}.service"

    @property
    def file(self) -> Path:
        return self._config / "systemd" / "user" / self.unit

    def render(self) -> str:
        return _UNIT.format(
            argv=" ".join(quote(word) for word in self._plan.argv),
            path=quote(f"PATH={self._plan.path}"),
            language=quote(f"LANG={self._plan.language}"),
            watchdog=WATCHDOG_S,
        )

    def is_stale(self, text: str) -> bool:
        found = _PROGRAM.search(text)
        return found is None or not os.access(unquote(found[1]), os.X_OK)

    def find_path(self, text: str) -> str:
        found = _SEARCH.search(text)
        return unquote(found[1]) if found else ""

    async def load_state(self) -> State:
        wanted = "LoadState,ActiveState,SubState,MainPID,NRestarts,StatusText"
        done = await self._tell("show", self.unit, f"--property={wanted}")
        said = dict(line.split("=", 1) for line in done.splitlines() if "=" in line)
        if said.get("LoadState", "not-found") == "not-found":
            return State(is_known=False)
        words = f"{said.get('ActiveState', 'unknown')} ({said.get('SubState', 'unknown')})"
        if (again := said.get("NRestarts", "0")) not in ("", "0"):
            words += f", started again {again} times"
        if (status := said.get("StatusText", "")) not in ("", "at work"):
            words += f", {one_line(status, 300)}"
        pid = said.get("MainPID", "0")
        return State(is_known=True, pid=int(pid) if pid.isdigit() else 0, words=words)

    async def adopt(self, *, is_changed: bool) -> None:
        await self._tell("daemon-reload")
        await self._tell("enable", self.unit)
        await self._tell("restart" if is_changed else "start", self.unit)

    async def start(self) -> None:
        await self._tell("start", self.unit)

    async def stop(self) -> None:
        await self._tell("stop", self.unit)

    async def restart(self) -> None:
        await self._tell("restart", self.unit)

    async def forget(self) -> None:
        if (await self.load_state()).is_known:
            await self._tell("disable", "--now", self.unit)

    async def settle(self) -> None:
        await self._tell("daemon-reload")

    async def hints(self) -> tuple[str, ...]:
        done = await self._logins.ask("show-user", self._user, "--property=Linger")
        if done.ok and done.text.strip() == "Linger=yes":
            return ()
        return (f"so that it also runs while you are logged out: loginctl enable-linger {self._user}",)

    def log_argv(self, *, lines: int, follow: bool) -> tuple[str, ...]:
        return ("journalctl", "--user", f"--unit={self.unit}", f"--lines={lines}", *(["--follow"] if follow else []))

    async def _tell(self, *words: str) -> str:
        return (
            await self._manager.tell("--user", *words, hint=_NO_BUS if words[0] in ("show", "daemon-reload") else "")
        ).text


def unquote(word: str) -> str:
    """What `quote` was given, without its quotes."""
    return re.sub(r"\\(.)", r"\1", word.replace("%%", "%"))


def quote(word: str) -> str:
    """One word of a setting: in quotes, with backslash, quote and the specifiers' percent sign taken literally."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'
