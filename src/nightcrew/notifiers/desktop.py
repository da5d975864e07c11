"""This machine's desktop: notify-send where there is one, osascript on macOS. Words are arguments, never script."""

import shutil
from collections.abc import Mapping, Sequence

from nightcrew.core.chat.message import Message
from nightcrew.core.cut import cut
from nightcrew.core.errors import PortError, Unavailable
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.process import clean_environment, run_process

_TIMEOUT_S = 10.0
_MOST = 400
_LEVELS = {Priority.URGENT: "critical", Priority.INFO: "low"}
_SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
_SEATS = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
"""Where a desktop can be reached, on Linux."""


class DesktopNotifier:
    """Implements `ports.notifier.Notifier` with one of the two programs."""

    def __init__(self, program: str, *, environ: Mapping[str, str]) -> None:
        self._program = program
        self._env = {**clean_environment(), **{name: environ[name] for name in _SEATS if name in environ}}

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:
        title, _, text = message.text.partition("\n")
        argv = self._argv(cut(title, 120), cut(text or title, _MOST), notices)
        try:
            ended = await run_process(argv, env=self._env, timeout_s=_TIMEOUT_S)
        except PortError as error:
            raise Unavailable(f"the desktop cannot be told: {error}") from error
        if ended.returncode != 0:
            raise Unavailable(f"the desktop cannot be told: {self._program} ended with {ended.returncode}")

    def _argv(self, title: str, text: str, notices: Sequence[Notice]) -> list[str]:
        if self._program.endswith("osascript"):
            script = [part for line in _SCRIPT for part in ("-e", line)]
            return [self._program, *script, "--", title, text]
        level = next((_LEVELS[one.priority] for one in notices if one.priority in _LEVELS), "normal")
        return [self._program, "--app-name=Nightcrew", f"--urgency={level}", "--", title, escape_body(text)]


def escape_body(text: str) -> str:
    """The body may hold markup (Desktop Notifications Specification, "Markup"); ours never does."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def find_desktop(environ: Mapping[str, str], *, is_macos: bool) -> str | None:
    """The program that reaches this desktop, None if there is no desktop or no program."""
    if is_macos:
        return shutil.which("osascript")
    return shutil.which("notify-send", path=environ.get("PATH")) if any(environ.get(name) for name in _SEATS) else None
