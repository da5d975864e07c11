"""`nightcrew forge serve`: a home's local forge by itself, on loopback, for whoever wants to talk to it over HTTP."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import NoReturn

from nightcrew.core.errors import NightcrewError
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve
from nightcrew.service.clock import SystemClock
from nightcrew.service.compose import home_of
from nightcrew.service.local import OWNER, owner_token


def run_forge(home: Path, *, port: int = 0, faults: bool = False) -> int:
    """Serve until SIGINT or SIGTERM. The first line printed is the address; then where the token is."""
    place = home_of(home)
    return asyncio.run(_run(place.forge, port, faults))


async def _run(folder: Path, port: int, faults: bool) -> int:
    forge = LocalForge(folder, clock=SystemClock().now)
    try:
        forge.ensure_user(OWNER, token=owner_token(folder))

        def tell(url: str) -> None:
            sys.stdout.write(f"{url}\nthe token of {OWNER!r} is in {folder / 'token'}\n")
            sys.stdout.flush()

        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve(forge, port=port, faults=faults, on_ready=tell))
            waiting = group.create_task(stop.wait())
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            waiting.cancel()
    except ExceptionGroup as failed:
        _unpack(failed)
    finally:
        forge.close()
    return 0


def _unpack(failed: ExceptionGroup) -> NoReturn:
    """Raise what a person can read (a taken port), if that is all that went wrong."""
    match failed.exceptions:
        case (NightcrewError() as error,):
            raise error from None
        case _:
            raise failed
