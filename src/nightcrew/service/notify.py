"""Telling systemd how the service is, over the socket that it names: sd_notify(3). Elsewhere nobody is told."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping

import structlog

from nightcrew.core.errors import NightcrewError
from nightcrew.engine.beat import Beat

LEAST_PAUSE_S, USUAL_PAUSE_S = 0.01, 20.0


class Notifier:
    """Sends one-line states. That nobody listens is no error: the service does not depend on it."""

    def __init__(self, environ: Mapping[str, str], *, pid: int) -> None:
        self._address = environ.get("NOTIFY_SOCKET", "")
        wanted = environ.get("WATCHDOG_USEC", "") if environ.get("WATCHDOG_PID", str(pid)) == str(pid) else ""
        self.watchdog_s = int(wanted) / 1e6 if wanted.isascii() and wanted.isdecimal() else 0.0
        """How long the other side waits for a sign of life; 0: it does not."""

    @property
    def is_heard(self) -> bool:
        return self._address[:1] in ("/", "@") and len(self._address) > 1

    def tell(self, *states: str) -> None:
        if not self.is_heard:
            return
        # A leading @ stands for the zero byte of an abstract address.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto("\n".join(states).encode(), address)
        except OSError as error:
            structlog.get_logger("service").warning("the service manager does not listen", error=str(error))


class Signs:
    """The signs of life of a running service: ready, alive as long as the loop comes back when it said, reloading."""

    def __init__(self, notifier: Notifier, beat: Beat, *, monotonic: Callable[[], float]) -> None:
        self._notifier = notifier
        self._beat = beat
        self._monotonic = monotonic
        self._reload = asyncio.Event()

    def ask_reload(self) -> None:
        """Somebody asked for the configuration to be read."""
        self._reload.set()

    async def run(self, reload: Callable[[], Awaitable[object]]) -> None:
        """Tell, until cancelled. `reload` reads the configuration when it was asked for."""
        self._notifier.tell("READY=1", "STATUS=at work")
        # A third of what is waited for, so that one sign may be late.
        pause_s = max(self._notifier.watchdog_s / 3, LEAST_PAUSE_S) if self._notifier.watchdog_s else USUAL_PAUSE_S
        while True:
            self._sign()
            try:
                async with asyncio.timeout(pause_s):
                    await self._reload.wait()
            except TimeoutError:
                continue
            self._reload.clear()
            await self._reloaded(reload)

    def end(self) -> None:
        self._notifier.tell("STOPPING=1", "STATUS=ending")

    def _sign(self) -> None:
        overdue_s = self._beat.overdue_s
        if overdue_s > 0:
            self._notifier.tell(f"STATUS=the loop is {overdue_s:.0f} s late")
        elif self._notifier.watchdog_s:
            self._notifier.tell("WATCHDOG=1")

    async def _reloaded(self, reload: Callable[[], Awaitable[object]]) -> None:
        self._notifier.tell("RELOADING=1", f"MONOTONIC_USEC={int(self._monotonic() * 1e6)}")
        try:
            await reload()
        except NightcrewError as error:
            # What is wrong with it is an event already; the last good one stays in force.
            structlog.get_logger("service").warning("not reloaded", error=str(error))
        finally:
            self._notifier.tell("READY=1", "STATUS=at work")
