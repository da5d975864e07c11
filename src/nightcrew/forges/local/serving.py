"""Serving a forge on loopback until cancelled. Printing and signals are the caller's."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn

from nightcrew.core.errors import ConfigError, Problem
from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.forge import LocalForge
from nightcrew.serving.asgi import make_config

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_STOP_S = 5


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handling: whoever runs this decides when it ends."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    forge: LocalForge,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    faults: bool = False,
    on_ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until cancelled, then close the port. `on_ready` gets the base URL once requests are taken.

    Port 0 picks a free one. ConfigError when `host` is not loopback or the port is taken.
    """
    if host not in LOOPBACK:
        raise ConfigError([Problem("forge.host", f"{host!r} is not a loopback address", "use 127.0.0.1")])
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    app = create_app(forge, faults=faults, allowed_hosts=["127.0.0.1", "localhost", "[::1]"])
    server = _Server(make_config(app, grace_s=_STOP_S))
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[listening]))
            group.create_task(_tell(server, serving, f"http://{shown}:{listening.getsockname()[1]}", on_ready))
            try:
                await asyncio.shield(serving)
            except asyncio.CancelledError:
                # Uvicorn, when cancelled itself, would leave its port open.
                server.should_exit = True
                await serving
                raise
    finally:
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named TCP, so that asyncio sends each answer at once instead of waiting for more.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        what = f"cannot listen on {host}:{port}: {error.strerror}"
        raise ConfigError([Problem("forge.port", what, "choose another port, or 0")]) from error
    return listening


async def _tell(server: uvicorn.Server, serving: asyncio.Task[None], url: str, on_ready: Callable[[str], None]) -> None:
    while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn offers a flag, no event
        await asyncio.sleep(0.01)
    if server.started:
        on_ready(url)
