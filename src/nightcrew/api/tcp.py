"""An app on a TCP port of this machine, served until cancelled."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from nightcrew.core.errors import Unavailable

CONNECTIONS = 32
_GRACE_S = 1


def bind_loopback(host: str, port: int) -> socket.socket:
    """A listening socket; the caller has seen to it that the address is one of this machine alone. Raises Unavailable
    if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1" if host == "localhost" else host, port))
        bound.listen()
        bound.setblocking(False)
    except OSError as error:
        bound.close()
        raise Unavailable(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return bound


async def serve_tcp(app: FastAPI, bound: socket.socket) -> None:
    """Serve until cancelled, then close the socket."""
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=_GRACE_S,
        )
    )
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[bound]), name="tcp")
            try:
                await asyncio.shield(serving)
            except asyncio.CancelledError:
                # uvicorn, when cancelled itself, would leave its port open.
                server.should_exit = True
                await serving
                raise
    finally:
        bound.close()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: ending is the service's affair."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
