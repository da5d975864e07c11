"""Keeping the machine awake while agents are at work: a program of the operating system holds it for as long as it
runs, and it ends with the service, however that ends."""

import asyncio
import os
import platform
from collections.abc import Callable, Sequence

import structlog

from nightcrew.core.errors import PortError
from nightcrew.process import NotFound, run_process

LOOK_EVERY_S = 1.0
HOLD_S = 366 * 86_400.0
AGAIN_AFTER_S = 600.0
"""How long after a program that does not hold is tried again."""


def find_command(system: str, pid: int) -> tuple[str, ...]:
    """The program that keeps this kind of machine awake until the process with this pid ends; empty if none is known.

    caffeinate(8): -i against idle sleep, -s against system sleep on a charger, -w until that process exits.
    systemd-inhibit(1) holds while its command runs; tail(1) with --pid ends with that process.
    """
    if system == "Darwin":
        return ("caffeinate", "-i", "-s", "-w", str(pid))
    if system == "Linux":
        inhibit = (
            "systemd-inhibit",
            "--what=sleep:idle",
            "--mode=block",
            "--who=Nightcrew",
            "--why=agents are at work",
        )
        return (*inhibit, "tail", f"--pid={pid}", "-f", "/dev/null")
    return ()


class Wakeful:
    """Holds the machine while `is_wanted` says so."""

    def __init__(self, is_wanted: Callable[[], bool], *, argv: Sequence[str] | None = None) -> None:
        self._is_wanted = is_wanted
        self._argv = tuple(find_command(platform.system(), os.getpid()) if argv is None else argv)
        self._complaint = ""
        self.is_held = False

    async def run(self, *, every_s: float = LOOK_EVERY_S, again_after_s: float = AGAIN_AFTER_S) -> None:
        """For ever; at once over where no program is known or it is not installed."""
        while self._argv:
            await self._until(True, every_s)
            await self._hold(every_s)
            if self._complaint and self._argv:
                await asyncio.sleep(again_after_s)

    async def _hold(self, every_s: float) -> None:
        async with asyncio.TaskGroup() as group:
            holding = group.create_task(self._keep(), name="awake")
            until = group.create_task(self._until(False, every_s), name="until")
            await asyncio.wait({holding, until}, return_when=asyncio.FIRST_COMPLETED)
            for task in (holding, until):
                task.cancel()

    async def _keep(self) -> None:
        """Runs as long as the program does, which is as long as the machine is held."""
        log = structlog.get_logger("service")
        self.is_held = True
        try:
            done = await run_process(self._argv, timeout_s=HOLD_S)
            complaint = done.complaint or f"exit code {done.returncode}"
        except NotFound as error:
            complaint, self._argv = str(error), ()
        except PortError as error:
            complaint = str(error)
        except asyncio.CancelledError:
            self._complaint = ""
            raise
        finally:
            self.is_held = False
        if complaint != self._complaint:
            log.info("the machine is not kept awake", why=complaint)
        self._complaint = complaint

    async def _until(self, is_wanted: bool, every_s: float) -> None:
        while self._is_wanted() is not is_wanted:  # noqa: ASYNC110 - what is in force is replaced as a value
            await asyncio.sleep(every_s)
