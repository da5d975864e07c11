"""Serving the listener over HTTP. Apart from it, so that who does not listen need not load a server."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from nightcrew.forges.github.webhook.listener import Listener

CONNECTIONS = 64
_GRACE_S = 1


async def serve_listener(listener: Listener, bound: socket.socket) -> None:
    """Serve until cancelled, then close the socket."""
    server = _Server(
        uvicorn.Config(
            listener,
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
            serving = group.create_task(server.serve(sockets=[bound]), name="webhook")
            try:
                await asyncio.shield(serving)
            except asyncio.CancelledError:
                # Uvicorn, when cancelled itself, would leave its port open.
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
