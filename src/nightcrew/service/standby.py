"""In the background, with a configuration that cannot be used: saying what is wrong, once, and waiting for it to be
mended. A service that ended instead would be started again by its manager every few seconds, for ever.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import structlog

from nightcrew.core.errors import ConfigError, Missing, NightcrewError
from nightcrew.core.neutral import one_line
from nightcrew.service.notify import LEAST_PAUSE_S, Notifier

T = TypeVar("T")

LOOK_EVERY_S = 2.0
"""How often the file is looked at."""
TRY_EVERY_S = 30.0
"""How often it is tried although the file has not changed: a token or a program may have come."""
WAITED_FOR = (ConfigError, Missing)
"""What only a person puts right: anything else ends the service, and its manager starts it again."""

Print = tuple[int, int, int] | None


class Standby:
    """Waits for the configuration in `file`. `notifier` is told, so that a service manager takes it for started."""

    def __init__(
        self,
        file: Path,
        notifier: Notifier,
        *,
        look_every_s: float = LOOK_EVERY_S,
        try_every_s: float = TRY_EVERY_S,
    ) -> None:
        self._file = file
        self._notifier = notifier
        self._look_every_s = look_every_s
        self._try_every_s = try_every_s
        self._said = ""
        self._seen: Print = None

    async def wait(self, attempt: Callable[[], Awaitable[T]]) -> T | None:
        """What `attempt` comes to, as soon as it does; None if a signal ends the service before. SIGHUP has it tried at
        once. After something was said, the next attempt waits for its time as well."""
        loop, asked, ended = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

        def end() -> None:
            ended.set()
            asked.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end)
        loop.add_signal_handler(signal.SIGHUP, asked.set)
        try:
            while not ended.is_set():
                if self._said:
                    await self._rest(asked)
                if ended.is_set():
                    break
                self._seen = _print(self._file)
                try:
                    return await attempt()
                except WAITED_FOR as error:
                    self.say(error)
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)
        self._notifier.tell("STOPPING=1", "STATUS=ending")
        return None

    def say(self, error: NightcrewError) -> None:
        """What keeps the service from starting; in the log only if it is news."""
        words = str(error)
        if words != self._said:
            structlog.get_logger("service").error(
                "not serving: waiting until this is put right", what=one_line(words.replace("\n", "; "), 2_000)
            )
        self._said = words
        self._notifier.tell("READY=1", f"STATUS=waits until this is put right: {one_line(words, 300)}")

    async def _rest(self, asked: asyncio.Event) -> None:
        """Waits until the file has changed, somebody asks, or it is time again. Tells that it lives meanwhile."""
        waited_s, seen = 0.0, self._seen
        pause_s = self._look_every_s
        if self._notifier.watchdog_s:
            pause_s = max(min(pause_s, self._notifier.watchdog_s / 3), LEAST_PAUSE_S)
        while waited_s < self._try_every_s and _print(self._file) == seen:
            if self._notifier.watchdog_s:
                self._notifier.tell("WATCHDOG=1")
            try:
                async with asyncio.timeout(pause_s):
                    await asked.wait()
                asked.clear()
                break
            except TimeoutError:
                waited_s += pause_s


def _print(file: Path) -> Print:
    """Changes with the file; None if it is not there."""
    try:
        seen = file.stat()
    except OSError:
        return None
    return (seen.st_mtime_ns, seen.st_size, seen.st_ino)
